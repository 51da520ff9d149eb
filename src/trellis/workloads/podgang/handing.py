# SPDX-License-Identifier: Apache-2.0
"""Hands a gang to its scheduler before its gates are lifted: KAI may want a PodGroup of its own."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.runtime.converge import Children
from trellis.workloads.podgang.backend import KaiHere
from trellis.workloads.podgang.podgroups import compare_pod_group, pod_group

if TYPE_CHECKING:
    from trellis.api.scheduler.podgang import PodGang
    from trellis.kube.errors import KubeError
    from trellis.runtime.converged import Converged
    from trellis.runtime.io import IO
    from trellis.workloads.podgang.backend import Backend
    from trellis.workloads.podgang.kaiside import KaiSide

# A kind that was just defined is read within this, in the common case; else it is looked at again
# after as long.
READ_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """Whether the scheduler knows all it must know before pods start, and if not, why.

    `again`: seconds after which to look again, where nothing wakes the gang; `trouble`: what is to
    be tried again.
    """

    is_done: bool = True
    problem: str = ""
    again: float | None = None
    trouble: KubeError | None = None


class Handing:
    def __init__(self, kai: KaiSide | None) -> None:
        self._kai = kai

    def here(self) -> KaiHere:
        return self._kai.here() if self._kai is not None else KaiHere()

    async def hand(self, io: IO, gang: PodGang, backend: Backend) -> Handed:
        if backend.problem:
            return Handed(is_done=False, problem=backend.problem)
        if self._kai is None or not backend.as_pod_group:
            return Handed()
        cache = self._kai.pod_groups
        if not cache.synced:
            with suppress(TimeoutError):
                async with asyncio.timeout(READ_SECONDS):
                    await cache.until_synced()
        if not cache.synced:
            return Handed(is_done=False, again=READ_SECONDS)
        holder = cache.get(gang.metadata.key)
        children = Children(cache=cache, compare=compare_pod_group)
        have = (holder,) if holder is not None else ()
        return _handed(await io.converge(gang, children, have, (pod_group(gang, backend.queue),)))


def _handed(written: Converged) -> Handed:
    if written.refused:
        refusal = written.refused[0]
        return Handed(is_done=False, problem=f"KAI's PodGroup: {refusal}", trouble=refusal.error)
    if written.conflicts:
        taken = written.conflicts[0]
        problem = f"KAI's PodGroup {taken}: remove it, and the operator makes its own"
        return Handed(is_done=False, problem=problem)
    return Handed(is_done=written.complete)
