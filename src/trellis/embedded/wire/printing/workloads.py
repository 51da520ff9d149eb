# SPDX-License-Identifier: Apache-2.0
"""Rows of what makes pods, scales them and gives them devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.wire.printing.ages import human, parsed, since
from trellis.embedded.wire.printing.metrics import targets
from trellis.embedded.wire.printing.values import (
    NONE,
    UNSET,
    Object,
    age,
    at,
    count,
    holds,
    labelled,
    pods_of,
    row,
    selected,
    shown,
)

if TYPE_CHECKING:
    from datetime import datetime

_TEMPLATE = pods_of("spec.template.spec")
_REPLICAS = ("spec.replicas=0", "status.replicas=0", "status.readyReplicas=0", age, *_TEMPLATE)


def _ready(obj: Object, _: datetime) -> str:
    wanted = at(obj, "spec", "replicas", default=0)
    return f"{at(obj, 'status', 'readyReplicas', default=0)}/{wanted}"


def _owner(obj: Object, _: datetime) -> str:
    owner = NONE
    for each in obj["metadata"].get("ownerReferences") or ():
        if each.get("controller"):
            group = each.get("apiVersion", "").rpartition("/")[0]
            kind = f"{each.get('kind', '')}.{group}" if group else each.get("kind", "")
            owner = f"{kind.lower()}/{each.get('name', '')}"
    return owner


def _job_state(obj: Object, _: datetime) -> str:
    for kind, word in (("Complete", "Complete"), ("Failed", "Failed")):
        if holds(obj, kind):
            return word
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if holds(obj, kind):
            return kind
    return "Running"


def _completions(obj: Object, _: datetime) -> str:
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


def _suspended(obj: Object, _: datetime) -> str:
    said = at(obj, "spec", "suspend")
    return UNSET if said is None else str(said)


def _last(obj: Object, now: datetime) -> str:
    last = at(obj, "status", "lastScheduleTime")
    return since(last, now) if last else NONE


def _target(obj: Object, _: datetime) -> str:
    target = at(obj, "spec", "scaleTargetRef", default={})
    return f"{target.get('kind', '')}/{target.get('name', '')}"


def _claimed(obj: Object, _: datetime) -> str:
    deleted = bool(obj["metadata"].get("deletionTimestamp"))
    states = ["deleted"] if deleted else []
    if at(obj, "status", "allocation") is not None:
        states.append("allocated")
        if at(obj, "status", "reservedFor"):
            states.append("reserved")
    elif not deleted:
        states.append("pending")
    return ",".join(states)


replica_set = row(*_REPLICAS, selected("spec.selector"))
replication_controller = row(*_REPLICAS, labelled("spec.selector"))
deployment = row(
    _ready,
    "status.updatedReplicas=0",
    "status.availableReplicas=0",
    age,
    *_TEMPLATE,
    selected("spec.selector", ""),
)
stateful_set = row(_ready, age, *_TEMPLATE)
daemon_set = row(
    "status.desiredNumberScheduled=0",
    "status.currentNumberScheduled=0",
    "status.numberReady=0",
    "status.updatedNumberScheduled=0",
    "status.numberAvailable=0",
    labelled("spec.template.spec.nodeSelector"),
    age,
    *_TEMPLATE,
    selected("spec.selector"),
)
controller_revision = row(_owner, "revision=0", age)
job = row(_job_state, _completions, _job_duration, age, *_TEMPLATE, selected("spec.selector"))
cron_job = row(
    "spec.schedule",
    f"spec.timeZone={NONE}",
    _suspended,
    count("status.active"),
    _last,
    age,
    *pods_of("spec.jobTemplate.spec.template.spec"),
    selected("spec.jobTemplate.spec.selector"),
)
pod_template = row(*pods_of("template.spec"), labelled("template.metadata.labels"))
autoscaler = row(
    _target,
    lambda obj, _: targets(obj),
    shown("spec.minReplicas", UNSET),
    "spec.maxReplicas=0",
    "status.currentReplicas=0",
    age,
)
budget = row(
    shown("spec.minAvailable", "N/A"),
    shown("spec.maxUnavailable", "N/A"),
    "status.disruptionsAllowed=0",
    age,
)
priority_class = row(
    "value=0", lambda obj, _: obj.get("globalDefault", False), age, "preemptionPolicy"
)
resource_claim = row(_claimed, age)
resource_slice = row("spec.nodeName", "spec.driver", "spec.pool.name", age)
