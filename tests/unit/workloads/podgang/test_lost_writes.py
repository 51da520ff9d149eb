# SPDX-License-Identifier: Apache-2.0
"""Writes of gangs that get lost, or that meet those of somebody else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.support.virtual import run, virtual
from tests.unit.workloads.podgang.troupe import W, a_gang
from trellis.api.core.pod import Pod
from trellis.api.labels import GANG_GATE
from trellis.api.names import pod_index_of
from trellis.kube.errors import Ambiguous

if TYPE_CHECKING:
    from trellis.kube.transport import Request

WRITES = 9


@dataclass(frozen=True)
class Ending:
    """Which indices are listed, what is held back, and the phase."""

    listed: list[int | None]
    gated: list[str]
    phase: str


async def _story(lost: int | None, *, after: bool) -> Ending:
    """A gang from its making to the replacement of a pod; one write is answered by silence."""
    troupe = await a_gang()
    count = 0

    def lose(request: Request) -> None:
        nonlocal count
        if request.method == "GET" or "/events" in request.path:
            return
        count += 1
        if count - 1 == lost:
            raise Ambiguous(f"{request}: timed out")

    if after:
        troupe.stage.watched.after = lose
    else:
        troupe.stage.watched.before = lose
    async with troupe.operator():
        await troupe.stage.settle(60)
        names = await troupe.make_pods("one-0")
        await troupe.stage.settle(60)
        await troupe.bind(*names)
        await troupe.stage.delete(Pod, sorted(names)[0])
        await troupe.stage.settle(60)
        await troupe.make_pods("one-0")
        await troupe.stage.settle(60)
        listed = (await troupe.listed("one-0"))[W]
        indices = [pod_index_of(name) for name in listed]
        assert lost is None or count > lost, "there was such a write"
        return Ending(indices, await troupe.gated(), await troupe.phase("one-0"))


@cache
def _undisturbed() -> Ending:
    return run(_story(None, after=False))


@pytest.mark.parametrize("after", [False, True], ids=["before it happened", "after it happened"])
@pytest.mark.parametrize("lost", range(WRITES))
def test_whichever_write_is_lost_it_ends_the_same(lost: int, after: bool) -> None:
    assert run(_story(lost, after=after)) == _undisturbed()


@virtual
async def test_the_ledger_is_never_written_over_what_somebody_else_wrote_meanwhile() -> None:
    troupe = await a_gang()
    async with troupe.operator():
        names = await troupe.make_pods("one-0")
        await troupe.bind(*names)
        met: list[str] = []

        def remember(request: Request) -> None:
            if request.method == "PATCH" and request.path.endswith("/podgangs/one-0"):
                met.append((request.body or b"").decode())

        troupe.stage.watched.before = remember
        await troupe.stage.delete(Pod, names[0])
        await troupe.stage.settle()
        assert len(met) == 1
        assert '"resourceVersion"' in met[0]


@virtual
async def test_two_leaders_at_once_make_the_same_and_nothing_twice() -> None:
    troupe = await a_gang()
    async with troupe.operator(), troupe.operator():
        names = await troupe.make_pods("one-0")
        await troupe.stage.settle()
        await troupe.bind(*names)
        await troupe.stage.delete(Pod, names[1])
        await troupe.stage.settle()
        assert len((await troupe.listed("one-0"))[W]) == 3
        assert len(await troupe.make_pods("one-0")) == 1
        await troupe.stage.settle()
        assert await troupe.gated() == []
        assert GANG_GATE not in str((await troupe.stage.get(Pod, names[0]))["spec"])
