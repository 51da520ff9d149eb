# SPDX-License-Identifier: Apache-2.0
"""What does not hold about one object, by the id of the invariant. Pure.

Caches of several kinds are never of one moment, so what is found once may only be on its way: who
asks twice knows more.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api.labels import MANAGED_BY, OPERATOR, POD_GANG
from trellis.api.meta import Key
from trellis.workloads.ledger import listed, pod_index
from trellis.workloads.pods import has_succeeded, is_live

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trellis.api.core.pod import Pod
    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
    from trellis.api.meta import Object
    from trellis.api.scheduler.podgang import PodGang
    from trellis.workloads.caches import Caches

OWNER_IS_REAL = "I-01"
UNIQUE_CHILD = "I-04"
NO_SURGE = "I-05"
STATUS_SANE = "I-18"
LEDGER = "D-15"
NO_ORPHANS = "L-04"

IDS = (OWNER_IS_REAL, UNIQUE_CHILD, NO_SURGE, STATUS_SANE, LEDGER, NO_ORPHANS)


@dataclass(frozen=True, slots=True)
class Violation:
    """Which invariant does not hold, of which object, and what of it is wrong."""

    id: str
    object: str
    text: str


def of_clique(caches: Caches, clique: PodClique) -> Iterator[Violation]:
    """A PodClique with its pods: one for each index, no more than wanted, all of them listed."""
    yield from of_child(caches, clique)
    status, name = clique.status, _named("PodClique", clique)
    counts = (status.ready_replicas, status.scheduled_replicas, status.replicas)
    if not 0 <= counts[0] <= counts[1] <= counts[2]:
        text = f"{counts[0]} ready, {counts[1]} scheduled, {counts[2]} there"
        yield Violation(STATUS_SANE, name, text)
    yield from _observed(name, clique.metadata.generation, status.observed_generation)
    if clique.metadata.deleting:
        return
    live = [pod for pod in caches.pods.owned(clique.metadata.uid) if _counts(pod)]
    twice = [index for index, count in Counter(map(pod_index, live)).items() if count > 1]
    if twice:
        yield Violation(UNIQUE_CHILD, name, f"index {twice[0]} has more than one pod")
    if len(live) > clique.spec.replicas:
        yield Violation(NO_SURGE, name, f"{len(live)} pods, {clique.spec.replicas} are wanted")
    yield from _unlisted(caches, clique, live)


def of_gang(caches: Caches, gang: PodGang) -> Iterator[Violation]:
    yield from of_child(caches, gang)
    for group in gang.spec.podgroups:
        names = [reference.name for reference in group.pod_references]
        if len(set(names)) != len(names):
            text = f"the ledger of {group.name} has a name twice"
            yield Violation(LEDGER, _named("PodGang", gang), text)


def of_group(caches: Caches, group: PodCliqueScalingGroup) -> Iterator[Violation]:
    yield from of_child(caches, group)
    status, name = group.status, _named("PodCliqueScalingGroup", group)
    if not 0 <= status.available_replicas <= status.replicas:
        text = f"{status.available_replicas} available of {status.replicas}"
        yield Violation(STATUS_SANE, name, text)
    yield from _observed(name, group.metadata.generation, status.observed_generation)


def of_set(found: PodCliqueSet) -> Iterator[Violation]:
    status, name = found.status, _named("PodCliqueSet", found)
    if not 0 <= status.available_replicas <= status.replicas:
        text = f"{status.available_replicas} available of {status.replicas}"
        yield Violation(STATUS_SANE, name, text)
    yield from _observed(name, found.metadata.generation, status.observed_generation)


def of_child(caches: Caches, child: Object) -> Iterator[Violation]:
    """What was made for a set: it has one controller, and that is there."""
    if child.metadata.labels.get(MANAGED_BY) != OPERATOR or child.metadata.deleting:
        return
    controllers = [each for each in child.metadata.owner_references if each.controller]
    name = _named(child.resource.kind, child)
    if len(controllers) != 1 or not controllers[0].uid:
        yield Violation(OWNER_IS_REAL, name, f"{len(controllers)} controllers")
    elif caches.set_of(child) is None:
        yield Violation(NO_ORPHANS, name, "its PodCliqueSet is not there any more")


def _unlisted(caches: Caches, clique: PodClique, live: Sequence[Pod]) -> Iterator[Violation]:
    metadata = clique.metadata
    gang = caches.gangs.get(Key(metadata.namespace, metadata.labels.get(POD_GANG, "")))
    if gang is None or gang.metadata.deleting:
        return
    names = set(listed(gang, metadata.name, live).values())
    strays = sorted(pod.metadata.name for pod in live if pod.metadata.name not in names)
    if strays:
        text = f"{strays[0]} is not in the ledger of PodGang {gang.metadata.name}"
        yield Violation(LEDGER, _named("PodClique", clique), text)


def _observed(name: str, generation: int, observed: int | None) -> Iterator[Violation]:
    if observed is not None and observed > generation:
        text = f"observedGeneration {observed} of generation {generation}"
        yield Violation(STATUS_SANE, name, text)


def _counts(pod: Pod) -> bool:
    return is_live(pod) and not has_succeeded(pod)


def _named(kind: str, found: Object) -> str:
    return f"{kind} {found.metadata.key}"
