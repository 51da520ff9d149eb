# SPDX-License-Identifier: Apache-2.0
"""Rows of what runs pods, and of what they need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.wire.printing.ages import human, parsed, since
from trellis.embedded.wire.printing.metrics import targets
from trellis.embedded.wire.printing.values import (
    NONE,
    UNSET,
    Object,
    age,
    at,
    containers,
    holds,
    labels_text,
    name,
    selector_text,
    template,
)

if TYPE_CHECKING:
    from datetime import datetime


def _replicas(obj: Object, now: datetime) -> list[Any]:
    return [
        name(obj),
        at(obj, "spec", "replicas", default=0),
        at(obj, "status", "replicas", default=0),
        at(obj, "status", "readyReplicas", default=0),
        age(obj, now),
        *template(obj),
    ]


def replica_set(obj: Object, now: datetime) -> list[Any]:
    return [*_replicas(obj, now), selector_text(at(obj, "spec", "selector")) or NONE]


def replication_controller(obj: Object, now: datetime) -> list[Any]:
    return [*_replicas(obj, now), labels_text(at(obj, "spec", "selector"))]


def _ready(obj: Object) -> str:
    wanted = at(obj, "spec", "replicas", default=0)
    return f"{at(obj, 'status', 'readyReplicas', default=0)}/{wanted}"


def deployment(obj: Object, now: datetime) -> list[Any]:
    return [
        name(obj),
        _ready(obj),
        at(obj, "status", "updatedReplicas", default=0),
        at(obj, "status", "availableReplicas", default=0),
        age(obj, now),
        *template(obj),
        selector_text(at(obj, "spec", "selector")),
    ]


def stateful_set(obj: Object, now: datetime) -> list[Any]:
    return [name(obj), _ready(obj), age(obj, now), *template(obj)]


def daemon_set(obj: Object, now: datetime) -> list[Any]:
    counted = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    return [
        name(obj),
        *(at(obj, "status", field, default=0) for field in counted),
        labels_text(at(obj, "spec", "template", "spec", "nodeSelector")),
        age(obj, now),
        *template(obj),
        selector_text(at(obj, "spec", "selector")) or NONE,
    ]


def controller_revision(obj: Object, now: datetime) -> list[Any]:
    owner = NONE
    for each in obj["metadata"].get("ownerReferences") or ():
        if each.get("controller"):
            group = each.get("apiVersion", "").rpartition("/")[0]
            kind = f"{each.get('kind', '')}.{group}" if group else each.get("kind", "")
            owner = f"{kind.lower()}/{each.get('name', '')}"
    return [name(obj), owner, obj.get("revision", 0), age(obj, now)]


def job(obj: Object, now: datetime) -> list[Any]:
    return [
        name(obj),
        _job_state(obj),
        _completions(obj),
        _job_duration(obj, now),
        age(obj, now),
        *template(obj),
        selector_text(at(obj, "spec", "selector")) or NONE,
    ]


def _job_state(obj: Object) -> str:
    for kind, word in (("Complete", "Complete"), ("Failed", "Failed")):
        if holds(obj, kind):
            return word
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if holds(obj, kind):
            return kind
    return "Running"


def _completions(obj: Object) -> str:
    done = at(obj, "status", "succeeded", default=0)
    wanted = at(obj, "spec", "completions")
    if wanted is not None:
        return f"{done}/{wanted}"
    at_once = at(obj, "spec", "parallelism", default=0)
    return f"{done}/1 of {at_once}" if at_once > 1 else f"{done}/1"


def _job_duration(obj: Object, now: datetime) -> str:
    start = parsed(at(obj, "status", "startTime", default=""))
    if start is None:
        return ""
    end = parsed(at(obj, "status", "completionTime", default="")) or now
    return human((end - start).total_seconds())


def cron_job(obj: Object, now: datetime) -> list[Any]:
    last = at(obj, "status", "lastScheduleTime")
    suspended = at(obj, "spec", "suspend")
    inner = ("spec", "jobTemplate", "spec")
    return [
        name(obj),
        at(obj, "spec", "schedule", default=""),
        at(obj, "spec", "timeZone", default=NONE),
        UNSET if suspended is None else str(suspended),
        len(at(obj, "status", "active", default=())),
        since(last, now) if last else NONE,
        age(obj, now),
        *containers(obj, *inner, "template", "spec"),
        selector_text(at(obj, *inner, "selector")) or NONE,
    ]


def pod_template(obj: Object, _: datetime) -> list[Any]:
    labels = at(obj, "template", "metadata", "labels")
    return [name(obj), *containers(obj, "template", "spec"), labels_text(labels)]


def autoscaler(obj: Object, now: datetime) -> list[Any]:
    target = at(obj, "spec", "scaleTargetRef", default={})
    least = at(obj, "spec", "minReplicas")
    return [
        name(obj),
        f"{target.get('kind', '')}/{target.get('name', '')}",
        targets(obj),
        UNSET if least is None else str(least),
        at(obj, "spec", "maxReplicas", default=0),
        at(obj, "status", "currentReplicas", default=0),
        age(obj, now),
    ]


def budget(obj: Object, now: datetime) -> list[Any]:
    return [
        name(obj),
        str(at(obj, "spec", "minAvailable", default="N/A")),
        str(at(obj, "spec", "maxUnavailable", default="N/A")),
        at(obj, "status", "disruptionsAllowed", default=0),
        age(obj, now),
    ]


def priority_class(obj: Object, now: datetime) -> list[Any]:
    return [
        name(obj),
        obj.get("value", 0),
        obj.get("globalDefault", False),
        age(obj, now),
        obj.get("preemptionPolicy", ""),
    ]


def resource_claim(obj: Object, now: datetime) -> list[Any]:
    deleted = bool(obj["metadata"].get("deletionTimestamp"))
    states = ["deleted"] if deleted else []
    if at(obj, "status", "allocation") is not None:
        states.append("allocated")
        if at(obj, "status", "reservedFor"):
            states.append("reserved")
    elif not deleted:
        states.append("pending")
    return [name(obj), ",".join(states), age(obj, now)]


def resource_slice(obj: Object, now: datetime) -> list[Any]:
    return [
        name(obj),
        at(obj, "spec", "nodeName", default=""),
        at(obj, "spec", "driver", default=""),
        at(obj, "spec", "pool", "name", default=""),
        age(obj, now),
    ]
