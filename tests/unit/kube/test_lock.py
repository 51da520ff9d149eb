# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.transport import MemoryTransport, answer, failure
from tests.support.virtual import virtual
from tests.unit.kube.builders import a_client
from trellis.kube.errors import Ambiguous
from trellis.kube.lease import Bid
from trellis.kube.lock import LeaseLock, Standing

if TYPE_CHECKING:
    from trellis.kube.transport import Request, Response

ME = Bid(identity="me")


class Leases:
    """One lease behind an API: guarded by its resourceVersion, with fields we do not know."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.version = 0
        self.loses_answers = False

    def answer(self, request: Request) -> Response | Ambiguous:
        if request.method == "GET":
            return answer(self.lease) if self.lease else failure(404, "NotFound", name="l")
        body = json.loads(request.body or b"")
        if request.method == "POST":
            if self.lease:
                return failure(409, "AlreadyExists")
            self.lease = body
        else:
            assert self.lease
            if body["metadata"]["resourceVersion"] != str(self.version):
                return failure(409, "Conflict")
            self.lease["spec"] |= body["spec"]
        self.version += 1
        self.lease["metadata"]["resourceVersion"] = str(self.version)
        return Ambiguous("lost") if self.loses_answers else answer(self.lease)


def a_lock(leases: Leases, asker: Bid = ME) -> LeaseLock:
    return LeaseLock(a_client(MemoryTransport(leases.answer)), "ns", "l", asker)


@virtual
async def test_it_is_taken_renewed_and_given_up() -> None:
    leases = Leases()
    mine, yours = a_lock(leases), a_lock(leases, Bid(identity="you"))
    assert await mine.attempt() == Standing(True, "me", 15)
    assert await mine.attempt() == Standing(True, "me", 15)
    assert await yours.attempt() == Standing(False, "me", 15)
    await mine.release()
    assert await yours.attempt() == Standing(True, "you", 15)
    assert await mine.attempt() == Standing(False, "you", 15)
    assert leases.lease
    assert leases.lease["spec"]["leaseTransitions"] == 1


@virtual
async def test_fields_of_others_survive() -> None:
    leases = Leases()
    lock = a_lock(leases)
    await lock.attempt()
    assert leases.lease
    leases.lease["spec"]["strategy"] = "OldestEmulationVersion"
    await lock.attempt()
    assert leases.lease["spec"]["strategy"] == "OldestEmulationVersion"


@virtual
async def test_only_the_holder_gives_it_up() -> None:
    leases = Leases()
    mine, yours = a_lock(leases), a_lock(leases, Bid(identity="you"))
    await mine.attempt()
    await yours.release()
    assert (await mine.attempt()).held


@virtual
async def test_whoever_is_slower_loses_and_is_told_so() -> None:
    leases = Leases()

    class Overtaken(Leases):
        def answer(self, request: Request) -> Response | Ambiguous:
            found = leases.answer(request)
            if request.method == "GET":
                leases.version += 1
            return found

    await a_lock(leases).attempt()
    assert not (await a_lock(Overtaken()).attempt()).held


@virtual
async def test_a_renewal_whose_answer_is_lost_is_looked_at_again() -> None:
    leases = Leases()
    lock = a_lock(leases)
    leases.loses_answers = True
    with pytest.raises(Ambiguous):
        await lock.attempt()
    leases.loses_answers = False
    assert (await lock.attempt()).held
