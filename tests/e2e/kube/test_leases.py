# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.support.waiting import eventually
from trellis.kube.lease import LEASES, Bid, Lease
from trellis.kube.lock import LeaseLock

if TYPE_CHECKING:
    from trellis.kube.client import Client


async def test_a_lease_passes_from_hand_to_hand(client: Client, namespace: str) -> None:
    mine, yours = (
        LeaseLock(client, namespace, "leader", Bid(identity=name)) for name in ("me", "you")
    )
    assert (await mine.attempt()).held
    assert (await mine.attempt()).held
    standing = await yours.attempt()
    assert (standing.held, standing.holder) == (False, "me")
    await mine.release()
    assert (await yours.attempt()).held
    lease = await client.of(LEASES, Lease, namespace).get("leader")
    assert lease.spec.holder_identity == "you"
    assert lease.spec.lease_transitions == 1


async def test_of_many_that_bid_at_once_one_wins(client: Client, namespace: str) -> None:
    locks = [LeaseLock(client, namespace, "leader", Bid(identity=str(n))) for n in range(10)]
    standings = await asyncio.gather(*(lock.attempt() for lock in locks))
    assert sum(standing.held for standing in standings) == 1


async def test_one_that_is_not_renewed_is_taken_over(client: Client, namespace: str) -> None:
    dead = LeaseLock(client, namespace, "leader", Bid(identity="dead", duration=1))
    heir = LeaseLock(client, namespace, "leader", Bid(identity="heir", duration=1))
    assert (await dead.attempt()).held
    assert not (await heir.attempt()).held

    async def taken() -> bool:
        return (await heir.attempt()).held

    await eventually(taken, "the lease to run out")
    assert not (await dead.attempt()).held
