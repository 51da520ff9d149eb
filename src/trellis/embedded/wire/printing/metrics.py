# SPDX-License-Identifier: Apache-2.0
"""The Targets cell of an autoscaler: what each metric is now, and what it should be."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
_MOST = 2
_FIELDS = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def targets(autoscaler: Object) -> str:
    spec, status = autoscaler.get("spec") or {}, autoscaler.get("status") or {}
    if "metrics" not in spec:
        return _first_version(spec, status)
    wanted, current = spec.get("metrics") or [], status.get("currentMetrics") or []
    if not wanted:
        return "<none>"
    shown = [
        _metric(metric, current[place] if place < len(current) else {})
        for place, metric in enumerate(wanted)
    ]
    text = ", ".join(shown[:_MOST])
    return f"{text} + {len(shown) - _MOST} more..." if len(shown) > _MOST else text


def _first_version(spec: Object, status: Object) -> str:
    """autoscaling/v1 has fields for one metric only."""
    wanted = spec.get("targetCPUUtilizationPercentage")
    if wanted is None:
        return "<none>"
    return f"cpu: {_percent(status.get('currentCPUUtilizationPercentage'))}/{wanted}%"


def _metric(metric: Object, status: Object) -> str:
    kind = str(metric.get("type", ""))
    field = _FIELDS.get(kind)
    if field is None:
        return "<unknown type>"
    source, seen = metric.get(field) or {}, status.get(field) or {}
    target, now = source.get("target") or {}, seen.get("current") or {}
    if "esource" in field:
        return f"{source.get('name', '')}: {_utilisation(target, now)}"
    if field == "pods":
        return f"{_known(now.get('averageValue'))}/{target.get('averageValue')}"
    if target.get("averageValue") is not None:
        return f"{_known(now.get('averageValue'))}/{target['averageValue']} (avg)"
    return f"{_known(now.get('value'))}/{target.get('value')}"


def _utilisation(target: Object, now: Object) -> str:
    if target.get("averageValue") is not None:
        return f"{_known(now.get('averageValue'))}/{target['averageValue']}"
    wanted = target.get("averageUtilization")
    return (
        f"{_percent(now.get('averageUtilization'))}/{'<auto>' if wanted is None else f'{wanted}%'}"
    )


def _known(value: Any) -> str:
    return "<unknown>" if value is None else str(value)


def _percent(value: Any) -> str:
    return "<unknown>" if value is None else f"{value}%"
