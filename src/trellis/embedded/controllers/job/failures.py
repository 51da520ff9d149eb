# SPDX-License-Identifier: Apache-2.0
"""Pods that failed: what the Job's policy says of them, and how long to wait after. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trellis.embedded.controllers.kinds import ContainerStatus, Job, Json, Pod

LONGEST_SECONDS = 600.0
_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class Match:
    """What the policy does with a failed pod; `message` is why the whole Job is to fail."""

    action: str = "Count"
    message: str = ""

    @property
    def counted(self) -> bool:
        return self.action != "Ignore"


@dataclass(frozen=True, slots=True)
class Record:
    """Failures since the last success, for the pause before the next pod."""

    failures: int = 0
    last: datetime | None = None


NO_FAILURES = Record()


def has_failed(pod: Pod, job: Job) -> bool:
    if pod.status.phase == "Failed":
        return True
    if job.spec.pod_replacement_policy == "Failed":
        return False
    # One that is deleted may never come to say how it ended.
    return pod.metadata.deleting and pod.status.phase != "Succeeded"


def match(job: Job, pod: Pod) -> Match:
    """The first rule that fits the pod decides."""
    for number, rule in enumerate(job.spec.pod_failure_policy.get("rules") or ()):
        why = _fits(rule, pod)
        if why:
            key = pod.metadata.key
            action = rule["action"]
            return Match(action, why.format(pod=key, rule=f"{action} rule at index {number}"))
    return Match()


def _fits(rule: Json, pod: Pod) -> str:
    if codes := rule.get("onExitCodes"):
        status = pod.status
        for container in (*status.container_statuses, *status.init_container_statuses):
            if _exited_so(codes, container):
                ended = container.state.terminated
                code = ended.exit_code if ended else 0
                return (
                    f"Container {container.name} for pod {{pod}} failed with exit code {code} "
                    "matching {rule}"
                )
        return ""
    patterns = [(one["type"], one.get("status")) for one in rule.get("onPodConditions") or ()]
    for condition in pod.status.conditions:
        if (condition.type, condition.status) in patterns:
            return f"Pod {{pod}} has condition {condition.type} matching {{rule}}"
    return ""


def _exited_so(codes: Json, container: ContainerStatus) -> bool:
    ended = container.state.terminated
    if ended is None or ended.exit_code == 0:
        return False
    if codes.get("containerName") not in {None, container.name}:
        return False
    return (ended.exit_code in codes["values"]) is (codes["operator"] == "In")


def finished_at(pod: Pod) -> datetime:
    """When it ended, as well as anybody can tell."""
    ends = [one.state.terminated for one in pod.status.container_statuses]
    times = [end.finished_at for end in ends if end is not None and end.finished_at is not None]
    if times and len(times) == len(ends):
        return max(times)
    ready = pod.condition("Ready")
    if ready is not None and ready.status == "False" and ready.last_transition_time is not None:
        return ready.last_transition_time
    return pod.metadata.deletion_timestamp or pod.metadata.creation_timestamp or _EPOCH


def recorded(record: Record, succeeded: Sequence[Pod], failed: Sequence[Pod]) -> Record:
    """The record with pods that ended since."""
    if not succeeded:
        last = max(map(finished_at, failed), default=record.last)
        return Record(record.failures + len(failed), last)
    success = max(map(finished_at, succeeded))
    later = [time for time in map(finished_at, failed) if time > success]
    return Record(len(later), max(later, default=None))


def pause(record: Record, base: float, now: datetime) -> float:
    """Seconds to wait before the next pod is made."""
    if not record.failures or record.last is None:
        return 0.0
    whole = min(LONGEST_SECONDS, base * 2.0 ** min(record.failures - 1, 30))
    return max(0.0, whole - max(0.0, (now - record.last).total_seconds()))


def restarts(pods: Iterable[Pod]) -> int:
    """How often containers of pods that still run were started again."""
    return sum(
        container.restart_count
        for pod in pods
        if pod.status.phase in {"Running", "Pending"}
        for container in (*pod.status.container_statuses, *pod.status.init_container_statuses)
    )
