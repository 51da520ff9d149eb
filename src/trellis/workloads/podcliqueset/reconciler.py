# SPDX-License-Identifier: Apache-2.0
"""`controllers` declares the two controllers of PodCliqueSets: what wakes which of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.labels import PART_OF
from trellis.api.meta import Key, Object
from trellis.runtime.controller import Controller, Wakes, controller_of
from trellis.runtime.pace import Pace
from trellis.workloads.classes import woken_by_priority_classes
from trellis.workloads.excess import set_excess, standing_replicas
from trellis.workloads.metering import meter_sets
from trellis.workloads.outlines import Outlines
from trellis.workloads.podcliqueset.board import Board
from trellis.workloads.podcliqueset.replica import ReplicaReconciler
from trellis.workloads.podcliqueset.shards import (
    Shard,
    is_written_anew,
    shard_of_child,
    shards_of_set,
)
from trellis.workloads.podcliqueset.whole import Bounds, SetReconciler
from trellis.workloads.sharing import woken_by_templates
from trellis.workloads.updates.progress import whose_turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trellis.workloads.caches import Caches
    from trellis.workloads.means import Means
    from trellis.workloads.podcliqueset.whole import Excess
    from trellis.workloads.trouble import Trouble

PACE = Pace(burst=8, seconds=1.0, lull=0.04)
# What is begun is to be finished before more is begun: hundreds of replicas that are all half made
# start late, and each tells of every step. So few are begun at a time, and those who make gangs and
# pods of them outnumber those who begin.
SHARE_THAT_BEGINS = 1 / 3


def controllers(
    means: Means, caches: Caches
) -> tuple[Controller[PodCliqueSet], Controller[PodCliqueSet]]:
    """That of sets as a whole, and that of their replicas, which tells the first of troubles."""
    outlines, board = Outlines(), Board()
    limits = means.configuration.trellis.limits

    def excess(found: PodCliqueSet) -> Trouble | None:
        return set_excess(found, limits, partial(standing_replicas, caches, found))

    whole = SetReconciler(
        caches, outlines, board, means.env.clock, Bounds(excess, limits.group_replicas)
    )
    replica = ReplicaReconciler(caches, outlines, board, excess)
    workers = means.configuration.controllers.pod_clique_set.concurrent_syncs

    meter_sets(means.env.meter, caches)
    caches.sets.subscribe(whole.follow)
    return (
        Controller(
            name="podcliqueset",
            cache=caches.sets,
            reconcile=whole.reconcile,
            woken_by=_wakes_of_sets(caches),
            bells=(board.bell, whole.pacer.bell),
            reads=(caches.pods,),
            pace=PACE,
            crowd=lambda key: key,
            workers=workers,
        ),
        Controller(
            name="podcliqueset-replica",
            cache=caches.sets,
            reconcile=replica.reconcile,
            woken_by=_wakes_of_replicas(caches, excess),
            identity=replica.identity,
            pace=PACE,
            crowd=lambda key: Shard.of(key).set,
            workers=max(1, int(workers * SHARE_THAT_BEGINS)),
        ),
    )


def _wakes_of_sets(caches: Caches) -> tuple[Wakes[Any], ...]:
    owner = controller_of(PodCliqueSet.resource)
    return (
        Wakes(caches.cliques, _by_label),
        Wakes(caches.groups, _by_label),
        Wakes(caches.gangs, _by_label),
        Wakes(caches.roles, owner),
        Wakes(caches.bindings, owner),
        Wakes(caches.claims, owner),
        Wakes(caches.services, owner),
        Wakes(caches.autoscalers, owner),
        woken_by_templates(caches, _itself),
        woken_by_priority_classes(caches, _itself),
    )


def _wakes_of_replicas(caches: Caches, excess: Excess) -> tuple[Wakes[Any], ...]:
    def shards(found: PodCliqueSet) -> Iterable[Key]:
        return () if excess(found) else shards_of_set(found)

    return (
        Wakes(caches.sets, shards, _is_told_otherwise),
        Wakes(caches.cliques, shard_of_child, is_written_anew),
        Wakes(caches.groups, shard_of_child, is_written_anew),
        Wakes(caches.services, shard_of_child),
        Wakes(caches.autoscalers, shard_of_child),
    )


def _is_told_otherwise(old: PodCliqueSet, new: PodCliqueSet) -> bool:
    """Also that it is a replica's turn to be updated."""
    return is_written_anew(old, new) or whose_turn(old.status) != whose_turn(new.status)


def _itself(found: PodCliqueSet) -> tuple[Key, ...]:
    return (found.metadata.key,)


def _by_label(found: Object) -> Iterator[Key]:
    if name := found.metadata.labels.get(PART_OF):
        yield Key(found.metadata.namespace, name)
