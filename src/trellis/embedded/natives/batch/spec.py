# SPDX-License-Identifier: Apache-2.0
"""The spec of a job, as it stands in a job or in the template of one."""

from __future__ import annotations

from typing import Any

from trellis.embedded.fielderrors import (
    UNSHOWN,
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
)
from trellis.embedded.natives.goforms import printed
from trellis.embedded.natives.numbers import not_negative
from trellis.embedded.natives.pod.defaults import default_template
from trellis.embedded.natives.pod.validate import validate_template
from trellis.embedded.natives.rules import (
    all_of,
    any_text,
    choice,
    domain_path,
    every,
    needed,
    needed_choice,
    one_of,
    struct,
)
from trellis.embedded.natives.syntax import label_key

_LARGEST = (1 << 31) - 1
_MOST_AT_ONCE = 100_000
_NUMBERS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_NOT_INDEXED = "requires indexed completion mode"


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


def _codes(values: list[int] | None, path: str) -> list[FieldError]:
    if not values:
        return [invalid(path, values, "at least one value is required")]
    errors = [
        duplicate(f"{path}[{position}]", value)
        for position, value in enumerate(values)
        if value in values[:position]
    ]
    if values != sorted(values):
        errors.append(invalid(path, values, "must be ordered"))
    return errors


def _either(rule: dict[str, Any], path: str) -> list[FieldError]:
    codes, conditions = rule.get("onExitCodes") is not None, bool(rule.get("onPodConditions"))
    if codes != conditions:
        return []
    both = "both OnExitCodes and OnPodConditions is not supported"
    neither = "one of OnExitCodes and OnPodConditions is required"
    return [invalid(path, UNSHOWN, f"specifying {both if codes else neither}")]


_FAILURES = every(
    all_of(
        struct(
            action=needed_choice(
                "Count",
                "FailIndex",
                "FailJob",
                "Ignore",
                detail='valid values: ["Count" "FailIndex" "FailJob" "Ignore"]',
            ),
            onExitCodes=struct(
                operator=needed_choice("In", "NotIn", detail='valid values: ["In" "NotIn"]'),
                values=_codes,
            ),
            onPodConditions=every(
                struct(type=any_text(label_key), status=choice("False", "True", "Unknown"))
            ),
        ),
        _either,
    ),
    most=20,
)
_SUCCESSES = needed("at least one rules must be specified when the successPolicy is specified")


def validate_job_spec(spec: dict[str, Any], path: str) -> list[FieldError]:
    errors = not_negative(spec, _NUMBERS, path)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        detail = "when maxFailedIndexes is specified"
        errors.append(required(f"{path}.backoffLimitPerIndex", detail))
    if (manager := spec.get("managedBy")) is not None:
        errors += domain_path(manager, f"{path}.managedBy")
        if not errors and len(manager) > 63:
            errors.append(too_long(f"{path}.managedBy", 63))
    mode = spec.get("completionMode") or "NonIndexed"
    errors += one_of("NonIndexed", "Indexed")(mode, f"{path}.completionMode")
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


def _indexed(spec: dict[str, Any], path: str) -> list[FieldError]:
    completions, most = spec.get("completions"), spec.get("parallelism") or 0
    failed = spec.get("maxFailedIndexes")
    errors: list[FieldError] = []
    if completions is None:
        errors.append(required(f"{path}.completions", "when completion mode is Indexed"))
    if most > _MOST_AT_ONCE:
        detail = f"must be less than or equal to {_MOST_AT_ONCE} when completion mode is Indexed"
        errors.append(invalid(f"{path}.parallelism", most, detail))
    if failed is not None and completions is not None and failed > completions:
        detail = "must be less than or equal to completions"
        errors.append(invalid(f"{path}.maxFailedIndexes", failed, detail))
    return errors


def _policies(spec: dict[str, Any], mode: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    failure, success = spec.get("podFailurePolicy"), spec.get("successPolicy")
    if failure is not None:
        errors += _FAILURES(failure.get("rules"), f"{path}.podFailurePolicy.rules")
    if success is not None:
        at = f"{path}.successPolicy"
        if mode == "Indexed":
            errors += _SUCCESSES(success.get("rules"), f"{at}.rules")
        else:
            errors.append(invalid(at, printed("batch.SuccessPolicy", success), _NOT_INDEXED))
    allowed = ("Failed",) if failure is not None else ("Failed", "TerminatingOrFailed")
    replacement = spec.get("podReplacementPolicy")
    return errors + one_of(*allowed)(replacement, f"{path}.podReplacementPolicy")


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
