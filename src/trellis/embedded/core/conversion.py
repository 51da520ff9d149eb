# SPDX-License-Identifier: Apache-2.0
"""The same object at another version. Custom kinds change their name only; two native ones more."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trellis.embedded.copying import copied

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.embedded.asking import Object

_NEW_EVENTS, _OLD_EVENTS = "events.k8s.io/v1", "v1"
# What an event calls its parts in the newer group, and what in the core.
_EVENT_NAMES = {
    "note": "message",
    "regarding": "involvedObject",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
_HPA_V1, _HPA_V2 = "autoscaling/v1", "autoscaling/v2"
_METRICS = "autoscaling.alpha.kubernetes.io/metrics"
_BEHAVIOR = "autoscaling.alpha.kubernetes.io/behavior"


def converted(found: Object, api_version: str) -> Object:
    """A new object; its metadata is shared."""
    special = _SPECIAL.get((found["kind"], found["apiVersion"], api_version))
    shown = special(found) if special else dict(found)
    shown["apiVersion"] = api_version
    return shown


def _renamed(names: dict[str, str]) -> Callable[[Object], Object]:
    return lambda found: {names.get(name, name): value for name, value in found.items()}


def _autoscaler_to_v1(found: Object) -> Object:
    """Whatever the old version has no field for is kept in annotations."""
    shown = copied(found)
    spec = shown.get("spec") or {}
    rest: list[Any] = []
    for metric in spec.pop("metrics", None) or []:
        target = ((metric.get("resource") or {}).get("target")) or {}
        cpu = metric.get("type") == "Resource" and metric["resource"].get("name") == "cpu"
        if cpu and "averageUtilization" in target:
            spec["targetCPUUtilizationPercentage"] = target["averageUtilization"]
        else:
            rest.append(metric)
    kept = {_METRICS: rest or None, _BEHAVIOR: spec.pop("behavior", None)}
    annotations = dict(shown["metadata"].get("annotations") or {})
    annotations.update({name: json.dumps(value) for name, value in kept.items() if value})
    if annotations:
        shown["metadata"]["annotations"] = annotations
    return shown


def _autoscaler_to_v2(found: Object) -> Object:
    shown = copied(found)
    spec, metadata = shown.get("spec") or {}, shown["metadata"]
    annotations = metadata.get("annotations") or {}
    metrics = json.loads(annotations.pop(_METRICS, "[]"))
    behavior = annotations.pop(_BEHAVIOR, None)
    percentage = spec.pop("targetCPUUtilizationPercentage", None)
    if percentage is not None:
        target = {"type": "Utilization", "averageUtilization": percentage}
        metrics.insert(0, {"type": "Resource", "resource": {"name": "cpu", "target": target}})
    if metrics:
        spec["metrics"] = metrics
    if behavior:
        spec["behavior"] = json.loads(behavior)
    if not annotations:
        metadata.pop("annotations", None)
    return shown


_SPECIAL: dict[tuple[str, str, str], Callable[[Object], Object]] = {
    ("Event", _NEW_EVENTS, _OLD_EVENTS): _renamed(_EVENT_NAMES),
    ("Event", _OLD_EVENTS, _NEW_EVENTS): _renamed({old: new for new, old in _EVENT_NAMES.items()}),
    ("HorizontalPodAutoscaler", _HPA_V2, _HPA_V1): _autoscaler_to_v1,
    ("HorizontalPodAutoscaler", _HPA_V1, _HPA_V2): _autoscaler_to_v2,
}
