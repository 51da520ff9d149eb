# SPDX-License-Identifier: Apache-2.0
"""How far the rollout of a PodCliqueSet has come: what is said of it, and whether it is over. Pure.

A template change counts as rolled out when the operator has seen it, nothing outdated is left, and
the set, its groups and its PodCliques hold their minima. With OnDelete it is over once every
PodClique has the template: the rest is up to people. No hash is computed here: operators of other
releases may have others.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from trellis.api.annotation import HASH_ALIASES
from trellis.api.conditions import READY, STALLED, Status, find, is_true
from trellis.api.grove.updates import ON_DELETE, UPDATE_IN_PROGRESS
from trellis.api.labels import POD_CLIQUE, POD_TEMPLATE_HASH
from trellis.api.reasons import updates
from trellis.views.settled import (
    has_outdated_pods,
    summed_up,
    updated_pods,
    waits_for,
    wanted_pods,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trellis.api.conditions import Condition
    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup

    Unit = PodClique | PodCliqueScalingGroup

# So many PodCliques are named one by one; a terminal has only so many lines.
MOST_NAMED = 10


class Verdict(StrEnum):
    WAITS = "waits"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """A set as it was read, None if there is none, and all PodCliques and groups of that name.

    `uid` is the set that was asked for, if it has been seen: another of its name is not it.
    """

    name: str
    set: PodCliqueSet | None
    cliques: Sequence[PodClique] = ()
    groups: Sequence[PodCliqueScalingGroup] = ()
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """One line, and below it what a person may want to know once it is over."""

    verdict: Verdict
    text: str
    details: tuple[str, ...] = ()

    @property
    def is_over(self) -> bool:
        return self.verdict is not Verdict.WAITS


def report(sight: Sight) -> Report:
    found = sight.set
    if found is None or (sight.uid and found.metadata.uid != sight.uid):
        return Report(Verdict.FAILED, f"{sight.name} was deleted before it was rolled out")
    if found.metadata.deleting:
        return Report(Verdict.FAILED, f"{sight.name} is being deleted")
    if not _is_seen(found):
        return _waits(f"the operator has yet to see generation {found.metadata.generation}")
    if failure := _failure(found, (*sight.cliques, *sight.groups)):
        return Report(Verdict.FAILED, f"{sight.name}: {failure}")
    cliques = [one for one in sight.cliques if not one.metadata.deleting]
    groups = [one for one in sight.groups if not one.metadata.deleting]
    return _under_way(found, cliques, groups)


def _under_way(
    found: PodCliqueSet, cliques: Sequence[PodClique], groups: Sequence[PodCliqueScalingGroup]
) -> Report:
    if _is_open(found):
        return _waits(_progress(found, cliques))
    if (found.status.observed_generation or 0) < found.metadata.generation:
        return _waits(_said(found, READY) or "the new template is being handed on")
    if found.spec.update_strategy and found.spec.update_strategy.type == ON_DELETE:
        return _left_to_people(found, cliques)
    return _settled(found, cliques, groups)


def _is_seen(found: PodCliqueSet) -> bool:
    """Whether what is said of it is about what it asks for now.

    Its observedGeneration comes last, when all children have what it asks for.
    """
    ready = find(found.status.conditions, READY)
    told = (found.status.observed_generation or 0, ready.observed_generation if ready else 0)
    return max(told) >= found.metadata.generation


def _is_open(found: PodCliqueSet) -> bool:
    if is_true(found.status.conditions, UPDATE_IN_PROGRESS):
        return True
    progress = found.status.update_progress
    if progress is None or progress.update_started_at is None:
        return False
    return progress.update_ended_at is None


def _failure(found: PodCliqueSet, units: Sequence[Unit]) -> str:
    """Why it will not end by itself, if that is so."""
    if stalled := _stalled(found):
        return _worded(stalled)
    for unit in (one for one in units if _takes_part(one, found)):
        if stalled := _stalled(unit):
            return f"{unit.resource.kind} {unit.metadata.name}: {_worded(stalled)}"
        late = find(unit.status.conditions, UPDATE_IN_PROGRESS)
        if late and late.reason == updates.PROGRESS_DEADLINE_EXCEEDED.token and _is_new(unit, late):
            return f"{unit.resource.kind} {unit.metadata.name}: {_worded(late)}"
    return ""


def _takes_part(unit: Unit, found: PodCliqueSet) -> bool:
    """Whether it is being updated, in this update and not in one that it has superseded.

    No part of a set begins before the set itself. Where there never was an update, all take part.
    """
    whole, part = found.status.update_progress, unit.status.update_progress
    if whole is None or whole.update_started_at is None:
        return True
    if part is None or part.update_started_at is None or part.update_ended_at is not None:
        return False
    return part.update_started_at >= whole.update_started_at


def _stalled(found: PodCliqueSet | Unit) -> Condition | None:
    stalled = find(found.status.conditions, STALLED)
    if stalled is None or stalled.status != Status.TRUE.value:
        return None
    return stalled if _is_new(found, stalled) else None


def _is_new(found: PodCliqueSet | Unit, condition: Condition) -> bool:
    return condition.observed_generation >= found.metadata.generation


def _progress(found: PodCliqueSet, cliques: Sequence[PodClique]) -> str:
    why = _said(found, UPDATE_IN_PROGRESS) or "an update is being rolled out"
    updated, total = _counted(found, cliques)
    # Before the first PodClique is handed the new template, none says that it is behind.
    return f"{updated} of {total} pods have the new template; {why}" if updated < total else why


def _counted(found: PodCliqueSet, cliques: Sequence[PodClique]) -> tuple[int, int]:
    """A PodClique whose turn has not come counts its pods by the template that it has itself.

    The hash of the set moves only when all that may have the new templates has them.
    """
    status, progress = found.status, found.status.update_progress
    target = progress.pod_clique_set_generation_hash if progress and _is_open(found) else ""
    wanted = target or status.current_generation_hash
    reached = (one for one in cliques if wanted in _generations(one))
    return sum(map(updated_pods, reached)), wanted_pods(cliques)


def _generations(clique: PodClique) -> Iterator[str]:
    yield clique.status.current_pod_clique_set_generation_hash
    if clique.status.update_progress is not None:
        yield clique.status.update_progress.pod_clique_set_generation_hash


def _left_to_people(found: PodCliqueSet, cliques: Sequence[PodClique]) -> Report:
    for one in cliques:
        if not _has_counted(one):
            return _waits(f"PodClique {one.metadata.name} has yet to count its pods")
    name = found.metadata.name
    behind = [one for one in cliques if has_outdated_pods(one)]
    if not behind:
        return Report(Verdict.DONE, f"{name}: {summed_up(cliques)}")
    counted = f"{sum(map(updated_pods, cliques))} of {wanted_pods(cliques)}"
    text = f"{name}: {counted} pods have the current template; OnDelete leaves the rest"
    named = [_behind(one) for one in behind[:MOST_NAMED]]
    if len(behind) > MOST_NAMED:
        named.append(f"and {len(behind) - MOST_NAMED} more PodCliques")
    return Report(Verdict.DONE, text, tuple(named))


def _has_counted(clique: PodClique) -> bool:
    """Whether its status is about the template that it bears: labels move no generation."""
    status, bears = clique.status, clique.metadata.labels.get(POD_TEMPLATE_HASH, "")
    progress = status.update_progress
    told = progress.pod_template_hash if progress else status.current_pod_template_hash
    if (status.observed_generation or 0) < clique.metadata.generation:
        return False
    return told in ("", bears) or HASH_ALIASES in clique.metadata.annotations


def _behind(clique: PodClique) -> str:
    """How many, and how to find those that are not, where a label alone can tell."""
    counted = f"{clique.metadata.name}: {updated_pods(clique)} of {clique.spec.replicas}"
    if HASH_ALIASES in clique.metadata.annotations:
        return counted
    current = clique.metadata.labels.get(POD_TEMPLATE_HASH, "")
    selector = f"{POD_CLIQUE}={clique.metadata.name},{POD_TEMPLATE_HASH}!={current}"
    return f"{counted}; the others: kubectl -n {clique.metadata.namespace} get pods -l '{selector}'"


def _settled(
    found: PodCliqueSet, cliques: Sequence[PodClique], groups: Sequence[PodCliqueScalingGroup]
) -> Report:
    wanted, status = found.spec.replicas, found.status
    if min(status.updated_replicas, status.available_replicas) < wanted:
        counted = f"{status.available_replicas} of {wanted} replicas are available"
        return _waits(_said(found, READY) or counted)
    if lacking := waits_for(cliques, groups):
        return _waits(lacking)
    return Report(Verdict.DONE, f"{found.metadata.name}: {summed_up(cliques)}")


def _said(found: PodCliqueSet, kind: str) -> str:
    told = find(found.status.conditions, kind)
    return told.message if told is not None else ""


def _worded(condition: Condition) -> str:
    return f"{condition.reason}: {condition.message}" if condition.message else condition.reason


def _waits(text: str) -> Report:
    return Report(Verdict.WAITS, text)
