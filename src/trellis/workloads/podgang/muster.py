# SPDX-License-Identifier: Apache-2.0
"""How many of the pods that a gang lists are there, have a node, are ready. Pure.

Only listed pods count, and only while they live: one that is leaving or has failed is of no use.
Where others wait for a gang to be there, one that has failed is not missing, though: it is replaced
when its time has come, and that may take minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.workloads.pods import (
    has_failed,
    has_succeeded,
    is_gated,
    is_leaving,
    is_ready,
    is_scheduled,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from trellis.api.core.pod import Pod
    from trellis.api.scheduler.podgang import PodGang


@dataclass(frozen=True, slots=True, kw_only=True)
class Muster:
    """The pods of one PodClique. What has ended well counts as ready.

    `failed`: those that have failed, and are yet to be replaced.
    """

    clique: str
    minimum: int
    listed: int
    present: int = 0
    scheduled: int = 0
    ready: int = 0
    failed: int = 0
    gated: tuple[Pod, ...] = ()

    @property
    def is_enough(self) -> bool:
        return self.present + self.failed >= self.minimum

    @property
    def is_whole(self) -> bool:
        return self.present == self.listed

    @property
    def has_begun(self) -> bool:
        """Whether one of them is held back no more."""
        return self.present > len(self.gated)


def muster(clique: str, minimum: int, names: Collection[str], pods: Mapping[str, Pod]) -> Muster:
    present = scheduled = ready = failed = 0
    gated: list[Pod] = []
    for name in names:
        pod = pods.get(name)
        if pod is None or is_leaving(pod):
            continue
        if has_failed(pod):
            failed += 1
            continue
        present += 1
        if is_scheduled(pod):
            scheduled += 1
            ready += is_ready(pod) or has_succeeded(pod)
        elif is_gated(pod):
            gated.append(pod)
    return Muster(
        clique=clique,
        minimum=minimum,
        listed=len(names),
        present=present,
        scheduled=scheduled,
        ready=ready,
        failed=failed,
        gated=tuple(gated),
    )


def all_exist(musters: Iterable[Muster]) -> bool:
    return all(each.is_whole for each in musters)


def all_scheduled(musters: Iterable[Muster]) -> bool:
    """Whether every group has its minimum on nodes."""
    return all(each.scheduled >= each.minimum for each in musters)


def all_ready(musters: Iterable[Muster]) -> bool:
    return all(each.ready >= each.minimum for each in musters)


def is_gang_scheduled(
    gang: PodGang,
    listed_names: Mapping[str, Sequence[str]],
    find: Callable[[str], Pod | None],
) -> bool:
    """The same of a gang by what is stored of it. `find` is told the name of a pod."""
    for group in gang.spec.podgroups:
        found = (find(name) for name in listed_names.get(group.name, ()))
        placed = sum(pod is not None and not is_leaving(pod) and is_scheduled(pod) for pod in found)
        if placed < group.min_replicas:
            return False
    return True
