# SPDX-License-Identifier: Apache-2.0
"""Admission policies in CEL, and what binds them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from trellis import cel
from trellis.embedded.fielderrors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from trellis.embedded.natives.registration.rules import (
    default_rules,
    expression_problems,
    validate_conditions,
    validate_rule,
)
from trellis.embedded.natives.rules import (
    choice,
    every,
    needed,
    needed_choice,
    needed_text,
    one_of,
    part,
    struct,
)
from trellis.embedded.natives.selectors import validate_selector
from trellis.embedded.natives.strategy import Native
from trellis.embedded.natives.syntax import (
    check,
    dns1035_label,
    dns_subdomain,
    label_key,
    path_segment,
)

if TYPE_CHECKING:
    from trellis.embedded.asking import Object

_REASONS = one_of("Forbidden", "Invalid", "RequestEntityTooLarge")
_ACTIONS = ("Audit", "Deny", "Warn")
_ONE_AT_LEAST = "validations or auditAnnotations must contain at least one item"
_IDENTIFIER = re.compile("[_a-zA-Z][_a-zA-Z0-9]*", re.ASCII)
_RESERVED = frozenset(
    [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)


def default_match(match: dict[str, Any] | None) -> None:
    if match is None:
        return
    match.setdefault("matchPolicy", "Equivalent")
    for name in ("namespaceSelector", "objectSelector"):
        if match.get(name) is None:
            match[name] = {}
    for name in ("resourceRules", "excludeResourceRules"):
        default_rules(match.get(name))


_RULES = every(validate_rule)
validate_match = struct(
    matchPolicy=choice("Equivalent", "Exact"),
    namespaceSelector=validate_selector,
    objectSelector=validate_selector,
    resourceRules=_RULES,
    excludeResourceRules=_RULES,
)


class ValidatingAdmissionPolicies(Native):
    def default(self, new: Object) -> None:
        spec = new.setdefault("spec", {})
        spec.setdefault("failurePolicy", "Fail")
        default_match(spec.get("matchConstraints"))

    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        errors = _POLICY(spec, "spec")
        params = spec.get("paramKind") is not None
        conditions = spec.get("matchConditions") or []
        errors += validate_conditions(conditions, "spec.matchConditions", params=params)
        return errors + _expressions(new, spec, params=params)


def _expressions(new: Object, spec: dict[str, Any], *, params: bool) -> list[FieldError]:
    """Variables in order, each seen by those after it, then what uses them all."""
    errors: list[FieldError] = []
    known: dict[str, Any] = {}
    composed = bool(spec.get("variables"))
    for position, variable in enumerate(spec.get("variables") or ()):
        at = f"spec.variables[{position}]"
        errors += _variable(variable, known, at, params=params)
    environment = cel.admission(params=params, variables=dict(known) if composed else None)
    messages = cel.admission(
        params=params, authorizer=False, variables=dict(known) if composed else None
    )
    validations = spec.get("validations") or []
    annotations = spec.get("auditAnnotations") or []
    if not validations and not annotations:
        names = ("validations", "auditAnnotations")
        return errors + [required(f"spec.{name}", _ONE_AT_LEAST) for name in names]
    for position, validation in enumerate(validations):
        at = f"spec.validations[{position}]"
        errors += _validation(validation, environment, messages, at)
    keys: set[str] = set()
    for position, annotation in enumerate(annotations):
        at, key = f"spec.auditAnnotations[{position}]", annotation.get("key") or ""
        whole = f"{new['metadata'].get('name', '')}/{key}"
        errors += check(label_key, f"{at}.key", whole)
        errors += _annotation(annotation, environment, at)
        if key in keys:
            errors.append(duplicate(f"{at}.key", key))
        keys.add(key)
    return errors


def _variable(
    variable: dict[str, Any], known: dict[str, Any], path: str, *, params: bool
) -> list[FieldError]:
    name, expression = variable.get("name") or "", variable.get("expression") or ""
    errors: list[FieldError] = []
    if not name.strip():
        errors.append(required(f"{path}.name", "name is not specified"))
    elif not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
        errors.append(invalid(f"{path}.name", name, "must be a valid CEL identifier"))
    at = f"{path}.expression"
    if not expression.strip():
        return [*errors, required(at, "expression is not specified")]
    environment = cel.admission(params=params, variables=dict(known))
    problems = expression_problems(expression, environment, (), at)
    if not problems:
        known[name] = cel.compile(expression, environment).type
    return errors + problems


def _validation(
    validation: dict[str, Any],
    environment: cel.Environment,
    messages: cel.Environment,
    path: str,
) -> list[FieldError]:
    expression, at = validation.get("expression") or "", f"{path}.expression"
    errors = (
        expression_problems(expression, environment, ("bool",), at)
        if expression.strip()
        else [required(at, "expression is not specified")]
    )
    said = validation.get("messageExpression") or ""
    if said.strip():
        errors += expression_problems(said, messages, ("string",), f"{path}.messageExpression")
    elif said:
        detail = "must be non-empty if specified"
        errors.append(invalid(f"{path}.messageExpression", said, detail))
    message = validation.get("message") or ""
    if message and not message.strip():
        errors.append(invalid(f"{path}.message", message, "must be non-empty if specified"))
    elif "\n" in message.strip() or "\r" in message.strip():
        errors.append(invalid(f"{path}.message", message, "must not contain line breaks"))
    return errors + _REASONS(validation.get("reason"), f"{path}.reason")


def _annotation(
    annotation: dict[str, Any], environment: cel.Environment, path: str
) -> list[FieldError]:
    expression, at = (annotation.get("valueExpression") or "").strip(), f"{path}.valueExpression"
    if not expression:
        return [required(at, "valueExpression is not specified")]
    if len(expression) > 5 * 1024:
        return [required(at, f"must not exceed {5 * 1024} bytes in length")]
    return expression_problems(expression, environment, ("string", "null_type"), at)


def _param_kind(kind: dict[str, Any] | None, path: str) -> list[FieldError]:
    if kind is None:
        return []
    version, name = kind.get("apiVersion") or "", kind.get("kind") or ""
    errors: list[FieldError] = []
    at = f"{path}.apiVersion"
    group, slash, rest = version.rpartition("/")
    if not version:
        errors.append(required(at))
    elif version.count("/") > 1:
        detail = f"unexpected GroupVersion string: {version}"
        errors.append(invalid(at, version, detail))
    else:
        if slash and (problems := dns_subdomain(group)):
            errors.append(invalid(at, group, ",".join(problems)))
        if problems := dns1035_label(rest):
            errors.append(invalid(at, rest, ",".join(problems)))
    if not name:
        errors.append(required(f"{path}.kind"))
    elif problems := dns1035_label(name.lower()):
        head = "may have mixed case, but should otherwise match: "
        errors.append(invalid(f"{path}.kind", name, head + ",".join(problems)))
    return errors


def _some_constraints(match: dict[str, Any] | None, path: str) -> list[FieldError]:
    return [required(path)] if match is None else []


_POLICY = struct(
    failurePolicy=choice("Fail", "Ignore"),
    paramKind=_param_kind,
    matchConstraints=(_some_constraints, validate_match, struct(resourceRules=needed())),
)


class ValidatingAdmissionPolicyBindings(Native):
    rules = part(
        spec=part(
            policyName=needed_text(dns_subdomain),
            paramRef=lambda value, path: [] if value is None else _param_ref(value, path),
            matchResources=validate_match,
            validationActions=lambda value, path: _actions(value or [], path),
        )
    )

    def default(self, new: Object) -> None:
        default_match(new.setdefault("spec", {}).get("matchResources"))


def _param_ref(reference: dict[str, Any], path: str) -> list[FieldError]:
    name, selector = reference.get("name") or "", reference.get("selector")
    errors = check(path_segment, f"{path}.name", name) if name else []
    errors += validate_selector(selector, f"{path}.selector")
    if name and selector is not None:
        detail = "name and selector are mutually exclusive"
        errors += [forbidden(f"{path}.{each}", detail) for each in ("name", "selector")]
    elif not name and selector is None:
        errors.append(required(path, "one of name or selector must be specified"))
    action = reference.get("parameterNotFoundAction")
    return errors + needed_choice("Deny", "Allow")(action, f"{path}.parameterNotFoundAction")


def _actions(actions: list[str], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for position, action in enumerate(actions):
        if action not in _ACTIONS:
            errors.append(not_supported(f"{path}[{position}]", action, _ACTIONS))
        if action in actions[:position]:
            errors.append(duplicate(f"{path}[{position}]", action))
    if {"Deny", "Warn"} <= set(actions):
        detail = (
            "must not contain both Deny and Warn (repeating the same validation failure "
            "information in the API response and headers serves no purpose)"
        )
        errors.append(invalid(path, actions, detail))
    if not actions:
        errors.append(required(path, "at least one validation action is required"))
    return errors
