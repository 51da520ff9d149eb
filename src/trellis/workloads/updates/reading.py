# SPDX-License-Identifier: Apache-2.0
"""What the planner looks at, read from sets, templates and pods. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from trellis.api import conditions, durations
from trellis.api.annotation import SETTLE_TIME
from trellis.api.core.pod import PENDING, READY, RUNNING
from trellis.api.grove.updates import ROLLING_RECREATE
from trellis.api.labels import POD_TEMPLATE_HASH
from trellis.workloads.pods import (
    has_failed,
    has_no_room,
    has_succeeded,
    is_leaving,
    is_outdated,
    is_ready,
)
from trellis.workloads.updates.facts import PodFacts
from trellis.workloads.updates.state import Budget

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.api.core.pod import Pod
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.grove.updates import RollingUpdate
    from trellis.workloads.ledger import Listed

_MICROSECONDS = 1000


def strategy_of(found: PodCliqueSet) -> str:
    chosen = found.spec.update_strategy
    return chosen.type if chosen is not None else ROLLING_RECREATE


def rolls(found: PodCliqueSet) -> bool:
    """Whether what is outdated is renewed by us."""
    return strategy_of(found) == ROLLING_RECREATE


def budget(found: PodCliqueSet, rolling: RollingUpdate | None) -> Budget:
    """`rolling` is what the template says of the clique or scaling group, if anything."""
    most = rolling.max_unavailable if rolling is not None else None
    deadline = _duration(rolling.progress_deadline) if rolling is not None else None
    return Budget(
        max_unavailable=1 if most is None else most,
        progress_deadline=deadline,
        settle=_duration(found.metadata.annotations.get(SETTLE_TIME, "")) or timedelta(),
    )


def pods_listed(entries: Listed, pods: Mapping[str, Pod]) -> tuple[PodFacts, ...]:
    """One for each entry of a ledger, be its pod there or not."""
    return tuple(_facts(index, name, pods.get(name)) for index, name in entries.items())


def has_outdated(entries: Listed, pods: Mapping[str, Pod], current: frozenset[str]) -> bool:
    """Whether a listed pod is of none of these templates."""
    found = (pods.get(name) for name in entries.values())
    return any(
        pod is not None and not is_leaving(pod) and is_outdated(pod, current) for pod in found
    )


def _facts(index: int, name: str, pod: Pod | None) -> PodFacts:
    if pod is None:
        return PodFacts(index=index, name=name, exists=False)
    ready = conditions.find(pod.status.conditions, READY)
    return PodFacts(
        index=index,
        name=name,
        template=pod.metadata.labels.get(POD_TEMPLATE_HASH, ""),
        created=pod.metadata.creation_timestamp,
        ready=is_ready(pod),
        # Nobody can tell whether what runs has been Ready; believing it costs the grace at most.
        was_ready=pod.status.phase == RUNNING,
        since=ready.last_transition_time if ready is not None else None,
        pending=pod.status.phase == PENDING,
        roomless=has_no_room(pod),
        leaving=is_leaving(pod),
        failed=has_failed(pod),
        succeeded=has_succeeded(pod),
    )


def _duration(text: str) -> timedelta | None:
    """None: it says none, or nothing that can be read."""
    try:
        nanoseconds = durations.parse(text) if text else 0
    except durations.InvalidDuration:
        return None
    return timedelta(microseconds=nanoseconds // _MICROSECONDS) if nanoseconds > 0 else None
