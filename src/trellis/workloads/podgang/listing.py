# SPDX-License-Identifier: Apache-2.0
"""The next ledger of a PodClique: which name each index is to have. Pure.

Names follow from what there is alone, so that two who look at the same decide the same. A name
stays while its pod lives, and while there is none: then it is made. It is replaced when its pod is
leaving or has failed, when it is no pod of that PodClique, and when the gang is made anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api.annotation import AFTER_DEPARTURE
from trellis.workloads.failures import replaced_at
from trellis.workloads.ledger import next_name, pod_index
from trellis.workloads.podgang.victims import victims
from trellis.workloads.pods import is_leaving, is_live, is_ready, is_scheduled

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from trellis.api.core.pod import Pod
    from trellis.workloads.ledger import Listed
    from trellis.workloads.podgang.state import Part


@dataclass(frozen=True, slots=True)
class Listing:
    """`due`: when a failed pod is to be replaced that is not yet, if there is one."""

    entries: Listed
    due: datetime | None = None


def next_listing(part: Part, now: datetime, *, anew: bool = False) -> Listing:
    """`anew`: whatever lives is replaced as well."""
    known = part.listed if part.listed is not None else _living(part)
    entries = dict(known)
    due: datetime | None = None
    for index, name in known.items():
        pod = part.pods.get(name)
        if anew or name in part.taken or (pod is None and name in part.gone):
            entries[index] = _fresh(part, index, name)
        elif pod is not None and not is_live(pod):
            at = _replaced_at(part, pod, now)
            if at is None:
                continue
            if at <= now:
                entries[index] = _fresh(part, index, name)
            else:
                due = min(due or at, at)
    return Listing(_scaled(part, entries), due)


def renewed(part: Part, listing: Listing, indices: Collection[int]) -> Listing:
    """The same with new names for these indices. What has a new name anyway keeps it."""
    entries = {
        index: _fresh(part, index, name) if index in indices and name in part.pods else name
        for index, name in listing.entries.items()
    }
    return Listing(entries, listing.due)


def _replaced_at(part: Part, pod: Pod, now: datetime) -> datetime | None:
    """When the name of a pod that is leaving or has failed is replaced. None: when it is gone."""
    if not is_leaving(pod):
        return replaced_at(pod, now, part.failed_for.get(pod.metadata.name))
    waits = part.clique.metadata.annotations.get(AFTER_DEPARTURE) == "true"
    return None if waits else now


def _scaled(part: Part, entries: dict[int, str]) -> Listed:
    surplus = len(entries) - part.replicas
    if surplus > 0:
        for index in victims(part, entries, surplus):
            del entries[index]
        return entries
    index = 0
    while len(entries) < part.replicas:
        if index not in entries:
            entries[index] = _fresh(part, index)
        index += 1
    return dict(sorted(entries.items())) if surplus < 0 else entries


def _living(part: Part) -> Listed:
    """What lives of a PodClique that no ledger of ours lists: one pod an index, the best of them.

    So the pods of another operator are taken over, and those of a gang that somebody deleted.
    """
    uid = part.clique.metadata.uid
    found: dict[int, Pod] = {}
    for pod in part.pods.values():
        index, controller = pod_index(pod), pod.metadata.controller
        if index is None or not is_live(pod) or controller is None or controller.uid != uid:
            continue
        holder = found.get(index)
        if holder is None or _worth(pod) > _worth(holder):
            found[index] = pod
    return {index: found[index].metadata.name for index in sorted(found)}


def _worth(pod: Pod) -> tuple[object, ...]:
    created = pod.metadata.creation_timestamp
    age = -created.timestamp() if created else 0.0
    return (is_ready(pod), is_scheduled(pod), age, pod.metadata.name)


def _fresh(part: Part, index: int, previous: str = "") -> str:
    """The name after that one, or the first. What a pod still holds is passed over.

    An index that comes back may have a pod that was to go with it and lives: it is kept.
    """
    uid, returns = part.clique.metadata.uid, not previous
    used = {*part.gone, *part.taken}
    while True:
        name = next_name(uid, part.name, index, previous)
        pod = part.pods.get(name)
        free = name not in used if pod is None else returns and is_live(pod)
        if name != previous and free:
            return name
        # More and more goes into it, so that it never comes back to a name that it has been at.
        previous += name
