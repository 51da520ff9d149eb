# SPDX-License-Identifier: Apache-2.0
"""What has happened in a pod that runs already when the simulator starts, from its status. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.nodes.course import FRESH, Course, Ended
from trellis.embedded.nodes.life import Life
from trellis.embedded.nodes.statuses import OWNED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from trellis.embedded.nodes.life import Part, Script
    from trellis.embedded.nodes.pods import ContainerStatus, KubeletPod, Terminated
    from trellis.embedded.nodes.statuses import Json, Since


def began(pod: KubeletPod) -> bool:
    """Whether a kubelet has taken it before."""
    return pod.status.start_time is not None and bool(pod.status.container_statuses)


def recovered(pod: KubeletPod, script: Script, now: float) -> Life:
    """Containers that run go on since when they began; others are where they were."""
    status = pod.status
    accepted = _seconds(status.start_time, now)
    return Life(
        accepted=accepted,
        pulled=accepted if status.pod_ip else now,
        inits=_courses(script.inits, status.init_container_statuses, now),
        mains=_courses(script.mains, status.container_statuses, now),
    )


def since(pod: KubeletPod) -> Since:
    return {
        one.type: (one.status, one.last_transition_time.strftime("%Y-%m-%dT%H:%M:%SZ"))
        for one in pod.status.conditions
        if one.type in OWNED and one.last_transition_time is not None
    }


def agrees(pod: KubeletPod, status: Json) -> bool:
    """Whether the API has already what that status says, so that it need not be written again."""
    found = pod.status
    held = {one.type: one.status for one in found.conditions}
    return (
        (found.phase, found.pod_ip) == (status["phase"], status.get("podIP", ""))
        and all(held.get(one["type"]) == one["status"] for one in status["conditions"])
        and _outlines(found.container_statuses)
        == [_outline(one) for one in status["containerStatuses"]]
        and _outlines(found.init_container_statuses)
        == [_outline(one) for one in status.get("initContainerStatuses", [])]
    )


def _outlines(statuses: Sequence[ContainerStatus]) -> list[tuple[str, int, str]]:
    return [
        (
            one.name,
            one.restart_count,
            "running" if one.state.running else "terminated" if one.state.terminated else "waiting",
        )
        for one in statuses
    ]


def _outline(status: Json) -> tuple[str, int, str]:
    return status["name"], status["restartCount"], next(iter(status["state"]))


def _courses(
    parts: Sequence[Part], statuses: Sequence[ContainerStatus], now: float
) -> tuple[Course, ...]:
    found = {status.name: status for status in statuses}
    return tuple(_course(found.get(part.name), now) for part in parts)


def _course(status: ContainerStatus | None, now: float) -> Course:
    if status is None:
        return FRESH
    count = status.restart_count
    last = _ended(status.last_state.terminated, now)
    if status.state.running is not None:
        started = _seconds(status.state.running.started_at, now)
        return Course(started=started, last=last, restarts=count, quick=count)
    if status.state.terminated is not None:
        end = _ended(status.state.terminated, now)
        return Course(ended=end, last=last, restarts=count, quick=count)
    again = now if last is not None else None
    return Course(last=last, again_at=again, restarts=count, quick=count)


def _ended(end: Terminated | None, now: float) -> Ended | None:
    if end is None:
        return None
    finished = _seconds(end.finished_at, now)
    return Ended(end.exit_code, end.reason, _seconds(end.started_at, finished), finished)


def _seconds(moment: datetime | None, otherwise: float) -> float:
    return moment.timestamp() if moment is not None else otherwise
