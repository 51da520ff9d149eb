# SPDX-License-Identifier: Apache-2.0
"""Where a pod may run: affinity, tolerations, spread, gates."""

from __future__ import annotations

from typing import Any

from trellis.embedded.fielderrors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from trellis.embedded.natives.selectors import (
    validate_node_selector,
    validate_node_term,
    validate_selector,
)
from trellis.embedded.natives.syntax import check, check_each, dns_label, label_key, label_value

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_INCLUSION = ("Honor", "Ignore")


def validate_affinity(affinity: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if node := affinity.get("nodeAffinity"):
        if (needed := node.get(_REQUIRED)) is not None:
            errors += validate_node_selector(needed, f"{path}.nodeAffinity.{_REQUIRED}")
        for position, term in enumerate(node.get(_PREFERRED) or ()):
            at = f"{path}.nodeAffinity.{_PREFERRED}[{position}]"
            errors += _weight(term, at)
            preference = term.get("preference") or {}
            errors += validate_node_term(preference, f"{at}.preference", loose=True)
    for name in ("podAffinity", "podAntiAffinity"):
        if terms := affinity.get(name):
            errors += _pod_affinity(terms, f"{path}.{name}")
    return errors


def _weight(term: dict[str, Any], path: str) -> list[FieldError]:
    weight = term.get("weight") or 0
    if 0 < weight <= 100:
        return []
    return [invalid(f"{path}.weight", weight, "must be in the range 1-100")]


def _pod_affinity(affinity: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for position, term in enumerate(affinity.get(_REQUIRED) or ()):
        errors += _pod_term(term, f"{path}.{_REQUIRED}[{position}]")
    for position, term in enumerate(affinity.get(_PREFERRED) or ()):
        at = f"{path}.{_PREFERRED}[{position}]"
        errors += _weight(term, at)
        errors += _pod_term(term.get("podAffinityTerm") or {}, f"{at}.podAffinityTerm")
    return errors


def _pod_term(term: dict[str, Any], path: str) -> list[FieldError]:
    errors = validate_selector(term.get("labelSelector"), f"{path}.labelSelector")
    errors += validate_selector(term.get("namespaceSelector"), f"{path}.namespaceSelector")
    for name in term.get("namespaces") or ():
        errors += check(dns_label, f"{path}.namespace", name)
    errors += _label_keys(term, path)
    topology = term.get("topologyKey") or ""
    if not topology:
        errors.append(required(f"{path}.topologyKey", "can not be empty"))
    return errors + check(label_key, f"{path}.topologyKey", topology)


def _label_keys(term: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for name in ("matchLabelKeys", "mismatchLabelKeys"):
        keys = term.get(name) or []
        if keys and term.get("labelSelector") is None:
            detail = "must not be specified when labelSelector is not set"
            errors.append(forbidden(f"{path}.{name}", detail))
        else:
            errors += check_each(label_key, f"{path}.{name}", keys)
    both = set(term.get("mismatchLabelKeys") or ())
    detail = "exists in both matchLabelKeys and mismatchLabelKeys"
    for position, key in enumerate(term.get("matchLabelKeys") or ()):
        if key in both:
            errors.append(invalid(f"{path}.matchLabelKeys[{position}]", key, detail))
    return errors


def validate_tolerations(tolerations: list[dict[str, Any]], path: str) -> list[FieldError]:
    return [
        error
        for position, each in enumerate(tolerations)
        for error in _toleration(each, f"{path}[{position}]")
    ]


def _toleration(toleration: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    key, operator = toleration.get("key") or "", toleration.get("operator") or ""
    value, effect = toleration.get("value") or "", toleration.get("effect") or ""
    if key:
        errors += check(label_key, f"{path}.key", key)
    elif operator != "Exists":
        detail = (
            'operator must be Exists when `key` is empty, which means "match all values and '
            'all keys"'
        )
        errors.append(invalid(f"{path}.operator", operator, detail))
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        errors.append(invalid(f"{path}.effect", effect, detail))
    errors += _toleration_value(operator, value, path)
    if effect and effect not in EFFECTS:
        errors.append(not_supported(f"{path}.effect", effect, EFFECTS))
    return errors


def _toleration_value(operator: str, value: str, path: str) -> list[FieldError]:
    if operator in {"", "Equal"}:
        problems = label_value(value)
        return [invalid(f"{path}.operator", value, ";".join(problems))] if problems else []
    if operator == "Exists":
        detail = "value must be empty when `operator` is 'Exists'"
        return [invalid(f"{path}.operator", value, detail)] if value else []
    numeric = ("Lt", "Gt") if operator in {"Lt", "Gt"} else ()
    return [not_supported(f"{path}.operator", operator, ("Equal", "Exists", *numeric))]


def validate_taint_effect(effect: str, path: str) -> list[FieldError]:
    if not effect:
        return [required(path)]
    return [] if effect in EFFECTS else [not_supported(path, effect, EFFECTS)]


def validate_spread(constraints: list[dict[str, Any]], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for position, each in enumerate(constraints):
        at = f"{path}[{position}]"
        errors += _spread(each, at)
        pair = (each.get("topologyKey") or "", each.get("whenUnsatisfiable") or "")
        if any(_pair(later) == pair for later in constraints[position + 1 :]):
            shown = f"{{{pair[0]}, {pair[1]}}}"
            errors.append(duplicate(f"{at}.{{topologyKey, whenUnsatisfiable}}", shown))
    return errors


def _pair(constraint: dict[str, Any]) -> tuple[str, str]:
    return constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or ""


def _spread(each: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    skew, action = each.get("maxSkew") or 0, each.get("whenUnsatisfiable") or ""
    if skew <= 0:
        errors.append(invalid(f"{path}.maxSkew", skew, "must be greater than zero"))
    if not each.get("topologyKey"):
        errors.append(required(f"{path}.topologyKey", "can not be empty"))
    if action not in _ACTIONS:
        errors.append(not_supported(f"{path}.whenUnsatisfiable", action, _ACTIONS))
    if each.get("minDomains") is not None:
        errors += _domains(each["minDomains"], action, f"{path}.minDomains")
    for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if each.get(name) is not None and each[name] not in _INCLUSION:
            errors.append(not_supported(f"{path}.{name}", each[name], _INCLUSION))
    errors += _label_keys(each, path)
    return errors + validate_selector(each.get("labelSelector"), f"{path}.labelSelector")


def _domains(least: int, action: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if least <= 0:
        errors.append(invalid(path, least, "must be greater than zero"))
    if action != "DoNotSchedule":
        detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        errors.append(invalid(path, least, detail))
    return errors


def validate_gates(gates: list[dict[str, Any]], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for position, gate in enumerate(gates):
        name = gate.get("name") or ""
        errors += check(label_key, f"{path}[{position}]", name)
        if name in seen:
            errors.append(duplicate(f"{path}[{position}]", name))
        seen.add(name)
    return errors
