# SPDX-License-Identifier: Apache-2.0
"""What a webhook or a policy is for: rules, and conditions in CEL."""

from __future__ import annotations

from typing import Any

from trellis import cel
from trellis.embedded.fielderrors import (
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
    too_many,
)
from trellis.embedded.natives.syntax import check, label_key, path_segment

_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_PARTS = {
    "operations": "operations",
    "apiGroups": "API groups",
    "apiVersions": "API versions",
}
_SCOPES = ("*", "Cluster", "Namespaced")
_MOST_CONDITIONS = 64
_BARE = cel.admission()
_WITH_PARAMS = cel.admission(params=True)


def default_rules(rules: list[dict[str, Any]] | None) -> None:
    for rule in rules or ():
        rule.setdefault("scope", "*")


def validate_rule(rule: dict[str, Any], path: str) -> list[FieldError]:
    errors = _names(rule.get("resourceNames") or [], f"{path}.resourceNames")
    for name, said in _PARTS.items():
        if not rule.get(name):
            errors.append(required(f"{path}.{name}"))
        errors += _alone(rule.get(name) or [], said, f"{path}.{name}")
    for position, operation in enumerate(rule.get("operations") or ()):
        if operation not in _OPERATIONS:
            errors.append(not_supported(f"{path}.operations[{position}]", operation, _OPERATIONS))
    for position, version in enumerate(rule.get("apiVersions") or ()):
        if not version:
            errors.append(required(f"{path}.apiVersions[{position}]"))
    errors += _resources(rule.get("resources") or [], f"{path}.resources")
    scope = rule.get("scope")
    if scope is not None and scope not in _SCOPES:
        errors.append(not_supported(f"{path}.scope", scope, _SCOPES))
    return errors


def _names(names: list[str], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for position, name in enumerate(names):
        errors += check(path_segment, f"{path}[{position}]", name)
        if name in names[:position]:
            errors.append(duplicate(f"{path}[{position}]", name))
    return errors


def _alone(values: list[str], said: str, path: str) -> list[FieldError]:
    if len(values) < 2 or "*" not in values:
        return []
    return [invalid(path, values, f"if '*' is present, must not specify other {said}")]


def _resources(resources: list[str], path: str) -> list[FieldError]:
    errors = [] if resources else [required(path)]
    for position, text in enumerate(resources):
        errors += _resource(text, resources[:position], f"{path}[{position}]")
    if len(resources) > 1 and "*/*" in resources:
        detail = "if '*/*' is present, must not specify other resources"
        errors.append(invalid(path, resources, detail))
    plain = [text for text in resources if text and "/" not in text]
    # Only the last one counts: a slip of the server's.
    if "*" in plain and plain[-1] != "*":
        detail = "if '*' is present, must not specify other resources without subresources"
        errors.append(invalid(path, resources, detail))
    return errors


def _resource(text: str, before: list[str], path: str) -> list[FieldError]:
    """One that those before it do not include already."""
    if not text:
        return [required(path)]
    resource, slash, sub = text.partition("/")
    if not slash:
        return []
    return [
        invalid(path, text, f"if '{wider}' is present, must not specify {text}")
        for wider in (f"{resource}/*", f"*/{sub}")
        if wider in before
    ]


def validate_conditions(
    conditions: list[dict[str, Any]], path: str, *, params: bool = False
) -> list[FieldError]:
    errors: list[FieldError] = []
    if len(conditions) > _MOST_CONDITIONS:
        errors.append(too_many(path, len(conditions), _MOST_CONDITIONS))
    names: set[str] = set()
    for position, condition in enumerate(conditions):
        at = f"{path}[{position}]"
        expression, name = (condition.get("expression") or "").strip(), condition.get("name") or ""
        if expression:
            environment = _WITH_PARAMS if params else _BARE
            errors += expression_problems(expression, environment, ("bool",), f"{at}.expression")
        else:
            errors.append(required(f"{at}.expression"))
        errors += check(label_key, f"{at}.name", name) if name else [required(f"{at}.name")]
        if name and name in names:
            errors.append(duplicate(f"{at}.name", name))
        names.add(name)
    return errors


def expression_problems(
    expression: str, environment: cel.Environment, types: tuple[str, ...], path: str
) -> list[FieldError]:
    """An expression that does not compile, or gives something else than it should."""
    try:
        program = cel.compile(expression, environment)
    except cel.CompileProblem as problem:
        return [invalid(path, expression, str(problem))]
    if not types or program.result_type in {*types, "dyn"}:
        return []
    wanted = types[0] if len(types) == 1 else f"one of [{' '.join(types)}]"
    detail = f"must evaluate to {wanted} but got {program.result_type}"
    return [invalid(path, expression, detail)]
