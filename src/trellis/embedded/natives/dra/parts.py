# SPDX-License-Identifier: Apache-2.0
"""Parts that claims, classes and slices of devices share: names, selectors, configurations."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from trellis import cel
from trellis.embedded.fielderrors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from trellis.embedded.natives.syntax import (
    c_identifier,
    check,
    dns_subdomain,
    label_key,
    label_value,
)

Item = Callable[[Any, str], list[FieldError]]
_MOST_SELECTORS = 32
_MOST_CONFIGS = 32
_LONGEST_SELECTOR = 10 * 1024
_MOST_COST = 1_000_000
_MOST_PARAMETERS = 10 * 1024
EFFECTS = ("NoExecute", "NoSchedule", "None")


def each(items: list[Any], most: int, item: Item, path: str) -> list[FieldError]:
    """The items of a list; of one that is too long nothing is said but that."""
    if len(items) > most:
        return [too_many(path, len(items), most)]
    return [
        error
        for position, value in enumerate(items)
        for error in item(value, f"{path}[{position}]")
    ]


def distinct(items: list[Any], keys: list[Any], path: str) -> list[FieldError]:
    """Items whose key another one before them has."""
    seen: list[Any] = []
    errors: list[FieldError] = []
    for position, key in enumerate(keys[: len(items)]):
        if key in seen:
            errors.append(duplicate(f"{path}[{position}]", key))
        seen.append(key)
    return errors


def validate_driver(name: str, path: str) -> list[FieldError]:
    if not name:
        return [required(path)]
    errors = [too_long(path, 63)] if len(name) > 63 else []
    return errors + [invalid(path, name, problem) for problem in dns_subdomain(name.lower())]


def validate_pool(name: str, path: str) -> list[FieldError]:
    if not name:
        return [required(path)]
    errors = [too_long(path, 253)] if len(name) > 253 else []
    return errors + [
        error for part in name.split("/") for error in check(dns_subdomain, path, part)
    ]


def validate_qualified(name: str, path: str) -> list[FieldError]:
    """A C identifier, with or without the domain of who defines it."""
    parts = name.split("/")
    if len(parts) == 1:
        return _identifier(name, path)
    if len(parts) > 2:
        return []
    domain, rest = parts
    errors = (
        validate_driver(domain, path)
        if domain
        else [invalid(path, "", "the domain must not be empty")]
    )
    if not rest:
        return [*errors, invalid(path, "", "the name must not be empty")]
    return errors + _identifier(rest, path)


def _identifier(text: str, path: str) -> list[FieldError]:
    if not text:
        return [invalid(path, "", "the name must not be empty")]
    errors = [too_long(path, 32)] if len(text) > 32 else []
    return errors + check(c_identifier, path, text)


def validate_fully_qualified(name: str, path: str) -> list[FieldError]:
    errors = validate_qualified(name, path)
    if "/" not in name:
        detail = "a fully qualified name must be a domain and a name separated by a slash"
        errors.append(invalid(path, name, detail))
    return errors


def validate_selectors(selectors: list[dict[str, Any]], path: str) -> list[FieldError]:
    return each(selectors, _MOST_SELECTORS, _selector, path)


def _selector(selector: dict[str, Any], path: str) -> list[FieldError]:
    if selector.get("cel") is None:
        return [required(f"{path}.cel")]
    expression, at = selector["cel"].get("expression") or "", f"{path}.cel.expression"
    if len(expression.encode()) > _LONGEST_SELECTOR:
        return [too_long(at, _LONGEST_SELECTOR)]
    try:
        program = cel.compile(expression, cel.devices())
    except cel.CompileProblem as problem:
        return [invalid(at, expression, str(problem))]
    if program.result_type not in {"bool", "dyn"}:
        detail = f"must evaluate to bool or the unknown type, not {program.result_type}"
        return [invalid(at, expression, detail)]
    if program.estimated_cost > _MOST_COST:
        return [forbidden(at, "too complex, exceeds cost limit")]
    return []


def validate_configs(configs: list[dict[str, Any]], path: str) -> list[FieldError]:
    return each(configs, _MOST_CONFIGS, validate_config, path)


def validate_config(config: dict[str, Any], path: str) -> list[FieldError]:
    opaque = config.get("opaque")
    if opaque is None:
        return [required(f"{path}.opaque")]
    errors = validate_driver(opaque.get("driver") or "", f"{path}.opaque.driver")
    at = f"{path}.opaque.parameters"
    parameters = opaque.get("parameters")
    if parameters is None:
        return [*errors, required(at)]
    if not isinstance(parameters, dict):
        return [*errors, invalid(at, "<value omitted>", "must be a valid JSON object")]
    if len(json.dumps(parameters, separators=(",", ":")).encode()) > _MOST_PARAMETERS:
        errors.append(too_long(at, _MOST_PARAMETERS))
    return errors


def validate_toleration(toleration: dict[str, Any], path: str) -> list[FieldError]:
    key, operator = toleration.get("key") or "", toleration.get("operator") or ""
    value, effect = toleration.get("value") or "", toleration.get("effect") or ""
    errors = check(label_key, f"{path}.key", key) if key else []
    if operator == "Exists":
        if value:
            detail = "must be empty for operator `Exists`"
            errors.append(invalid(f"{path}.value", value, detail))
    elif operator == "Equal":
        errors += check(label_value, f"{path}.value", value)
    else:
        wrong = not_supported(f"{path}.operator", operator, ("Equal", "Exists"))
        errors.append(wrong if operator else required(f"{path}.operator"))
    if effect and effect not in EFFECTS:
        errors.append(not_supported(f"{path}.effect", effect, EFFECTS))
    return errors
