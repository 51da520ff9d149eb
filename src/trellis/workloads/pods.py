# SPDX-License-Identifier: Apache-2.0
"""How a pod is, in the words that workload controllers decide by. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api import conditions
from trellis.api.core.pod import (
    FAILED,
    READY,
    SCHEDULED,
    SUCCEEDED,
    UNSCHEDULABLE,
    Pod,
)
from trellis.api.labels import GANG_GATE, POD_TEMPLATE_HASH

if TYPE_CHECKING:
    from trellis.api.core.pod import ContainerStatus


def is_leaving(pod: Pod) -> bool:
    """Whether it is being deleted, however long that takes."""
    return pod.metadata.deleting


def has_failed(pod: Pod) -> bool:
    """Whether it will never run again, and not because its work is done: crashed, evicted, lost."""
    return pod.status.phase == FAILED


def has_succeeded(pod: Pod) -> bool:
    return pod.status.phase == SUCCEEDED


def is_live(pod: Pod) -> bool:
    """Whether it holds its index: neither leaving nor failed. What has succeeded holds it too."""
    return not is_leaving(pod) and not has_failed(pod)


def is_controlled_by(pod: Pod, uid: str) -> bool:
    """Whether it is the pod of that object. Those that only name it as one of several owners are
    somebody else's."""
    # A plain loop: this is asked of every pod in every run.
    for reference in pod.metadata.owner_references:
        if reference.controller:
            return reference.uid == uid
    return False


def is_scheduled(pod: Pod) -> bool:
    """Whether it has a node, by its name or by the word of the scheduler."""
    return bool(pod.spec.node_name) or conditions.is_true(pod.status.conditions, SCHEDULED)


def has_no_room(pod: Pod) -> bool:
    """Whether the scheduler says that it has looked for a node, and found none."""
    told = conditions.find(pod.status.conditions, SCHEDULED)
    return told is not None and told.reason == UNSCHEDULABLE


def is_ready(pod: Pod) -> bool:
    return conditions.is_true(pod.status.conditions, READY)


def is_up(pod: Pod) -> bool:
    """Whether it is Ready, and will be for a while."""
    return is_live(pod) and is_ready(pod)


def is_outdated(pod: Pod, current: frozenset[str]) -> bool:
    """Whether its template is none of these, among which nothing may be one: that it says none."""
    return pod.metadata.labels.get(POD_TEMPLATE_HASH, "") not in current


def is_gated(pod: Pod) -> bool:
    """Whether our own gate holds it back. Those of users are theirs to lift."""
    return GANG_GATE in pod.gates


def is_held_back(pod: Pod) -> bool:
    """Whether any gate does."""
    return bool(pod.gates)


def is_broken(pod: Pod) -> bool:
    """Whether it has a node and yet is of no use: it crashed, or lost its readiness.

    One that is still starting is not broken.
    """
    if is_ready(pod):
        return False
    crashed = any(code != 0 for code in pod.last_exit_codes)
    return crashed or any(_is_up_and_not_ready(one) for one in pod.status.container_statuses)


def is_well(pod: Pod) -> bool:
    """Whether it is of use to its clique, or is about to be."""
    return is_live(pod) and is_scheduled(pod) and not is_broken(pod)


def _is_up_and_not_ready(status: ContainerStatus) -> bool:
    return bool(status.started) and not status.ready
