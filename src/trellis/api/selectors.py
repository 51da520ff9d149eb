# SPDX-License-Identifier: Apache-2.0
"""Label selectors: the structured form of the API, the string form of queries, and matching.

An empty selector matches everything. Where the API says that an absent one matches nothing, the
caller has None and no selector.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import field

from trellis.api.meta import Value
from trellis.api.syntax import label_key_problem, label_value_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Matcher = Callable[[Mapping[str, str]], bool]

_LENGTH_LIMIT = 16_384
_TOKEN = re.compile(
    r"\s*(?:(?P<text>[-A-Za-z0-9_./]+)|(?P<sign>==|!=|=|!|\(|\)|,)|(?P<bad>\S))", re.ASCII
)


class InvalidSelector(ValueError):
    """The selector cannot be understood, or could never match a label."""


class Requirement(Value, frozen=True, kw_only=True):
    """One condition on the value of one label."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class LabelSelector(Value, frozen=True, kw_only=True):
    """All of its parts must hold."""

    match_labels: dict[str, str] = field(default_factory=dict)
    match_expressions: tuple[Requirement, ...] = ()

    def requirements(self) -> Iterator[Requirement]:
        for key in sorted(self.match_labels):
            yield Requirement(key=key, operator="In", values=(self.match_labels[key],))
        yield from self.match_expressions

    def __str__(self) -> str:
        """The string form, as a query or a scale subresource wants it."""
        return ",".join(_text(requirement) for requirement in self.requirements())


def matcher(selector: LabelSelector) -> Matcher:
    """A function that tells whether labels match; made once, it is cheap to call often."""
    checks = [_check(requirement) for requirement in selector.requirements()]
    if len(checks) == 1:
        return checks[0]
    return lambda labels: all(check(labels) for check in checks)


def matches(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    return matcher(selector)(labels)


def parse(text: str) -> LabelSelector:
    """The selector of a string such as `app=web,tier in (a, b),!canary`."""
    if len(text) > _LENGTH_LIMIT:
        raise InvalidSelector(
            f"the selector has {len(text)} characters, and {_LENGTH_LIMIT} are allowed"
        )
    words = _Words(text)
    found: list[Requirement] = []
    while words.more:
        found.append(_requirement(words))
        if words.more:
            words.expect(",")
            if not words.more:
                raise words.error("ends with a comma")
    return LabelSelector(match_expressions=tuple(found))


class _Words:
    """The words and signs of a selector's text, taken one by one."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [match.group().strip() for match in _TOKEN.finditer(text)]
        bad = next((match["bad"] for match in _TOKEN.finditer(text) if match["bad"]), None)
        if bad:
            raise self.error(f"has {bad!r}, which belongs in no label")
        self._next = 0

    @property
    def more(self) -> bool:
        return self._next < len(self._tokens)

    def peek(self) -> str:
        return self._tokens[self._next] if self.more else ""

    def take(self) -> str:
        token = self.peek()
        self._next += 1
        return token

    def expect(self, sign: str) -> None:
        if (found := self.take()) != sign:
            raise self.error(f"has {found!r} where {sign!r} belongs")

    def error(self, problem: str) -> InvalidSelector:
        return InvalidSelector(f"the selector {self._text!r} {problem}")


def _requirement(words: _Words) -> Requirement:
    if words.peek() == "!":
        words.take()
        return Requirement(key=_key(words), operator="DoesNotExist")
    key = _key(words)
    match words.peek():
        case "" | ",":
            return Requirement(key=key, operator="Exists")
        case "=" | "==":
            words.take()
            return Requirement(key=key, operator="In", values=(_value(words),))
        case "!=":
            words.take()
            return Requirement(key=key, operator="NotIn", values=(_value(words),))
        case "in":
            words.take()
            return Requirement(key=key, operator="In", values=_values(words))
        case "notin":
            words.take()
            return Requirement(key=key, operator="NotIn", values=_values(words))
        case other:
            raise words.error(f"has {other!r} where one of =, !=, in, notin belongs")


def _key(words: _Words) -> str:
    key = words.take()
    if problem := label_key_problem(key):
        raise words.error(f"has {key!r} for a key, which {problem}")
    return key


def _value(words: _Words) -> str:
    """A value may be left out: `key=` asks for the empty one."""
    value = "" if words.peek() in {"", ",", ")"} else words.take()
    if problem := label_value_problem(value):
        raise words.error(f"has {value!r} for a value, which {problem}")
    return value


def _values(words: _Words) -> tuple[str, ...]:
    words.expect("(")
    values = [_value(words)]
    while words.peek() == ",":
        words.take()
        values.append(_value(words))
    words.expect(")")
    return tuple(values)


def _check(requirement: Requirement) -> Matcher:
    key, values = requirement.key, frozenset(requirement.values)
    match requirement.operator:
        case "In":
            return lambda labels: labels.get(key) in values
        case "NotIn":
            # A label that is absent has none of the values.
            return lambda labels: labels.get(key) not in values
        case "Exists":
            return lambda labels: key in labels
        case "DoesNotExist":
            return lambda labels: key not in labels
        case other:
            known = "In, NotIn, Exists and DoesNotExist are known"
            raise InvalidSelector(f"the operator of {key!r} is {other!r}; {known}")


def _text(requirement: Requirement) -> str:
    key, values = requirement.key, requirement.values
    match requirement.operator:
        case "Exists":
            return key
        case "DoesNotExist":
            return f"!{key}"
        case "In" if len(values) == 1:
            return f"{key}={values[0]}"
        case "NotIn" if len(values) == 1:
            return f"{key}!={values[0]}"
        case operator:
            return f"{key} {operator.lower()} ({','.join(sorted(values))})"
