# SPDX-License-Identifier: Apache-2.0
"""The row of a pod: how many of its containers are ready, and its state in one word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.embedded.wire.printing.ages import parsed, since

if TYPE_CHECKING:
    from datetime import datetime

Object = dict[str, Any]
NONE = "<none>"
_LOST = "NodeLost"


@dataclass(slots=True)
class _Tally:
    """What is counted over containers; `last` is when one was last restarted."""

    reason: str
    ready: int = 0
    restarts: int = 0
    last: str = ""

    def count(self, status: Object) -> None:
        self.restarts += status.get("restartCount", 0)
        ended = (status.get("lastState") or {}).get("terminated") or {}
        at = ended.get("finishedAt") or ""
        if at and (not self.last or _later(at, self.last)):
            self.last = at


def _later(one: str, other: str) -> bool:
    first, second = parsed(one), parsed(other)
    return first is not None and second is not None and first > second


def cells(pod: Object, now: datetime) -> list[Any]:
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    meta = pod["metadata"]
    conditions = status.get("conditions") or []
    tally = _Tally(_start(status, conditions))
    sidecars = {each["name"] for each in spec.get("initContainers") or () if _restartable(each)}
    initializing = _initial(status, spec, sidecars, tally)
    if not initializing or _holds(conditions, "Initialized"):
        kept = _Tally(tally.reason, tally.ready)
        for each in status.get("initContainerStatuses") or ():
            if each.get("name") in sidecars:
                kept.count(each)
        tally = kept
        _containers(status, conditions, tally)
    if meta.get("deletionTimestamp"):
        tally.reason = _ending(status, tally.reason)
    restarts = str(tally.restarts)
    if tally.restarts and tally.last:
        restarts = f"{restarts} ({since(tally.last, now)} ago)"
    total = len(spec.get("containers") or ()) + len(sidecars)
    addresses = status.get("podIPs") or [{}]
    return [
        meta.get("name", ""),
        f"{tally.ready}/{total}",
        tally.reason,
        restarts,
        since(meta.get("creationTimestamp"), now),
        addresses[0].get("ip") or NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _gates(spec.get("readinessGates") or [], conditions),
    ]


def conditions(pod: Object) -> list[Object] | None:
    """What a row says beside its cells: that the pod has ended."""
    phase = (pod.get("status") or {}).get("phase")
    said = {
        "Succeeded": "The pod has completed successfully.",
        "Failed": "The pod failed.",
    }.get(phase or "")
    if said is None:
        return None
    return [{"type": "Completed", "status": "True", "reason": phase, "message": said}]


def _start(status: Object, conditions: list[Object]) -> str:
    for each in conditions:
        if each.get("type") == "PodScheduled" and each.get("reason") == "SchedulingGated":
            return "SchedulingGated"
    return status.get("reason") or status.get("phase") or ""


def _ending(status: Object, reason: str) -> str:
    if status.get("reason") == _LOST:
        return "Unknown"
    return reason if status.get("phase") in ("Succeeded", "Failed") else "Terminating"


def _initial(status: Object, spec: Object, sidecars: set[str], tally: _Tally) -> bool:
    """Whether the pod still is at, or failed at, one of its init containers."""
    for place, each in enumerate(status.get("initContainerStatuses") or ()):
        tally.count(each)
        state = each.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting") or {}
        if ended is not None and ended.get("exitCode", 0) == 0:
            continue
        if each.get("name") in sidecars and each.get("started"):
            tally.ready += bool(each.get("ready"))
            continue
        if ended is not None:
            tally.reason = f"Init:{_ended(ended)}"
        elif waiting.get("reason") not in (None, "", "PodInitializing"):
            tally.reason = f"Init:{waiting['reason']}"
        else:
            tally.reason = f"Init:{place}/{len(spec.get('initContainers') or ())}"
        return True
    return False


def _containers(status: Object, conditions: list[Object], tally: _Tally) -> None:
    running, failure = False, ""
    for each in reversed(status.get("containerStatuses") or ()):
        tally.count(each)
        state = each.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting") or {}
        if waiting.get("reason"):
            tally.reason = waiting["reason"]
        elif ended is not None:
            tally.reason = _ended(ended)
            if ended.get("exitCode", 0):
                failure = tally.reason
        elif each.get("ready") and state.get("running") is not None:
            running = True
            tally.ready += 1
    if tally.reason == "Completed":
        tally.reason = _after_completion(running, failure, conditions)


def _after_completion(running: bool, failure: str, conditions: list[Object]) -> str:
    """One container has completed: the others decide what the pod is."""
    if running and _holds(conditions, "Ready"):
        return "Running"
    return failure or ("NotReady" if running else "Completed")


def _ended(ended: Object) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    if ended.get("signal"):
        return f"Signal:{ended['signal']}"
    return f"ExitCode:{ended.get('exitCode', 0)}"


def _restartable(container: Object) -> bool:
    return container.get("restartPolicy") == "Always"


def _holds(conditions: list[Object], kind: str) -> bool:
    return next((c.get("status") == "True" for c in conditions if c.get("type") == kind), False)


def _gates(gates: list[Object], conditions: list[Object]) -> str:
    if not gates:
        return NONE
    held = sum(_holds(conditions, gate.get("conditionType", "")) for gate in gates)
    return f"{held}/{len(gates)}"
