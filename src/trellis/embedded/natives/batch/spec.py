# SPDX-License-Identifier: Apache-2.0
"""The spec of a job, as it stands in a job or in the template of one."""

from __future__ import annotations

from typing import Any

from trellis.embedded.fielderrors import (
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from trellis.embedded.natives.batch.indexes import problem_of_indexes
from trellis.embedded.natives.fieldwords import omitted
from trellis.embedded.natives.goforms import printed
from trellis.embedded.natives.numbers import not_negative
from trellis.embedded.natives.pod.defaults import default_template
from trellis.embedded.natives.pod.validate import validate_template
from trellis.embedded.natives.syntax import check, dns_subdomain, is_http_path, label_key

_LARGEST = (1 << 31) - 1
_MOST_AT_ONCE = 100_000
_MANY = 100_000
_MOST_AT_ONCE_OF_MANY = 10_000
_MOST_FAILED = 100_000
_MOST_FAILED_OF_MANY = 10_000
_NOT_INDEXED = "requires indexed completion mode"
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_STATUSES = ("False", "True", "Unknown")
_OPERATORS = ("In", "NotIn")
_REPLACEMENTS = ("Failed", "TerminatingOrFailed")


def default_job_spec(spec: dict[str, Any]) -> None:
    """What a job and a job's template have in common."""
    default_template(spec.setdefault("template", {}))
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            pattern["status"] = pattern.get("status") or "True"


def default_job(spec: dict[str, Any]) -> None:
    default_job_spec(spec)
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    per_index = spec.get("backoffLimitPerIndex") is not None
    spec.setdefault("backoffLimit", _LARGEST if per_index else 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    fails = spec.get("podFailurePolicy") is not None
    spec.setdefault("podReplacementPolicy", "Failed" if fails else "TerminatingOrFailed")
    spec.setdefault("manualSelector", False)


def validate_job_spec(spec: dict[str, Any], path: str) -> list[FieldError]:
    numbers = (
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    )
    errors = not_negative(spec, numbers, path)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        detail = "when maxFailedIndexes is specified"
        errors.append(required(f"{path}.backoffLimitPerIndex", detail))
    if (manager := spec.get("managedBy")) is not None:
        errors += validate_manager(manager, f"{path}.managedBy")
    mode = spec.get("completionMode") or "NonIndexed"
    if mode not in {"NonIndexed", "Indexed"}:
        at = f"{path}.completionMode"
        errors.append(not_supported(at, mode, ("NonIndexed", "Indexed")))
    if mode == "Indexed":
        errors += _indexed(spec, path)
    elif mode == "NonIndexed":
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(name) is not None:
                errors.append(invalid(f"{path}.{name}", spec[name], _NOT_INDEXED))
    errors += _policies(spec, mode, path)
    template = spec.get("template") or {}
    errors += validate_template(template, f"{path}.template")
    return errors + _restarts(spec, template, f"{path}.template.spec.restartPolicy")


def validate_manager(manager: str, path: str) -> list[FieldError]:
    if not manager:
        return [required(path)]
    host, _, rest = manager.partition("/")
    if not host or not rest:
        detail = 'must be a domain-prefixed path (such as "acme.io/foo")'
        return [invalid(path, manager, detail)]
    errors = check(dns_subdomain, path, host)
    if not is_http_path(rest):
        detail = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"
        return [*errors, invalid(path, rest, detail)]
    return [*errors, too_long(path, 63)] if len(manager) > 63 else errors


def _indexed(spec: dict[str, Any], path: str) -> list[FieldError]:
    completions, most = spec.get("completions"), spec.get("parallelism") or 0
    failed = spec.get("maxFailedIndexes")
    errors: list[FieldError] = []
    if completions is None:
        errors.append(required(f"{path}.completions", "when completion mode is Indexed"))
    if most > _MOST_AT_ONCE:
        detail = f"must be less than or equal to {_MOST_AT_ONCE} when completion mode is Indexed"
        errors.append(invalid(f"{path}.parallelism", most, detail))
    if failed is not None:
        at = f"{path}.maxFailedIndexes"
        if completions is not None and failed > completions:
            errors.append(invalid(at, failed, "must be less than or equal to completions"))
        if failed > _MOST_FAILED:
            errors.append(invalid(at, failed, f"must be less than or equal to {_MOST_FAILED}"))
    if (completions or 0) > _MANY and spec.get("backoffLimitPerIndex") is not None:
        errors += _many(spec, path)
    return errors


def _many(spec: dict[str, Any], path: str) -> list[FieldError]:
    most, failed = spec.get("parallelism") or 0, spec.get("maxFailedIndexes")
    tail = f"when completions are above {_MANY} and used with backoff limit per index"
    errors: list[FieldError] = []
    if failed is None:
        detail = f"must be specified when completions is above {_MANY}"
        errors.append(required(f"{path}.maxFailedIndexes", detail))
    if most > _MOST_AT_ONCE_OF_MANY:
        detail = f"must be less than or equal to {_MOST_AT_ONCE_OF_MANY} {tail}"
        errors.append(invalid(f"{path}.parallelism", most, detail))
    if failed is not None and failed > _MOST_FAILED_OF_MANY:
        detail = f"must be less than or equal to {_MOST_FAILED_OF_MANY} {tail}"
        errors.append(invalid(f"{path}.maxFailedIndexes", failed, detail))
    return errors


def _policies(spec: dict[str, Any], mode: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    failure, success = spec.get("podFailurePolicy"), spec.get("successPolicy")
    if failure is not None:
        errors += _failure_policy(spec, failure, f"{path}.podFailurePolicy")
    if success is not None:
        at = f"{path}.successPolicy"
        if mode == "Indexed":
            errors += _success_policy(spec, success, at)
        else:
            errors.append(invalid(at, printed("batch.SuccessPolicy", success), _NOT_INDEXED))
    replacement = spec.get("podReplacementPolicy")
    allowed = ("Failed",) if failure is not None else _REPLACEMENTS
    if replacement is not None and replacement not in allowed:
        errors.append(not_supported(f"{path}.podReplacementPolicy", replacement, allowed))
    return errors


def _failure_policy(spec: dict[str, Any], policy: dict[str, Any], path: str) -> list[FieldError]:
    rules = policy.get("rules") or []
    errors: list[FieldError] = []
    if len(rules) > 20:
        errors.append(too_many(f"{path}.rules", len(rules), 20))
    pod = (spec.get("template") or {}).get("spec") or {}
    names = {
        each.get("name")
        for list_name in ("containers", "initContainers")
        for each in pod.get(list_name) or ()
    }
    for position, rule in enumerate(rules):
        errors += _failure_rule(spec, rule, names, f"{path}.rules[{position}]")
    return errors


def _failure_rule(
    spec: dict[str, Any], rule: dict[str, Any], names: set[Any], path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    action, codes = rule.get("action") or "", rule.get("onExitCodes")
    conditions = rule.get("onPodConditions") or []
    at = f"{path}.action"
    if not action:
        errors.append(required(at, f"valid values: {_quoted(_ACTIONS)}"))
    elif action not in _ACTIONS:
        errors.append(not_supported(at, action, _ACTIONS))
    elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        errors.append(invalid(at, action, "requires the backoffLimitPerIndex to be set"))
    if codes is not None:
        errors += _exit_codes(codes, names, f"{path}.onExitCodes")
    for position, pattern in enumerate(conditions):
        errors += _condition(pattern, f"{path}.onPodConditions[{position}]")
    if codes is not None and conditions:
        detail = "specifying both OnExitCodes and OnPodConditions is not supported"
        errors.append(omitted(path, detail))
    if codes is None and not conditions:
        detail = "specifying one of OnExitCodes and OnPodConditions is required"
        errors.append(omitted(path, detail))
    return errors


def _quoted(values: tuple[str, ...]) -> str:
    listed = " ".join(f'"{each}"' for each in values)
    return f"[{listed}]"


def _condition(pattern: dict[str, Any], path: str) -> list[FieldError]:
    errors = check(label_key, f"{path}.type", pattern.get("type") or "")
    status = pattern.get("status") or ""
    if status not in _STATUSES:
        errors.append(not_supported(f"{path}.status", status, _STATUSES))
    return errors


def _exit_codes(codes: dict[str, Any], names: set[Any], path: str) -> list[FieldError]:
    operator = codes.get("operator") or ""
    errors: list[FieldError] = []
    if not operator:
        errors.append(required(f"{path}.operator", f"valid values: {_quoted(_OPERATORS)}"))
    elif operator not in _OPERATORS:
        errors.append(not_supported(f"{path}.operator", operator, _OPERATORS))
    container = codes.get("containerName")
    if container is not None and container not in names:
        detail = "must be one of the container or initContainer names in the pod template"
        errors.append(invalid(f"{path}.containerName", container, detail))
    return errors + _exit_values(codes, operator, f"{path}.values")


def _exit_values(codes: dict[str, Any], operator: str, path: str) -> list[FieldError]:
    values = codes.get("values") or []
    errors: list[FieldError] = []
    if not values:
        errors.append(invalid(path, codes.get("values"), "at least one value is required"))
    elif len(values) > 255:
        errors.append(too_many(path, len(values), 255))
    for position, value in enumerate(values):
        at = f"{path}[{position}]"
        if operator == "In" and value == 0:
            errors.append(invalid(at, value, "must not be 0 for the In operator"))
        if value in values[:position]:
            errors.append(duplicate(at, value))
    if values != sorted(values):
        errors.append(invalid(path, values, "must be ordered"))
    return errors


def _success_policy(spec: dict[str, Any], policy: dict[str, Any], path: str) -> list[FieldError]:
    rules = policy.get("rules") or []
    at = f"{path}.rules"
    errors: list[FieldError] = []
    if not rules:
        detail = "at least one rules must be specified when the successPolicy is specified"
        errors.append(required(at, detail))
    if len(rules) > 20:
        errors.append(too_many(at, len(rules), 20))
    for position, rule in enumerate(rules):
        errors += _success_rule(spec.get("completions") or 0, rule, f"{at}[{position}]")
    return errors


def _success_rule(completions: int, rule: dict[str, Any], path: str) -> list[FieldError]:
    indexes, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    errors: list[FieldError] = []
    if indexes is None and count is None:
        detail = "at least one of succeededCount or succeededIndexes must be specified"
        errors.append(required(path, detail))
    total = None
    if indexes is not None:
        total, problem = problem_of_indexes(indexes, completions)
        if problem:
            detail = f"error parsing succeededIndexes: {problem}"
            errors.append(invalid(f"{path}.succeededIndexes", indexes, detail))
    if count is not None:
        at = f"{path}.succeededCount"
        errors += not_negative(rule, ("succeededCount",), path)
        if count > completions:
            tail = f"{completions} (the number of specified completions)"
            errors.append(invalid(at, count, f"must be less than or equal to {tail}"))
        if total is not None and count > total:
            tail = f"{total} (the number of indexes in the specified succeededIndexes field)"
            errors.append(invalid(at, count, f"must be less than or equal to {tail}"))
    return errors


def _restarts(spec: dict[str, Any], template: dict[str, Any], path: str) -> list[FieldError]:
    policy = (template.get("spec") or {}).get("restartPolicy") or ""
    if policy in {"", "Always"}:
        return [required(path, 'valid values: "OnFailure", "Never"')]
    if policy not in {"OnFailure", "Never"}:
        return [not_supported(path, policy, ("OnFailure", "Never"))]
    if spec.get("podFailurePolicy") is not None and policy != "Never":
        detail = 'only "Never" is supported when podFailurePolicy is specified'
        return [invalid(path, policy, detail)]
    return []
