# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import datetime, timedelta

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.unit.webhooks.builders import NOW
from trellis.webhooks.rotation import (
    POLICY,
    AuthorityRecord,
    LeafRecord,
    Ledger,
    MakeAuthority,
    Policy,
    Publish,
    Record,
    Rest,
    SignLeaf,
    Situation,
    Step,
    next_step,
)

HOSTS = ("webhooks.trellis.svc",)
DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
STEPS_AT_MOST = 10


def an_authority(
    name: str, *, age: timedelta, published: timedelta | None = None
) -> AuthorityRecord:
    """Made that long ago, and seen in every bundle since that long ago."""
    issued = NOW - age
    return AuthorityRecord(
        id=name,
        issued_at=issued,
        expires_at=issued + POLICY.authority_life,
        published_at=None if published is None else NOW - published,
    )


def a_leaf(
    authority: str,
    *,
    age: timedelta,
    life: timedelta = POLICY.leaf_life,
    hosts: tuple[str, ...] = HOSTS,
) -> LeafRecord:
    issued = NOW - age
    return LeafRecord(authority=authority, hosts=hosts, issued_at=issued, expires_at=issued + life)


def decided(ledger: Ledger, *bundles: set[str]) -> Step:
    shown = tuple(frozenset(bundle) for bundle in bundles)
    situation = Situation(ledger=ledger, bundles=shown, hosts=HOSTS, now=NOW)
    return next_step(situation, POLICY)


OLD = an_authority("old", age=100 * DAY, published=100 * DAY)
AGED = an_authority("old", age=244 * DAY, published=244 * DAY)
YOUNG = an_authority("new", age=MINUTE)
SEEN = an_authority("new", age=9 * MINUTE, published=9 * MINUTE)
SETTLED = an_authority("new", age=11 * MINUTE, published=11 * MINUTE)
FRESH = a_leaf("old", age=DAY)
DUE = a_leaf("old", age=61 * DAY)


@pytest.mark.parametrize(
    ("ledger", "bundles", "step"),
    [
        pytest.param(
            Ledger(),
            [set()],
            MakeAuthority(NOW + POLICY.authority_life),
            id="from nothing, an authority is made",
        ),
        pytest.param(
            Ledger(authorities=(YOUNG,)),
            [set(), {"stranger"}],
            Publish(frozenset({"new"})),
            id="and published everywhere, in place of what was there",
        ),
        pytest.param(
            Ledger(authorities=(YOUNG,)),
            [{"new"}, {"new"}],
            Record(Ledger(authorities=(an_authority("new", age=MINUTE, published=0 * DAY),))),
            id="it counts as published once it was seen everywhere",
        ),
        pytest.param(
            Ledger(authorities=(an_authority("new", age=MINUTE, published=0 * DAY),)),
            [{"new"}],
            SignLeaf("new", NOW + POLICY.leaf_life),
            id="the first leaf does not wait for the overlap",
        ),
        pytest.param(
            Ledger(authorities=(YOUNG,)),
            [],
            Rest(YOUNG.issued_at + POLICY.authority_life * POLICY.renew_after),
            id="without a configuration there is nothing to wait for but the years",
        ),
        pytest.param(
            Ledger(authorities=(OLD,), leaves=(FRESH,)),
            [{"old"}],
            Rest(FRESH.issued_at + 60 * DAY),
            id="a settled world rests until its leaf is due",
        ),
        pytest.param(
            Ledger(authorities=(OLD,), leaves=(FRESH,)),
            [{"old"}, set()],
            Publish(frozenset({"old"})),
            id="a bundle that somebody emptied is filled again",
        ),
        pytest.param(
            Ledger(authorities=(OLD,), leaves=(DUE,)),
            [{"old"}],
            SignLeaf("old", NOW + POLICY.leaf_life),
            id="a leaf is renewed after two thirds of its life",
        ),
        pytest.param(
            Ledger(authorities=(OLD,), leaves=(a_leaf("old", age=DAY, hosts=("other",)),)),
            [{"old"}],
            SignLeaf("old", NOW + POLICY.leaf_life),
            id="or when the server has another name",
        ),
        pytest.param(
            Ledger(authorities=(AGED,), leaves=(FRESH,)),
            [{"old"}],
            MakeAuthority(NOW + POLICY.authority_life),
            id="an authority gets a successor after two thirds of its life",
        ),
        pytest.param(
            Ledger(authorities=(AGED, SEEN), leaves=(DUE,)),
            [{"old", "new"}],
            SignLeaf("old", NOW + POLICY.leaf_life),
            id="the old authority signs until the new one has been published for the overlap",
        ),
        pytest.param(
            Ledger(authorities=(AGED, SETTLED), leaves=(DUE,)),
            [{"old", "new"}],
            SignLeaf("new", NOW + POLICY.leaf_life),
            id="then the new one does",
        ),
        pytest.param(
            Ledger(authorities=(AGED, SEEN), leaves=(FRESH,)),
            [{"old"}],
            Record(
                Ledger(authorities=(AGED, an_authority("new", age=9 * MINUTE)), leaves=(FRESH,))
            ),
            id="the overlap begins anew when the new one was taken out of a bundle",
        ),
        pytest.param(
            Ledger(authorities=(AGED, SETTLED), leaves=(FRESH, a_leaf("new", age=MINUTE))),
            [{"old", "new"}],
            Rest(a_leaf("new", age=MINUTE).issued_at + 60 * DAY),
            id="the old one stays as long as a leaf of it may be in use",
        ),
        pytest.param(
            Ledger(
                authorities=(AGED, SETTLED),
                leaves=(a_leaf("old", age=91 * DAY), a_leaf("new", age=MINUTE)),
            ),
            [{"old", "new"}],
            Record(Ledger(authorities=(SETTLED,), leaves=(a_leaf("new", age=MINUTE),))),
            id="and goes when the last one has expired",
        ),
        pytest.param(
            Ledger(authorities=(SETTLED,), leaves=(a_leaf("new", age=MINUTE),)),
            [{"old", "new"}],
            Publish(frozenset({"new"})),
            id="out of the bundles too",
        ),
        pytest.param(
            Ledger(authorities=(AGED, SEEN)),
            [{"old", "new"}],
            SignLeaf("old", NOW + POLICY.leaf_life),
            id="after a long sleep, who has been published longest signs",
        ),
        pytest.param(
            Ledger(
                authorities=(an_authority("old", age=400 * DAY, published=400 * DAY),),
                leaves=(a_leaf("old", age=100 * DAY),),
            ),
            [{"old"}],
            Record(Ledger()),
            id="and what expired meanwhile is forgotten",
        ),
        pytest.param(
            Ledger(
                authorities=(an_authority("old", age=364 * DAY, published=364 * DAY), SEEN),
                leaves=(a_leaf("old", age=2 * DAY, life=3 * DAY),),
            ),
            [{"old", "new"}],
            Rest(SEEN.issued_at + POLICY.overlap),
            id="no leaf is signed that would not outlive the one there is",
        ),
    ],
)
def test_the_next_step(ledger: Ledger, bundles: list[set[str]], step: Step) -> None:
    assert decided(ledger, *bundles) == step


class World:
    """A ledger, bundles and a clock; it does what it is told and remembers since when each
    authority has been in every bundle, whenever anybody looked."""

    def __init__(self, policy: Policy, configurations: int) -> None:
        self.policy = policy
        self.now: datetime = NOW
        self.hosts = HOSTS
        self.ledger = Ledger()
        self.bundles: list[frozenset[str]] = [frozenset()] * configurations
        self.trusted_since: dict[str, datetime] = {}
        self.made = 0
        self.signed: list[LeafRecord] = []

    def step(self) -> Step:
        self.look()
        situation = Situation(
            ledger=self.ledger, bundles=tuple(self.bundles), hosts=self.hosts, now=self.now
        )
        step = next_step(situation, self.policy)
        self._take(step)
        return step

    def settle(self) -> Rest:
        for _ in range(STEPS_AT_MOST):
            if isinstance(step := self.step(), Rest):
                return step
        raise AssertionError(f"no rest after {STEPS_AT_MOST} steps: {step}")

    def look(self) -> None:
        everywhere = frozenset.intersection(*self.bundles)
        self.trusted_since = {
            name: self.trusted_since.get(name, self.now) for name in sorted(everywhere)
        }

    def in_use(self) -> list[LeafRecord]:
        """Leaves that some replica may serve: any that has not expired."""
        return [leaf for leaf in self.signed if leaf.expires_at > self.now]

    def _take(self, step: Step) -> None:
        match step:
            case Record(ledger):
                self.ledger = ledger
            case MakeAuthority(expires_at):
                self.made += 1
                made = AuthorityRecord(
                    id=f"ca-{self.made}", issued_at=self.now, expires_at=expires_at
                )
                self.ledger = msgspec.structs.replace(
                    self.ledger, authorities=(*self.ledger.authorities, made)
                )
            case Publish(authorities):
                self.bundles = [authorities] * len(self.bundles)
            case SignLeaf():
                self._sign(step)

    def _sign(self, step: SignLeaf) -> None:
        signer = next(one for one in self.ledger.authorities if one.id == step.authority)
        assert self.now < step.expires_at <= signer.expires_at
        in_use = self.in_use()
        if in_use and signer.id not in {leaf.authority for leaf in in_use}:
            assert self.now - self.trusted_since[signer.id] >= self.policy.overlap
        leaf = LeafRecord(
            authority=signer.id,
            hosts=self.hosts,
            issued_at=self.now,
            expires_at=step.expires_at,
        )
        self.signed.append(leaf)
        self.ledger = msgspec.structs.replace(self.ledger, leaves=(*self.ledger.leaves, leaf))


def rotated(policy: Policy, span: timedelta) -> World:
    """A world after that long, awake only when it was told to be."""
    world = World(policy, configurations=3)
    world.settle()
    while world.now < NOW + span:
        world.now = world.settle().until
        assert world.in_use(), f"no leaf at {world.now}"
        bundle = frozenset.intersection(*world.bundles)
        assert {leaf.authority for leaf in world.in_use()} <= bundle
    return world


def test_three_years_take_five_authorities_and_nineteen_leaves() -> None:
    world = rotated(POLICY, timedelta(days=1095))
    assert (world.made, len(world.signed)) == (5, 19)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Any lives in which a successor can be published before its predecessor ends."""
    authority = draw(st.integers(12, 90))
    overlap = draw(st.integers(1, authority // 3 - 1))
    leaf = draw(st.integers(overlap, authority))
    return Policy(
        leaf_life=timedelta(seconds=leaf),
        authority_life=timedelta(seconds=authority),
        overlap=timedelta(seconds=overlap),
    )


@settings(deadline=None, max_examples=60, derandomize=True)
@given(policies())
def test_waking_only_when_told_there_is_always_a_leaf_that_is_trusted(policy: Policy) -> None:
    rotated(policy, 5 * policy.authority_life)


class Rotation(RuleBasedStateMachine):
    """Any order of passes, crashes in the middle of one, sleep, and people who apply manifests."""

    @initialize(configurations=st.integers(1, 3), policy=policies())
    def begin(self, configurations: int, policy: Policy) -> None:
        self.world = World(policy, configurations)

    @rule(overlaps=st.floats(0, 1.5))
    def a_little_time_passes(self, overlaps: float) -> None:
        self.world.now += self.world.policy.overlap * overlaps

    @rule(lives=st.floats(0, 1.5))
    def it_is_down_for_long(self, lives: float) -> None:
        self.world.now += self.world.policy.leaf_life * lives

    @rule(passes=st.integers(1, 8))
    def it_runs_well(self, passes: int) -> None:
        for _ in range(passes):
            rest = self.world.settle()
            assert rest.until > self.world.now
            assert all(bundle == self.world.ledger.bundle for bundle in self.world.bundles)
            assert self.world.in_use()
            self.world.now = rest.until

    @rule(steps=st.integers(1, 4))
    def it_crashes_in_a_pass(self, steps: int) -> None:
        for _ in range(steps):
            self.world.step()

    @precondition(lambda self: self.world.ledger.authorities)
    @rule(data=st.data())
    def somebody_changes_a_bundle(self, data: st.DataObject) -> None:
        known = sorted(self.world.ledger.bundle)
        bundle = data.draw(st.frozensets(st.sampled_from([*known, "stranger"])))
        at = data.draw(st.integers(0, len(self.world.bundles) - 1))
        self.world.bundles[at] = bundle

    @precondition(lambda self: len(self.world.bundles) < 5)
    @rule()
    def somebody_adds_a_configuration(self) -> None:
        self.world.bundles.append(frozenset())

    @rule(name=st.sampled_from(["a", "b"]))
    def the_server_is_renamed(self, name: str) -> None:
        self.world.hosts = (name,)

    @invariant()
    def authorities_of_leaves_in_use_are_kept(self) -> None:
        if hasattr(self, "world"):
            kept = {one.id for one in self.world.ledger.authorities}
            assert {leaf.authority for leaf in self.world.in_use()} <= kept

    @invariant()
    def there_are_never_more_than_two_authorities(self) -> None:
        if hasattr(self, "world"):
            now = self.world.now
            valid = [one for one in self.world.ledger.authorities if one.expires_at > now]
            assert len(valid) <= 2


Rotation.TestCase.settings = settings(
    deadline=None, max_examples=60, stateful_step_count=30, derandomize=True
)
TestRotation = Rotation.TestCase
