# SPDX-License-Identifier: Apache-2.0
"""Parts that claims, classes and slices of devices share: names, selectors, configurations."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from trellis import cel
from trellis.embedded.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    required,
    too_long,
)
from trellis.embedded.natives.rules import every, needed_choice, one_of, text
from trellis.embedded.natives.syntax import (
    c_identifier,
    check,
    dns_subdomain,
    label_key,
    label_value,
)

_LONGEST_SELECTOR = 10 * 1024
_MOST_COST = 1_000_000
_MOST_PARAMETERS = 10 * 1024
EFFECTS = ("NoExecute", "NoSchedule", "None")


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
    # Fleets name the same few attributes a hundred thousand times.
    if _is_sound(name):
        return []
    return _qualified(name, path)


@lru_cache(maxsize=1024)
def _is_sound(name: str) -> bool:
    return not _qualified(name, "")


def _qualified(name: str, path: str) -> list[FieldError]:
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


def _toleration(toleration: dict[str, Any], path: str) -> list[FieldError]:
    operator, value = toleration.get("operator"), toleration.get("value") or ""
    errors = text(label_key)(toleration.get("key"), f"{path}.key")
    if operator == "Exists" and value:
        errors.append(invalid(f"{path}.value", value, "must be empty for operator `Exists`"))
    elif operator == "Equal":
        errors += check(label_value, f"{path}.value", value)
    errors += needed_choice("Equal", "Exists")(operator, f"{path}.operator")
    return errors + one_of(*EFFECTS)(toleration.get("effect") or None, f"{path}.effect")


validate_tolerations = every(_toleration)
validate_selectors = every(_selector, 32)
validate_configs = every(validate_config, 32)
