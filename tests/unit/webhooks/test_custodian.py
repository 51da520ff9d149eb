# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder
from cryptography.x509.verification import Store as TrustStore
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from tests.unit.webhooks.builders import NOW, MemoryPublisher, MemoryStore, StandingClock
from trellis.webhooks import custody
from trellis.webhooks.certificates import Subject
from trellis.webhooks.custodian import Custodian, Published, Stored, StoredIdentity, Unsettled
from trellis.webhooks.identity import Papers, Unusable, fingerprints
from trellis.webhooks.metrics import Metrics
from trellis.webhooks.rotation import Policy, Rest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

HOST = "webhooks.trellis.svc"
SUBJECT = Subject(name="webhooks", hosts=(HOST,))
POLICY = Policy()
QUICK = Policy(
    leaf_life=timedelta(minutes=90),
    authority_life=timedelta(minutes=365),
    overlap=timedelta(minutes=10),
)
# Everything happens close together, so that few steps see many rotations.
CLOSE = Policy(
    leaf_life=timedelta(minutes=20),
    authority_life=timedelta(minutes=50),
    overlap=timedelta(minutes=10),
)


class World:
    def __init__(self) -> None:
        self.clock = StandingClock()
        self.store = MemoryStore()
        self.publisher = MemoryPublisher()

    def custodian(self, subject: Subject = SUBJECT, policy: Policy = POLICY) -> Custodian:
        return Custodian(
            self.store, self.publisher, subject=subject, clock=self.clock, policy=policy
        )

    async def papers(self) -> Papers:
        return Papers.of(await StoredIdentity(self.store).read())

    def bundle(self) -> bytes:
        one, *others = self.publisher.published.bundles
        assert all(other == one for other in others)
        return one


async def test_from_nothing_to_a_certificate_that_a_strict_client_trusts() -> None:
    world = World()
    rest = await world.custodian().converge()
    papers = await world.papers()
    assert papers.flaw(NOW) == ""
    anchors = TrustStore(x509.load_pem_x509_certificates(world.bundle()))
    verifier = PolicyBuilder().store(anchors).time(NOW).build_server_verifier(x509.DNSName(HOST))
    verifier.verify(papers.leaf, [])
    assert rest == Rest(NOW + POLICY.overlap)


async def test_lives_are_those_of_the_policy() -> None:
    world = World()
    await world.custodian().converge()
    papers = await world.papers()
    assert papers.expires == NOW + timedelta(days=90)
    assert papers.authorities is not None
    assert papers.authorities[0].not_valid_after_utc == NOW + timedelta(days=365)


async def test_a_settled_world_is_left_alone() -> None:
    world = World()
    await world.custodian().converge()
    before = world.store.stored, world.publisher.published
    await world.custodian().converge()
    assert (world.store.stored, world.publisher.published) == before


async def test_an_emptied_bundle_is_filled_again_with_the_same() -> None:
    world = World()
    await world.custodian().converge()
    before = world.bundle()
    world.publisher.put(b"", before)
    await world.custodian().converge()
    assert world.bundle() == before


async def test_a_server_with_another_name_gets_another_certificate() -> None:
    world = World()
    await world.custodian().converge()
    world.clock.time += timedelta(hours=1)
    renamed = replace(SUBJECT, hosts=("elsewhere.trellis.svc",))
    await world.custodian(renamed).converge()
    names = (await world.papers()).leaf.extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    assert names.value.get_values_for_type(x509.DNSName) == ["elsewhere.trellis.svc"]


async def test_before_there_is_a_configuration_there_is_no_certificate_and_it_is_said() -> None:
    world = World()
    world.publisher = MemoryPublisher(configurations=0)
    await world.custodian().converge()
    with pytest.raises(Unusable, match="no authority is published"):
        await world.papers()


async def test_keys_are_in_no_repr() -> None:
    world = World()
    await world.custodian().converge()
    held = custody.decode(world.store.stored.data)
    assert b"PRIVATE KEY" in world.store.stored.data["tls.key"]
    assert "PRIVATE KEY" not in repr(held) + repr(world.store.stored)


async def test_what_was_written_is_read_back() -> None:
    world = World()
    await world.custodian().converge()
    data = world.store.stored.data
    assert custody.encode(custody.decode(data)) == data
    assert data["ca.crt"] == world.bundle()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"ledger.json": None}, "lacks 'ledger.json'", id="the ledger is gone"),
        pytest.param({"ledger.json": b"{"}, "ledger.json cannot be read", id="it is cut off"),
        pytest.param({"ledger.json": b"[]"}, "ledger.json cannot be read", id="it is no ledger"),
        pytest.param({"tls.key": None}, "lacks 'tls.key'", id="a key is gone"),
        pytest.param(
            {"authority": b"x"}, "not what ledger.json names", id="an authority is garbage"
        ),
        pytest.param(
            {"authority": "tls.crt"}, "not what ledger.json names", id="it is another one"
        ),
    ],
)
async def test_a_secret_that_somebody_broke_is_left_as_it_is_and_reported(
    change: dict[str, bytes | str | None], said: str
) -> None:
    world = World()
    await world.custodian().converge()
    world.store.stored = Stored(broken(world.store.stored.data, change), "9")
    with pytest.raises(Unusable, match=said):
        await world.custodian().converge()
    with pytest.raises(Unusable, match=said):
        await world.papers()
    assert world.store.stored.version == "9"


async def test_an_authority_whose_key_somebody_broke_is_named() -> None:
    world = World()
    await world.custodian().converge()
    data = dict(world.store.stored.data)
    key = next(name for name in sorted(data) if name.startswith("authority") and "key" in name)
    world.store.stored = Stored(data | {key: b"junk"}, "9")
    world.clock.time += timedelta(days=61)
    with pytest.raises(Unusable, match=f"{key} cannot be read; delete the Secret"):
        await world.custodian().converge()


def broken(
    data: Mapping[str, bytes], change: Mapping[str, bytes | str | None]
) -> Mapping[str, bytes]:
    result = dict(data)
    for name, value in change.items():
        key = next(key for key in sorted(data) if key.startswith(name))
        if value is None:
            del result[key]
        else:
            result[key] = data[value] if isinstance(value, str) else value
    return result


class ForgetfulPublisher(MemoryPublisher):
    async def publish(self, seen: Published, bundle: bytes) -> bool:  # noqa: ARG002
        return True


async def test_a_publisher_whose_writes_do_not_last_is_not_asked_for_ever() -> None:
    world = World()
    world.publisher = ForgetfulPublisher()
    with pytest.raises(Unsettled, match="20 steps"):
        await world.custodian().converge()


class FailingStore(MemoryStore):
    async def read(self) -> Stored:
        raise PermissionError("secrets is forbidden")


async def test_a_failure_is_reported_and_tried_again_later() -> None:
    world = World()
    registry = CollectorRegistry()
    world.store = FailingStore()
    running = asyncio.create_task(world.custodian().run(Metrics(registry, ()), period=30))
    with capture_logs() as logs:
        while len(logs) < 3:
            await asyncio.sleep(0)
        running.cancel()
    assert {entry["problem"] for entry in logs} == {"PermissionError: secrets is forbidden"}
    failures = registry.get_sample_value("trellis_admission_certificate_failures_total")
    assert failures == len(logs)
    assert world.clock.time - NOW >= timedelta(seconds=60), "it waits between attempts"


async def test_it_wakes_when_something_is_due_and_looks_often_meanwhile() -> None:
    world = World()
    metrics = Metrics(CollectorRegistry(), ())
    running = asyncio.create_task(world.custodian(policy=QUICK).run(metrics, period=30))
    while world.clock.time < NOW + 2 * QUICK.authority_life:
        if world.store.stored.data and custody.decode(world.store.stored.data).leaf:
            assert (await world.papers()).flaw(world.clock.time) == ""
        await asyncio.sleep(0)
    running.cancel()


class Turn:
    """Holds one custodian up before each of its calls, until the test lets it go on."""

    def __init__(self) -> None:
        self._gate: asyncio.Future[None] | None = None

    async def take(self) -> None:
        self._gate = asyncio.get_running_loop().create_future()
        await self._gate

    async def give(self) -> None:
        """Lets the next call happen, and comes back when the one after it is waited for."""
        while self._gate is None:
            await asyncio.sleep(0)
        gate, self._gate = self._gate, None
        gate.set_result(None)
        while self._gate is None:
            await asyncio.sleep(0)


class Door:
    """One custodian's way to the store or the publisher."""

    def __init__(self, inner: Any, turn: Turn) -> None:
        self._turn = turn
        for name in ("read", "swap", "publish"):
            if hasattr(inner, name):
                setattr(self, name, self._guarded(getattr(inner, name)))

    def _guarded(self, call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def later(*arguments: Any) -> Any:
            await self._turn.take()
            return await call(*arguments)

        return later


async def interleaved(script: list[tuple[int, int, float]]) -> None:
    """Three custodians at once; who goes on, for how many calls, and after which time, is given."""
    world = World()
    turns = [Turn() for _ in range(3)]
    custodians = [
        Custodian(
            Door(world.store, turn),  # type: ignore[arg-type]
            Door(world.publisher, turn),  # type: ignore[arg-type]
            subject=SUBJECT,
            clock=world.clock,
            policy=CLOSE,
        )
        for turn in turns
    ]
    running = [asyncio.create_task(converge_often(one)) for one in custodians]
    for who, calls, overlaps in script:
        world.clock.time += CLOSE.overlap * overlaps
        for _ in range(calls):
            await turns[who].give()
            check_trust(world)
    for one in running:
        one.cancel()


async def converge_often(custodian: Custodian) -> None:
    while True:
        try:
            await custodian.converge()
        except Unsettled:
            continue


def check_trust(world: World) -> None:
    """Whatever may be in use is trusted by all, now."""
    if not world.store.stored.data:
        return
    ledger = custody.decode(world.store.stored.data).ledger
    now = world.clock.time
    in_use = {leaf.authority for leaf in ledger.leaves if leaf.expires_at > now}
    for bundle in world.publisher.published.bundles:
        assert in_use <= fingerprints(bundle)


@settings(deadline=None, max_examples=15, derandomize=True)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(1, 12), st.sampled_from([0, 0.5, 1, 1, 2])),
        min_size=30,
        max_size=60,
    )
)
def test_any_number_at_once_never_take_a_trusted_authority_away(
    script: list[tuple[int, int, float]],
) -> None:
    asyncio.run(interleaved(script))


def test_a_ledger_of_a_later_release_can_still_be_read() -> None:
    ledger = msgspec.json.encode({"authorities": [], "leaves": [], "added": 1})
    assert custody.decode({"ledger.json": ledger}) == custody.Custody()
