# SPDX-License-Identifier: Apache-2.0
"""Rules of fields as values: a table of them says what a part of an object must be.

A rule takes a value (None where the field is absent) and its path, and lists what is wrong. Tables
are in the order in which the server looks, which is the order of its complaints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trellis.embedded.fielderrors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_many,
)
from trellis.embedded.natives.syntax import (
    Grammar,
    check,
    dns_subdomain,
    in_range,
    is_http_path,
)

Rule = Callable[[Any, str], list[FieldError]]
Rules = Rule | tuple[Rule, ...]


def anything(value: Any, path: str) -> list[FieldError]:  # noqa: ARG001 - as a Rule has it
    return []


def all_of(*rules: Rule) -> Rule:
    return lambda value, path: [error for rule in rules for error in rule(value, path)]


def struct(**rules: Rules) -> Rule:
    """The fields of an object; of one that is absent nothing is said."""
    listed = [
        (name, all_of(*each) if isinstance(each, tuple) else each) for name, each in rules.items()
    ]

    def rule(value: Any, path: str) -> list[FieldError]:
        if value is None:
            return []
        head = f"{path}." if path else ""
        errors: list[FieldError] = []
        for name, each in listed:
            errors += each(value.get(name), head + name)
        return errors

    return rule


def part(**rules: Rules) -> Rule:
    """The fields of an object that is always there, empty if it was left out."""
    within = struct(**rules)
    return lambda value, path: within(value or {}, path)


def every(item: Rule, most: int | None = None) -> Rule:
    """The items of a list; of one that is too long nothing is said but that."""

    def rule(value: Any, path: str) -> list[FieldError]:
        if most is not None and len(value or ()) > most:
            return [too_many(path, len(value), most)]
        return [
            error
            for position, each in enumerate(value or ())
            for error in item(each, f"{path}[{position}]")
        ]

    return rule


def distinct(field: str = "", most: int | None = None) -> Rule:
    """Items whose value, or field, no other one before them has."""

    def rule(value: Any, path: str) -> list[FieldError]:
        items = value or []
        if most is not None and len(items) > most:
            return []
        keys = [each.get(field) or "" for each in items] if field else items
        return [
            duplicate(f"{path}[{position}]", key)
            for position, key in enumerate(keys)
            if key in keys[:position]
        ]

    return rule


def needed(detail: str = "") -> Rule:
    return lambda value, path: [] if value else [required(path, detail)]


def text(grammar: Grammar) -> Rule:
    """Of a text that is there."""
    return lambda value, path: check(grammar, path, value) if value else []


def needed_text(grammar: Grammar) -> Rule:
    return lambda value, path: check(grammar, path, value) if value else [required(path)]


def any_text(grammar: Grammar) -> Rule:
    """Of a text that is always there, and refused as such if it is empty."""
    return lambda value, path: check(grammar, path, value or "")


def domain_path(value: str | None, path: str) -> list[FieldError]:
    """Who is responsible for an object: `acme.io/foo`."""
    if not value:
        return [required(path)]
    host, _, rest = value.partition("/")
    if not host or not rest:
        detail = 'must be a domain-prefixed path (such as "acme.io/foo")'
        return [invalid(path, value, detail)]
    errors = check(dns_subdomain, path, host)
    if not is_http_path(rest):
        detail = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"
        errors.append(invalid(path, rest, detail))
    return errors


def one_of(*allowed: str) -> Rule:
    """Of a choice that is there."""

    def rule(value: Any, path: str) -> list[FieldError]:
        return [] if value is None or value in allowed else [not_supported(path, value, allowed)]

    return rule


def choice(*allowed: str) -> Rule:
    """Of a choice that is always there: none at all is not one of those allowed."""
    among = one_of(*allowed)
    return lambda value, path: among(value or "", path)


def needed_choice(*allowed: str, detail: str = "") -> Rule:
    among = one_of(*allowed)
    return lambda value, path: among(value, path) if value else [required(path, detail)]


def at_least(least: int, detail: str = "") -> Rule:
    said = detail or f"must be greater than or equal to {least}"

    def rule(value: Any, path: str) -> list[FieldError]:
        return [] if value is None or value >= least else [invalid(path, value, said)]

    return rule


def more_than_none(detail: str = "must be greater than zero") -> Rule:
    """Of a number that is zero if it is absent."""
    one = at_least(1, detail)
    return lambda value, path: one(value or 0, path)


def at_most(most: int, detail: str = "") -> Rule:
    said = detail or f"must be less than or equal to {most}"

    def rule(value: Any, path: str) -> list[FieldError]:
        return [] if value is None or value <= most else [invalid(path, value, said)]

    return rule


def between(least: int, most: int) -> Rule:
    def rule(value: Any, path: str) -> list[FieldError]:
        problems = () if value is None else in_range(value, least, most)
        return [invalid(path, value, problem) for problem in problems]

    return rule


def variant(kinds: dict[str, Rule], none: str, several: str) -> Rule:
    """An object of which one field says what it is: the first of those there is looked at."""

    def rule(value: Any, path: str) -> list[FieldError]:
        present = [name for name in kinds if value.get(name) is not None]
        if not present:
            return [required(path, none)]
        first, *others = present
        errors = kinds[first](value[first], f"{path}.{first}")
        return errors + [forbidden(f"{path}.{name}", several) for name in others]

    return rule
