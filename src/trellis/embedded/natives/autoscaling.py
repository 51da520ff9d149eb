# SPDX-License-Identifier: Apache-2.0
"""Horizontal pod autoscalers and disruption budgets: how many pods there may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.copying import copied
from trellis.embedded.fielderrors import FieldError, forbidden, invalid, not_supported, required
from trellis.embedded.natives.goforms import printed
from trellis.embedded.natives.numbers import at_most_all, count_or_share
from trellis.embedded.natives.rules import (
    at_least,
    at_most,
    choice,
    every,
    more_than_none,
    needed,
    needed_text,
    one_of,
    part,
    struct,
)
from trellis.embedded.natives.selectors import validate_selector
from trellis.embedded.natives.strategy import Native
from trellis.embedded.natives.syntax import path_segment

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.natives.rules import Rule

_SOURCES = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
_TYPES = tuple(sorted(_SOURCES))
_CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}
_PERCENT = {"type": "Percent", "value": 100, "periodSeconds": 15}
_SCALE_UP = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}, _PERCENT],
}
_SCALE_DOWN = {"selectPolicy": "Max", "policies": [_PERCENT]}
_NO_GOAL = "must set either a target value"


def _version(version: str | None, path: str) -> list[FieldError]:
    version = version or ""
    if version.count("/") > 1:
        return [invalid(path, version, f"unexpected GroupVersion string: {version}")]
    if "/" not in version and version != "v1":
        return [invalid(path, version, "apiVersion must specify API group")]
    return []


def _target_type(kind: str | None, path: str) -> list[FieldError]:
    if kind in {"Utilization", "Value", "AverageValue"}:
        return []
    return [invalid(path, kind or "", "must be either Utilization, Value, or AverageValue")]


def _raw_or_share(target: dict[str, Any] | None, path: str) -> list[FieldError]:
    raw, share = ((target or {}).get(name) for name in ("averageValue", "averageUtilization"))
    if share is None and raw is None:
        detail = "must set either a target raw value or a target utilization"
        return [required(f"{path}.averageUtilization", detail)]
    if share is not None and raw is not None:
        detail = "may not set both a target raw value and a target utilization"
        return [forbidden(f"{path}.averageValue", detail)]
    return []


def _goal(detail: str, *names: str) -> Rule:
    """One of these fields of a target is there."""

    def rule(target: dict[str, Any] | None, path: str) -> list[FieldError]:
        given = any((target or {}).get(name) is not None for name in names)
        return [] if given else [required(f"{path}.averageValue", detail)]

    return rule


_REFERENCE = part(
    kind=needed_text(path_segment), name=needed_text(path_segment), apiVersion=_version
)
_TARGET = part(
    type=(needed("must specify a metric target type"), _target_type),
    averageUtilization=at_least(1, "must be greater than 0"),
)
_RESOURCE = needed("must specify a resource name")
_METRIC = part(name=needed("must specify a metric name"))
_SOURCE_RULES = {
    "object": struct(
        metric=_METRIC,
        describedObject=_REFERENCE,
        target=(_TARGET, _goal(f"{_NO_GOAL} or averageValue", "value", "averageValue")),
    ),
    "external": struct(
        metric=_METRIC,
        target=(
            _TARGET,
            _goal(f"{_NO_GOAL} for metric or a per-pod target", "value", "averageValue"),
        ),
    ),
    "pods": struct(
        metric=_METRIC,
        target=(_TARGET, _goal("must specify a positive target averageValue", "averageValue")),
    ),
    "resource": struct(name=_RESOURCE, target=(_TARGET, _raw_or_share)),
    "containerResource": struct(
        name=_RESOURCE,
        container=needed("must specify a container"),
        target=(_TARGET, _raw_or_share),
    ),
}
_SCALING = struct(
    stabilizationWindowSeconds=(
        at_least(0, "must be greater than or equal to zero"),
        at_most(3600),
    ),
    selectPolicy=one_of("Disabled", "Max", "Min"),
    policies=(
        needed("must specify at least one Policy"),
        every(
            struct(
                type=choice("Percent", "Pods"),
                value=more_than_none(),
                periodSeconds=(more_than_none(), at_most(1800)),
            )
        ),
    ),
)


def _metric(metric: dict[str, Any], path: str) -> list[FieldError]:
    kind = metric.get("type") or ""
    errors: list[FieldError] = []
    if not kind:
        errors.append(required(f"{path}.type", "must specify a metric source type"))
    if kind not in _SOURCES:
        errors.append(not_supported(f"{path}.type", kind, _TYPES))
    present = [name for name in _SOURCES.values() if metric.get(name) is not None]
    if present:
        errors += _SOURCE_RULES[present[0]](metric[present[0]], f"{path}.{present[0]}")
    if kind not in _SOURCES:
        errors.append(not_supported(f"{path}.type", kind, _TYPES))
    elif _SOURCES[kind] not in present:
        detail = "must populate information for the given metric source"
        errors.append(required(f"{path}.{_SOURCES[kind]}", detail))
    if len(present) != 1:
        detail = "must populate the given metric source only"
        others = [name for name in present if name != _SOURCES.get(kind)]
        errors += [forbidden(f"{path}.{name}", detail) for name in others]
    return errors


def _replicas(spec: dict[str, Any], path: str) -> list[FieldError]:
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    errors = at_least(1)(least, f"{path}.minReplicas")
    at = f"{path}.maxReplicas"
    errors += at_least(1)(most, at) if most else [required(at, "must be set and greater than 0")]
    if least is not None and most < least:
        detail = "must be greater than or equal to `minReplicas`"
        errors.append(invalid(at, most, detail))
    return errors


def _outside(spec: dict[str, Any], path: str) -> list[FieldError]:
    """What is scaled to nothing is scaled up again by something outside it."""
    kinds = {metric.get("type") for metric in spec.get("metrics") or ()}
    if spec.get("minReplicas") != 0 or kinds & {"Object", "External"}:
        return []
    detail = (
        "must specify at least one Object or External metric to support scaling to zero replicas"
    )
    return [forbidden(f"{path}.metrics", detail)]


class HorizontalPodAutoscalers(Native):
    counters = ("currentReplicas", "desiredReplicas")
    rules = part(
        spec=(
            _replicas,
            struct(scaleTargetRef=_REFERENCE, metrics=every(_metric)),
            _outside,
            struct(behavior=struct(scaleUp=_SCALING, scaleDown=_SCALING)),
        )
    )

    def default(self, new: Object) -> None:
        spec = new.setdefault("spec", {})
        spec.setdefault("minReplicas", 1)
        if not spec.get("metrics"):
            spec["metrics"] = [copied(_CPU)]
        if (behaviour := spec.get("behavior")) is not None:
            for name, usual in (("scaleUp", _SCALE_UP), ("scaleDown", _SCALE_DOWN)):
                behaviour[name] = {**copied(usual), **(behaviour.get(name) or {})}


def _share(value: int | str | None, path: str) -> list[FieldError]:
    return [] if value is None else count_or_share(value, path) + at_most_all(value, path)


def _not_both(spec: dict[str, Any], path: str) -> list[FieldError]:
    if spec.get("minAvailable") is None or spec.get("maxUnavailable") is None:
        return []
    shown = printed("policy.PodDisruptionBudgetSpec", spec)
    return [invalid(path, shown, "minAvailable and maxUnavailable cannot be both set")]


class PodDisruptionBudgets(Native):
    counters = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
    rules = struct(
        spec=(
            _not_both,
            struct(
                minAvailable=_share,
                maxUnavailable=_share,
                selector=validate_selector,
                unhealthyPodEvictionPolicy=one_of("AlwaysAllow", "IfHealthyBudget"),
            ),
        )
    )
