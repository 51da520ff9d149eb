# SPDX-License-Identifier: Apache-2.0
"""Selectors of labels and of nodes: whether they are well formed, and what they match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import FieldError, forbidden, invalid, required
from trellis.embedded.natives.metadata import validate_labels
from trellis.embedded.natives.syntax import check, check_each, dns_subdomain, label_key, label_value

if TYPE_CHECKING:
    from collections.abc import Mapping

Selector = dict[str, Any]
_NO_OPERATOR = "not a valid selector operator"
_SOME = "must be specified when `operator` is 'In' or 'NotIn'"
_NONE = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"


def validate_selector(selector: Selector | None, path: str) -> list[FieldError]:
    if not selector:
        return []
    errors = validate_labels(selector.get("matchLabels") or {}, f"{path}.matchLabels")
    for position, term in enumerate(selector.get("matchExpressions") or ()):
        errors += _requirement(term, f"{path}.matchExpressions[{position}]")
    return errors


def _requirement(term: dict[str, Any], path: str, *, loose: bool = False) -> list[FieldError]:
    operator, values = term.get("operator") or "", term.get("values") or []
    errors: list[FieldError] = []
    if operator in {"In", "NotIn"}:
        if not values:
            errors.append(required(f"{path}.values", _SOME))
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            errors.append(forbidden(f"{path}.values", _NONE))
    else:
        errors.append(invalid(f"{path}.operator", operator, _NO_OPERATOR))
    errors += check(label_key, f"{path}.key", term.get("key") or "")
    return errors if loose else errors + check_each(label_value, f"{path}.values", values)


def matches(selector: Selector | None, labels: Mapping[str, str]) -> bool:
    """An absent selector matches nothing, an empty one everything."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_holds(term, labels) for term in selector.get("matchExpressions") or ())


def _holds(term: dict[str, Any], labels: Mapping[str, str]) -> bool:
    found = labels.get(term.get("key") or "")
    operator, values = term.get("operator"), term.get("values") or ()
    if operator == "In":
        return found in values
    if operator == "NotIn":
        return found not in values
    return (found is not None) == (operator == "Exists")


def is_empty(selector: Selector | None) -> bool:
    return not selector or not (selector.get("matchLabels") or selector.get("matchExpressions"))


def as_text(selector: Selector | None) -> str:
    """As queries write it, sorted by key; empty for none and for everything."""
    labels = (selector or {}).get("matchLabels") or {}
    terms = [(key, f"{key}={value}") for key, value in labels.items()]
    for term in (selector or {}).get("matchExpressions") or ():
        key, values = term.get("key") or "", ",".join(sorted(term.get("values") or ()))
        said = {
            "In": f"{key} in ({values})",
            "NotIn": f"{key} notin ({values})",
            "Exists": key,
            "DoesNotExist": f"!{key}",
        }
        terms.append((key, said.get(term.get("operator") or "", "<error>")))
    return ",".join(text for _, text in sorted(terms, key=lambda term: term[0]))


def validate_node_selector(selector: Selector, path: str) -> list[FieldError]:
    terms = selector.get("nodeSelectorTerms") or []
    if not terms:
        return [required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")]
    return [
        error
        for position, term in enumerate(terms)
        for error in validate_node_term(term, f"{path}.nodeSelectorTerms[{position}]")
    ]


def validate_node_term(term: dict[str, Any], path: str, *, loose: bool = False) -> list[FieldError]:
    """Preferences are `loose`: they may name values that no label can have."""
    errors: list[FieldError] = []
    for position, each in enumerate(term.get("matchExpressions") or ()):
        errors += _node_requirement(each, f"{path}.matchExpressions[{position}]", loose=loose)
    for position, each in enumerate(term.get("matchFields") or ()):
        errors += _field_requirement(each, f"{path}.matchFields[{position}]")
    return errors


def _node_requirement(term: dict[str, Any], path: str, *, loose: bool) -> list[FieldError]:
    if term.get("operator") not in {"Gt", "Lt"}:
        return _requirement(term, path, loose=loose)
    errors: list[FieldError] = []
    if len(term.get("values") or ()) != 1:
        detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
        errors.append(required(f"{path}.values", detail))
    errors += check(label_key, f"{path}.key", term.get("key") or "")
    return errors


def _field_requirement(term: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    values = term.get("values") or []
    if term.get("operator") in {"In", "NotIn"}:
        if len(values) != 1:
            detail = (
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            )
            errors.append(required(f"{path}.values", detail))
    else:
        errors.append(invalid(f"{path}.operator", term.get("operator") or "", _NO_OPERATOR))
    if term.get("key") != "metadata.name":
        detail = "not a valid field selector key"
        return [*errors, invalid(f"{path}.key", term.get("key") or "", detail)]
    return errors + check_each(dns_subdomain, f"{path}.values", values)
