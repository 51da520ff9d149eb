# SPDX-License-Identifier: Apache-2.0
"""Whether all that a set has made holds its minima, and how many pods that is. Pure.

What a set says of its replicas lags behind what was scaled a moment ago, so its parts are asked
too. No more than minima are waited for: what is wanted beyond them may have no room for ever, and
the update itself has not waited for it either. How many are ready is said instead.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from trellis.api.labels import SCALING_GROUP

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup


def waits_for(cliques: Sequence[PodClique], groups: Sequence[PodCliqueScalingGroup]) -> str:
    """What the first part that is not well yet lacks; empty where all are."""
    told = chain(_unseen(cliques, groups), _short_groups(groups), _short_cliques(cliques))
    return next(told, "")


def wanted_pods(cliques: Sequence[PodClique]) -> int:
    return sum(one.spec.replicas for one in cliques)


def updated_pods(clique: PodClique) -> int:
    """What goes because it was scaled in is not counted."""
    return min(clique.status.updated_replicas, clique.spec.replicas)


def has_outdated_pods(clique: PodClique) -> bool:
    """Pods that are yet to be made are not outdated."""
    return clique.status.updated_replicas < clique.status.replicas


def summed_up(cliques: Sequence[PodClique]) -> str:
    """Of PodCliques that have nothing outdated."""
    wanted = wanted_pods(cliques)
    if not wanted:
        return "no pods are wanted"
    updated = sum(map(updated_pods, cliques))
    ready = sum(min(one.status.ready_replicas, updated_pods(one)) for one in cliques)
    how_many = f"all {wanted}" if updated == wanted else f"{updated} of {wanted}"
    text = f"{how_many} pods have the current template"
    return text if ready == wanted else f"{text}, {ready} of them are ready"


def _unseen(cliques: Sequence[PodClique], groups: Sequence[PodCliqueScalingGroup]) -> Iterator[str]:
    """Scaling moves the generation of a part and not that of the set."""
    parts: tuple[PodCliqueScalingGroup | PodClique, ...] = (*groups, *cliques)
    for one in parts:
        if (one.status.observed_generation or 0) < one.metadata.generation:
            generation = f"generation {one.metadata.generation}"
            named = f"{one.resource.kind} {one.metadata.name}"
            yield f"the operator has yet to see {generation} of {named}"


def _short_groups(groups: Sequence[PodCliqueScalingGroup]) -> Iterator[str]:
    for one in groups:
        needed = min(one.spec.min_available, one.spec.replicas)
        available = one.status.available_replicas
        if available < needed:
            what = f"{available} of {needed} replicas are available"
            yield f"PodCliqueScalingGroup {one.metadata.name}: {what}"


def _short_cliques(cliques: Sequence[PodClique]) -> Iterator[str]:
    """Of those in a scaling group, the group knows how many it takes."""
    for one in cliques:
        status = one.status
        if has_outdated_pods(one):
            what = f"{status.updated_replicas} of {status.replicas} pods have the current template"
            yield f"PodClique {one.metadata.name}: {what}"
        elif SCALING_GROUP not in one.metadata.labels and status.ready_replicas < one.spec.needed:
            what = f"{status.ready_replicas} of {one.spec.needed} pods are ready"
            yield f"PodClique {one.metadata.name}: {what}"
