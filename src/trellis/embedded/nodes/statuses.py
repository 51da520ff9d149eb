# SPDX-License-Identifier: Apache-2.0
"""The status of a pod as a kubelet writes it, from what has happened in it. Pure.

Only what a kubelet owns is in it: conditions of others, the QoS class and claims stay theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.api.conditions import Status, is_true
from trellis.api.core.pod import FAILED, SUCCEEDED
from trellis.embedded.nodes import chance
from trellis.embedded.nodes.life import initialized, phase, ready

if TYPE_CHECKING:
    from trellis.embedded.nodes.course import Course, Ended
    from trellis.embedded.nodes.life import Life, Part, Script
    from trellis.embedded.nodes.pods import Container, KubeletPod

SANDBOX = "PodReadyToStartContainers"
INITIALIZED = "Initialized"
CONTAINERS_READY = "ContainersReady"
READY = "Ready"
OWNED = (SANDBOX, INITIALIZED, READY, CONTAINERS_READY)
BAD_CONFIG = "CreateContainerConfigError"

Json = dict[str, Any]
Since = dict[str, tuple[str, str]]
"""Of each condition its status, and since when it has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a pod runs."""

    host_ip: str
    pod_ip: str


@dataclass(frozen=True, slots=True)
class _Finding:
    type: str
    holds: bool
    reason: str = ""
    message: str = ""


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def rendered(
    pod: KubeletPod, script: Script, life: Life, place: Place, now: float
) -> tuple[Json, list[_Finding]]:
    """Everything but the conditions, and what those say."""
    stage = phase(script, life)
    inits = [
        _container(pod, container, part, course, _Moment(life, now, initial=True))
        for container, part, course in zip(
            pod.spec.init_containers, script.inits, life.inits, strict=True
        )
    ]
    begun = initialized(script, life)
    mains = [
        _container(pod, container, part, course, _Moment(life, now, waits_for_inits=not begun))
        for container, part, course in zip(
            pod.spec.containers, script.mains, life.mains, strict=True
        )
    ]
    status: Json = {
        "observedGeneration": pod.metadata.generation,
        "phase": stage,
        "startTime": stamp(life.accepted),
        "hostIP": place.host_ip,
        "hostIPs": [{"ip": place.host_ip}],
        "containerStatuses": mains,
    }
    if inits:
        status["initContainerStatuses"] = inits
    if now >= life.pulled:
        status |= {"podIP": place.pod_ip, "podIPs": [{"ip": place.pod_ip}]}
    return status, _findings(pod, script, life, now)


def refused(pod: KubeletPod, now: float, message: str) -> Json:
    """Of a pod whose annotations cannot be followed."""
    waiting = {"waiting": {"reason": BAD_CONFIG, "message": message}}
    return {
        "phase": "Pending",
        "startTime": stamp(now),
        "containerStatuses": [
            {
                "name": one.name,
                "image": one.image,
                "imageID": "",
                "ready": False,
                "started": False,
                "restartCount": 0,
                "state": waiting,
            }
            for one in pod.spec.containers
        ],
    }


def conditions(findings: list[_Finding], before: Since, now: float) -> tuple[list[Json], Since]:
    """As they are written; those whose status stays keep the time since when it holds."""
    since: Since = {}
    written = []
    for finding in findings:
        status = Status.of(finding.holds).value
        known = before.get(finding.type)
        moved = known[1] if known and known[0] == status else stamp(now)
        since[finding.type] = (status, moved)
        entry: Json = {"type": finding.type, "status": status, "lastTransitionTime": moved}
        for name, text in (("reason", finding.reason), ("message", finding.message)):
            if text or known:
                # Nothing, so that what was said before is not left standing.
                entry[name] = text or None
        written.append(entry)
    return written, since


def fingerprint(status: Json) -> bytes:
    """What a status says, in few bytes: equal for two that leave the same in the API."""
    said = [
        {name: value for name, value in one.items() if value is not None}
        for one in status["conditions"]
    ]
    content = msgspec.json.encode({**status, "conditions": said})
    return blake2b(content, digest_size=16).digest()


def unheard(now: float) -> list[Json]:
    """What the node controller writes about a pod whose node is not heard of any more."""
    at = stamp(now)
    return [{"type": READY, "status": "False", "lastTransitionTime": at}]


def _findings(pod: KubeletPod, script: Script, life: Life, now: float) -> list[_Finding]:
    stage = phase(script, life)
    over = stage in (SUCCEEDED, FAILED)
    completed = "PodCompleted" if stage == SUCCEEDED else "PodFailed" if over else ""
    begun = initialized(script, life)
    pending = [
        part.name
        for part, course in zip(script.inits, life.inits, strict=True)
        if not course.succeeded and not (part.sidecar and course.runs)
    ]
    unready = [
        part.name
        for part, course in zip(script.mains, life.mains, strict=True)
        if not ready(part, course, now)
    ]
    all_ready = begun and not unready and not over
    why = completed or ("" if all_ready else "ContainersNotReady")
    said = "" if all_ready or over else f"containers with unready status: [{' '.join(unready)}]"
    gates = [
        gate.condition_type
        for gate in pod.spec.readiness_gates
        if not is_true(pod.status.conditions, gate.condition_type)
    ]
    well = _Finding(READY, holds=all_ready, reason=why, message=said)
    if all_ready and gates:
        missing = f"the status of pod readiness gate {gates[0]!r} is not True"
        well = _Finding(READY, holds=False, reason="ReadinessGatesNotReady", message=missing)
    not_begun = f"containers with incomplete status: [{' '.join(pending)}]"
    return [
        _Finding(SANDBOX, holds=now >= life.pulled and not over),
        _Finding(INITIALIZED, holds=True, reason=completed if stage == SUCCEEDED else "")
        if begun
        else _Finding(INITIALIZED, False, "ContainersNotInitialized", not_begun),
        well,
        _Finding(CONTAINERS_READY, holds=all_ready, reason=why, message=said),
    ]


@dataclass(frozen=True, slots=True)
class _Moment:
    life: Life
    now: float
    initial: bool = False
    waits_for_inits: bool = False


def _container(
    pod: KubeletPod, container: Container, part: Part, course: Course, moment: _Moment
) -> Json:
    uid = pod.metadata.uid
    identity = f"containerd://{_identity(uid, part.name, course.restarts)}"
    completed_init = moment.initial and not part.sidecar and course.succeeded
    status: Json = {
        "name": part.name,
        "image": container.image,
        "imageID": "" if course.fresh else f"sha256:{_identity(container.image)}",
        "restartCount": course.restarts,
        "started": course.runs,
        "ready": completed_init or ready(part, course, moment.now),
        "state": _state(pod, part, course, identity, moment),
    }
    if not course.fresh:
        status["containerID"] = identity
    if course.last is not None:
        before = f"containerd://{_identity(uid, part.name, course.restarts - course.runs)}"
        status["lastState"] = {"terminated": _terminated(course.last, before)}
    return status


def _state(pod: KubeletPod, part: Part, course: Course, identity: str, moment: _Moment) -> Json:
    if course.started is not None:
        return {"running": {"startedAt": stamp(course.started)}}
    if course.ended is not None:
        return {"terminated": _terminated(course.ended, identity)}
    if course.last is not None and course.backoff:
        where = f"{pod.metadata.name}_{pod.metadata.namespace}({pod.metadata.uid})"
        message = (
            f"back-off {course.backoff:.0f}s restarting failed container={part.name} pod={where}"
        )
        return {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
    initializing = moment.waits_for_inits or moment.initial
    has_inits = bool(pod.spec.init_containers)
    reason = "PodInitializing" if initializing and has_inits else "ContainerCreating"
    return {"waiting": {"reason": reason}}


def _terminated(end: Ended, identity: str) -> Json:
    return {
        "exitCode": end.exit_code,
        "reason": end.reason,
        "startedAt": stamp(end.started),
        "finishedAt": stamp(end.finished),
        "containerID": identity,
    }


def _identity(*words: object) -> str:
    return chance.digest(*(str(word) for word in words))
