# SPDX-License-Identifier: Apache-2.0
"""How a Deployment stands: counters of its ReplicaSets, whether it is available, how it gets on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.controllers import conditions
from trellis.embedded.controllers.apps.rollout import fence

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.embedded.controllers.apps.rollout import Sets
    from trellis.embedded.controllers.kinds import Deployment, Json

AVAILABLE, PROGRESSING, FAILURE = "Available", "Progressing", "ReplicaFailure"
_DONE, _GOING, _LATE = "NewReplicaSetAvailable", "ReplicaSetUpdated", "ProgressDeadlineExceeded"
# What stands for "no deadline".
_NEVER = 2**31 - 1


def status(found: Deployment, sets: Sets, now: datetime) -> Json:
    new = _counters(found, sets)
    known = list(found.status.get("conditions") or ())
    known = _put(known, _availability(found, new), now)
    progress = _progress(found, sets, new, now)
    if progress is not None:
        known = _put(known, progress, now, refresh=progress["reason"] == _GOING)
    known = _failures(known, sets)
    kept = {"collisionCount": found.status.get("collisionCount")}
    return {**new, "conditions": known, **{k: v for k, v in kept.items() if v is not None}}


def seconds_until_late(found: Deployment, new: Json, now: datetime) -> float | None:
    """Until it is to be said that it does not get on."""
    going = conditions.find(new["conditions"], PROGRESSING)
    if going is None or going["reason"] in {_DONE, _LATE}:
        return None
    if found.spec.progress_deadline_seconds >= _NEVER:
        return None
    since = (now - conditions.read(going["lastUpdateTime"])).total_seconds()
    return max(0.0, found.spec.progress_deadline_seconds - since) + 1.0


def _counters(found: Deployment, sets: Sets) -> Json:
    def total(name: str) -> int:
        return sum(one.status.get(name, 0) for one in sets.all)

    available = total("availableReplicas")
    counts = {
        "replicas": total("replicas"),
        "updatedReplicas": sets.new.status.get("replicas", 0) if sets.new else 0,
        "readyReplicas": total("readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(0, sum(one.spec.replicas for one in sets.all) - available),
    }
    return {
        **{name: count for name, count in counts.items() if count},
        "observedGeneration": found.metadata.generation,
        "terminatingReplicas": total("terminatingReplicas"),
    }


def _availability(found: Deployment, new: Json) -> Json:
    _, missing = fence(found)
    if new.get("availableReplicas", 0) >= found.spec.replicas - missing:
        return _condition(
            AVAILABLE, "True", "MinimumReplicasAvailable", "Deployment has minimum availability."
        )
    message = "Deployment does not have minimum availability."
    return _condition(AVAILABLE, "False", "MinimumReplicasUnavailable", message)


def _progress(found: Deployment, sets: Sets, new: Json, now: datetime) -> Json | None:
    """None: nothing new to be said."""
    before = conditions.find(found.status.get("conditions") or (), PROGRESSING)
    name = f'ReplicaSet "{sets.new.metadata.name}"' if sets.new else "Deployment"
    settled = new.get("replicas", 0) == new.get("updatedReplicas", 0)
    if found.spec.paused or (settled and before is not None and before["reason"] == _DONE):
        return None
    wanted = found.spec.replicas
    counters = ("updatedReplicas", "replicas", "availableReplicas")
    if all(new.get(one, 0) == wanted for one in counters):
        return _condition(PROGRESSING, "True", _DONE, f"{name} has successfully progressed.")
    if before is None:
        return _condition(
            PROGRESSING,
            "True",
            "NewReplicaSetCreated",
            f'Created new replica set "{sets.new.metadata.name}"' if sets.new else "",
        )
    if _moved(found.status, new):
        return _condition(PROGRESSING, "True", _GOING, f"{name} is progressing.")
    since = (now - conditions.read(before["lastUpdateTime"])).total_seconds()
    if before["reason"] not in {_DONE, _LATE} and since > found.spec.progress_deadline_seconds:
        return _condition(PROGRESSING, "False", _LATE, f"{name} has timed out progressing.")
    return None


def _moved(old: Json, new: Json) -> bool:
    def count(status: Json, name: str) -> int:
        return int(status.get(name, 0))

    def outdated(status: Json) -> int:
        return count(status, "replicas") - count(status, "updatedReplicas")

    grown = ("updatedReplicas", "readyReplicas", "availableReplicas")
    return outdated(new) < outdated(old) or any(
        count(new, name) > count(old, name) for name in grown
    )


def _failures(known: list[Json], sets: Sets) -> list[Json]:
    """What keeps a ReplicaSet from making pods is the Deployment's trouble too."""
    found = [
        failure
        for one in (sets.new, *sets.old)
        if one is not None
        and (failure := conditions.find(one.status.get("conditions") or (), FAILURE))
    ]
    rest = conditions.without(known, FAILURE)
    if not found:
        return rest
    time = found[0]["lastTransitionTime"]
    return [*rest, {**found[0], "lastUpdateTime": time}]


def _condition(kind: str, held: str, reason: str, message: str) -> Json:
    return {"type": kind, "status": held, "reason": reason, "message": message}


def _put(known: list[Json], new: Json, now: datetime, *, refresh: bool = False) -> list[Json]:
    """One that says the same as before keeps its times, unless it is to be refreshed."""
    old = conditions.find(known, new["type"])
    same = old is not None and (old["status"], old["reason"]) == (new["status"], new["reason"])
    if same and not refresh:
        return known
    return conditions.put(known, {**new, "lastUpdateTime": conditions.written(now)}, now)
