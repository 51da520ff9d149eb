# SPDX-License-Identifier: Apache-2.0
"""Horizontal pod autoscalers and disruption budgets: how many pods there may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.copying import copied
from trellis.embedded.fielderrors import FieldError, forbidden, invalid, not_supported, required
from trellis.embedded.natives.goforms import printed
from trellis.embedded.natives.numbers import at_most_all, count_or_share, not_negative
from trellis.embedded.natives.selectors import validate_selector
from trellis.embedded.natives.strategy import Native
from trellis.embedded.natives.syntax import check, path_segment

if TYPE_CHECKING:
    from trellis.embedded.asking import Object

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
_HOUR, _HALF_HOUR = 3600, 1800
_UTILIZED = frozenset({"resource", "containerResource"})


class HorizontalPodAutoscalers(Native):
    def default(self, new: Object) -> None:
        spec = new.setdefault("spec", {})
        spec.setdefault("minReplicas", 1)
        if not spec.get("metrics"):
            spec["metrics"] = [copied(_CPU)]
        if (behaviour := spec.get("behavior")) is not None:
            for name, usual in (("scaleUp", _SCALE_UP), ("scaleDown", _SCALE_DOWN)):
                behaviour[name] = {**copied(usual), **(behaviour.get(name) or {})}

    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
        errors: list[FieldError] = []
        if least is not None and least < 1:
            at = "spec.minReplicas"
            errors.append(invalid(at, least, "must be greater than or equal to 1"))
        if most == 0:
            errors.append(required("spec.maxReplicas", "must be set and greater than 0"))
        elif most < 0:
            detail = "must be greater than or equal to 1"
            errors.append(invalid("spec.maxReplicas", most, detail))
        if least is not None and most < least:
            detail = "must be greater than or equal to `minReplicas`"
            errors.append(invalid("spec.maxReplicas", most, detail))
        errors += _reference(spec.get("scaleTargetRef") or {}, "spec.scaleTargetRef")
        errors += _metrics(spec.get("metrics") or [], least)
        for name in ("scaleUp", "scaleDown"):
            rules = (spec.get("behavior") or {}).get(name)
            if rules is not None:
                errors += _rules(rules, f"spec.behavior.{name}")
        return errors

    def check_status(self, new: Object, old: Object) -> list[FieldError]:  # noqa: ARG002
        counters = ("currentReplicas", "desiredReplicas")
        return not_negative(new.get("status") or {}, counters, "status")


def _reference(target: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for name in ("kind", "name"):
        value = target.get(name) or ""
        at = f"{path}.{name}"
        errors += check(path_segment, at, value) if value else [required(at)]
    version = target.get("apiVersion") or ""
    if version.count("/") > 1:
        detail = f"unexpected GroupVersion string: {version}"
        errors.append(invalid(f"{path}.apiVersion", version, detail))
    elif "/" not in version and version != "v1":
        detail = "apiVersion must specify API group"
        errors.append(invalid(f"{path}.apiVersion", version, detail))
    return errors


def _metrics(metrics: list[dict[str, Any]], least: int | None) -> list[FieldError]:
    errors: list[FieldError] = []
    for position, metric in enumerate(metrics):
        errors += _metric(metric, f"spec.metrics[{position}]")
    outside = any(metric.get("type") in {"Object", "External"} for metric in metrics)
    if least == 0 and not outside:
        detail = (
            "must specify at least one Object or External metric to support scaling to zero "
            "replicas"
        )
        errors.append(forbidden("spec.metrics", detail))
    return errors


def _metric(metric: dict[str, Any], path: str) -> list[FieldError]:
    kind = metric.get("type") or ""
    errors: list[FieldError] = []
    if not kind:
        errors.append(required(f"{path}.type", "must specify a metric source type"))
    if kind not in _SOURCES:
        errors.append(not_supported(f"{path}.type", kind, _TYPES))
    present = [name for name in _SOURCES.values() if metric.get(name) is not None]
    if present:
        errors += _source(metric[present[0]], present[0], f"{path}.{present[0]}")
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


def _source(source: dict[str, Any], name: str, path: str) -> list[FieldError]:
    target, at = source.get("target") or {}, f"{path}.target"
    errors: list[FieldError] = []
    if name in _UTILIZED:
        if not source.get("name"):
            errors.append(required(f"{path}.name", "must specify a resource name"))
        if name == "containerResource" and not source.get("container"):
            errors.append(required(f"{path}.container", "must specify a container"))
    elif not (source.get("metric") or {}).get("name"):
        errors.append(required(f"{path}.metric.name", "must specify a metric name"))
    if name == "object":
        errors += _reference(source.get("describedObject") or {}, f"{path}.describedObject")
    return errors + _target(target, at) + _goal(target, name, at)


def _target(target: dict[str, Any], path: str) -> list[FieldError]:
    kind = target.get("type") or ""
    errors: list[FieldError] = []
    if not kind:
        errors.append(required(f"{path}.type", "must specify a metric target type"))
    if kind not in {"Utilization", "Value", "AverageValue"}:
        detail = "must be either Utilization, Value, or AverageValue"
        errors.append(invalid(f"{path}.type", kind, detail))
    share = target.get("averageUtilization")
    if share is not None and share < 1:
        errors.append(invalid(f"{path}.averageUtilization", share, "must be greater than 0"))
    return errors


def _goal(target: dict[str, Any], name: str, path: str) -> list[FieldError]:
    value, average = target.get("value"), target.get("averageValue")
    share = target.get("averageUtilization")
    if name in _UTILIZED:
        if share is None and average is None:
            detail = "must set either a target raw value or a target utilization"
            return [required(f"{path}.averageUtilization", detail)]
        if share is not None and average is not None:
            detail = "may not set both a target raw value and a target utilization"
            return [forbidden(f"{path}.averageValue", detail)]
        return []
    if name == "pods":
        detail = "must specify a positive target averageValue"
        return [required(f"{path}.averageValue", detail)] if average is None else []
    if value is None and average is None:
        detail = (
            "must set either a target value or averageValue"
            if name == "object"
            else "must set either a target value for metric or a per-pod target"
        )
        return [required(f"{path}.averageValue", detail)]
    return []


def _rules(rules: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    window, select = rules.get("stabilizationWindowSeconds"), rules.get("selectPolicy")
    at = f"{path}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        errors.append(invalid(at, window, "must be greater than or equal to zero"))
    if window is not None and window > _HOUR:
        errors.append(invalid(at, window, f"must be less than or equal to {_HOUR}"))
    allowed = ("Disabled", "Max", "Min")
    if select is not None and select not in allowed:
        errors.append(not_supported(f"{path}.selectPolicy", select, allowed))
    if not rules.get("policies"):
        errors.append(required(f"{path}.policies", "must specify at least one Policy"))
    for position, policy in enumerate(rules.get("policies") or ()):
        errors += _policy(policy, f"{path}.policies[{position}]")
    return errors


def _policy(policy: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    kind, period = policy.get("type") or "", policy.get("periodSeconds") or 0
    if kind not in {"Pods", "Percent"}:
        errors.append(not_supported(f"{path}.type", kind, ("Percent", "Pods")))
    for name in ("value", "periodSeconds"):
        if (policy.get(name) or 0) <= 0:
            value = policy.get(name) or 0
            errors.append(invalid(f"{path}.{name}", value, "must be greater than zero"))
    if period > _HALF_HOUR:
        detail = f"must be less than or equal to {_HALF_HOUR}"
        errors.append(invalid(f"{path}.periodSeconds", period, detail))
    return errors


class PodDisruptionBudgets(Native):
    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        errors: list[FieldError] = []
        present = [n for n in ("minAvailable", "maxUnavailable") if spec.get(n) is not None]
        if len(present) == 2:
            shown = printed("policy.PodDisruptionBudgetSpec", spec)
            detail = "minAvailable and maxUnavailable cannot be both set"
            errors.append(invalid("spec", shown, detail))
        for name in present:
            at = f"spec.{name}"
            errors += count_or_share(spec[name], at) + at_most_all(spec[name], at)
        errors += validate_selector(spec.get("selector"), "spec.selector")
        policy, allowed = spec.get("unhealthyPodEvictionPolicy"), ("AlwaysAllow", "IfHealthyBudget")
        if policy is not None and policy not in allowed:
            errors.append(not_supported("spec.unhealthyPodEvictionPolicy", policy, allowed))
        return errors

    def check_status(self, new: Object, old: Object) -> list[FieldError]:  # noqa: ARG002
        counters = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
        return not_negative(new.get("status") or {}, counters, "status")
