# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.kube.lease import (
    Bid,
    Lease,
    LeaseMeta,
    LeaseSpec,
    Observation,
    bid,
    observe,
    released,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
STAMP = "2026-01-01T12:00:00.000000Z"
ME, YOU = Bid(identity="me"), Bid(identity="you")


def held(holder: str | None, seconds: int = 15, transitions: int = 3) -> Lease:
    spec = LeaseSpec(holder, seconds, "then", "lately", transitions)
    return Lease(metadata=LeaseMeta("l", "ns", "1"), spec=spec)


@pytest.mark.parametrize(
    ("seen", "now", "want"),
    [
        pytest.param(None, 0, LeaseSpec("me", 15, STAMP, STAMP, 0), id="there is none yet"),
        pytest.param(
            Observation(held("me"), 0), 5, LeaseSpec("me", 15, "then", STAMP, 3), id="it is ours"
        ),
        pytest.param(Observation(held("you"), 0), 14.9, None, id="another holds it"),
        pytest.param(
            Observation(held("you"), 0), 15, LeaseSpec("me", 15, STAMP, STAMP, 4), id="it ran out"
        ),
        pytest.param(
            Observation(held(""), 0), 0, LeaseSpec("me", 15, STAMP, STAMP, 4), id="it was given up"
        ),
        pytest.param(
            Observation(held(None), 0), 0, LeaseSpec("me", 15, STAMP, STAMP, 4), id="nobody's"
        ),
        pytest.param(Observation(held("you", 60), 0), 30, None, id="the holder's own time counts"),
        pytest.param(
            Observation(Lease(metadata=LeaseMeta("l")), 0),
            0,
            LeaseSpec("me", 15, STAMP, STAMP, 1),
            id="it is empty",
        ),
    ],
)
def test_who_may_write_what(seen: Observation | None, now: float, want: LeaseSpec | None) -> None:
    assert bid(seen, ME, now, NOW) == want


def test_only_a_change_begins_the_time_anew() -> None:
    first = observe(None, held("you"), 100)
    assert observe(first, held("you"), 110).since == 100
    assert observe(first, held("you", transitions=4), 110).since == 110


def test_what_is_given_up_is_free_at_once_and_counts_the_changes_on() -> None:
    spec = released(Observation(held("me"), 0), NOW)
    assert spec == LeaseSpec("", 1, STAMP, STAMP, 3)


class Bidder:
    """One process, with clocks of its own."""

    def __init__(self, name: str, monotonic: float, wall: timedelta) -> None:
        self.asker = Bid(identity=name)
        self.monotonic = monotonic
        self.wall = wall
        self.seen: Observation | None = None
        self.read: Lease | None = None
        self.until = float("-inf")
        """Until when it believes to hold the lease, in true time."""


class World:
    """A lease behind guarded writes."""

    def __init__(self) -> None:
        self.time = 0.0
        self.lease: Lease | None = None
        self.version = 0

    def look(self, bidder: Bidder) -> None:
        bidder.read = self.lease
        if self.lease is None:
            bidder.seen = None
        else:
            bidder.seen = observe(bidder.seen, self.lease, self.time + bidder.monotonic)

    def write(self, bidder: Bidder) -> None:
        """With what was seen at the last look, however long ago that was."""
        spec = bid(bidder.seen, bidder.asker, self.time + bidder.monotonic, self.stamp(bidder))
        began = self.time
        if spec is None or self.lease is not bidder.read:
            return
        self.version += 1
        self.lease = Lease(metadata=LeaseMeta("l", "ns", str(self.version)), spec=spec)
        bidder.until = began + bidder.asker.duration
        self.look(bidder)

    def release(self, bidder: Bidder) -> None:
        self.look(bidder)
        if bidder.seen and bidder.seen.lease.spec.holder_identity == bidder.asker.identity:
            bidder.until = float("-inf")
            self.version += 1
            spec = released(bidder.seen, self.stamp(bidder))
            self.lease = Lease(metadata=LeaseMeta("l", "ns", str(self.version)), spec=spec)

    def stamp(self, bidder: Bidder) -> datetime:
        return NOW + timedelta(seconds=self.time) + bidder.wall


SKEWS = st.integers(-10_000, 10_000)
STEPS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(["look", "write", "attempt", "attempt", "release"]),
        st.floats(0, 20),
    ),
    max_size=60,
)


@settings(max_examples=300)
@given(skews=st.tuples(SKEWS, SKEWS, SKEWS), steps=STEPS)
def test_no_two_ever_believe_to_hold_it_however_their_clocks_differ(
    skews: tuple[int, int, int], steps: list[tuple[int, str, float]]
) -> None:
    world = World()
    bidders = [
        Bidder(f"b{number}", float(skew), timedelta(minutes=skew))
        for number, skew in enumerate(skews)
    ]
    for who, what, pause in steps:
        world.time += pause
        bidder = bidders[who]
        if what == "attempt":
            world.look(bidder)
            world.write(bidder)
        else:
            getattr(world, what)(bidder)
        holders = [each.asker.identity for each in bidders if each.until > world.time]
        assert len(holders) <= 1, holders


@given(skews=st.tuples(SKEWS, SKEWS), patience=st.integers(1, 5))
def test_a_holder_that_dies_is_succeeded_after_its_time(
    skews: tuple[int, int], patience: int
) -> None:
    world = World()
    dead, heir = (
        Bidder(name, float(skew), timedelta(minutes=skew))
        for name, skew in zip(("dead", "heir"), skews, strict=True)
    )
    world.look(dead)
    world.write(dead)
    while world.time <= ME.duration + patience:
        world.look(heir)
        world.write(heir)
        world.time += patience
    assert world.lease is not None
    assert world.lease.spec.holder_identity == "heir"
