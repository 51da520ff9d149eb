# SPDX-License-Identifier: Apache-2.0
"""Label selectors as the real server reads them: what it accepts, and what it says if not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from trellis.embedded.fielderrors import invalid
from trellis.embedded.natives.syntax import label_key, label_value
from trellis.embedded.refusals import bad_request

Check = Callable[[Mapping[str, str]], bool]

_TOKEN = re.compile(r"[ \t\n\r]*(?:(==|!=|[=!<>(),])|([^ \t\n\r=!<>(),]+))")
_WORDS = {"in": "in", "notin": "notin"}
_SIGNS = ("in", "notin", "=", "==", "!=", ">", "<")
_END = "end"
_ID = "identifier"
_LONGEST = 1 << 16


class _Bad(Exception):
    pass


@dataclass(frozen=True, slots=True)
class LabelSelector:
    checks: tuple[Check, ...] = ()

    @property
    def everything(self) -> bool:
        return not self.checks

    def matches(self, labels: Mapping[str, str]) -> bool:
        return all(check(labels) for check in self.checks)


@lru_cache(maxsize=512)
def parse_labels(text: str) -> LabelSelector:
    try:
        return LabelSelector(tuple(_Parser(text[:_LONGEST]).all()))
    except _Bad as bad:
        raise bad_request(str(bad)) from None


class _Parser:
    """One token ahead, as Kubernetes' grammar needs it."""

    def __init__(self, text: str) -> None:
        self._tokens = [_token(*found) for found in _TOKEN.findall(text)]
        self._at = 0

    def all(self) -> list[Check]:
        checks: list[Check] = []
        while True:
            kind, said = self._ahead()
            if kind == _END:
                return checks
            if kind not in {_ID, "!"}:
                raise _Bad(f"found '{said}', expected: !, identifier, or 'end of string'")
            try:
                checks.append(self._requirement())
            except _Bad as bad:
                raise _Bad(f"unable to parse requirement: {bad}") from None
            if self._ended():
                return checks

    def _ended(self) -> bool:
        kind, said = self._take()
        if kind == _END:
            return True
        if kind != ",":
            raise _Bad(f"found '{said}', expected: ',' or 'end of string'")
        kind, said = self._ahead()
        if kind not in {_ID, "!"}:
            raise _Bad(f"found '{said}', expected: identifier after ','")
        return False

    def _requirement(self) -> Check:
        kind, key = self._take()
        negated = kind == "!"
        if negated:
            kind, key = self._take()
        if kind != _ID:
            raise _Bad(f"found '{key}', expected: identifier")
        _legal_key(key)
        if negated:
            return lambda labels: key not in labels
        if self._ahead()[0] in {_END, ","}:
            return lambda labels: key in labels
        sign, said = self._take(operator=True)
        if sign not in _SIGNS:
            raise _Bad(f"found '{said}', expected: in, notin, =, ==, !=, gt, lt")
        return _check(key, sign, self._values() if sign in _WORDS else self._value())

    def _values(self) -> list[str]:
        kind, said = self._take()
        if kind != "(":
            raise _Bad(f"found '{said}' expected: '('")
        kind, said = self._ahead()
        if kind == ")":
            self._take()
            return [""]
        if kind not in {_ID, ","}:
            raise _Bad(f"found '{said}', expected: ',', ')' or identifier")
        values = self._listed()
        self._take()
        return sorted(values)

    def _listed(self) -> set[str]:
        values: set[str] = set()
        while True:
            kind, said = self._take()
            if kind == _ID:
                values.add(said)
                after, said = self._ahead()
                if after == ")":
                    return values
                if after != ",":
                    raise _Bad(f"found '{said}', expected: ',' or ')'")
            elif kind == ",":
                after, _ = self._ahead()
                if not values or after in {")", ","}:
                    values.add("")
                if after == ")":
                    return values
            else:
                raise _Bad(f"found '{said}', expected: ',', or identifier")

    def _value(self) -> list[str]:
        if self._ahead()[0] in {_END, ","}:
            return [""]
        kind, said = self._take()
        if kind != _ID:
            raise _Bad(f"found '{said}', expected: identifier")
        return [said]

    def _ahead(self, *, operator: bool = False) -> tuple[str, str]:
        if self._at >= len(self._tokens):
            return _END, ""
        kind, said = self._tokens[self._at]
        if operator and kind == _ID:
            return _WORDS.get(said, _ID), said
        return kind, said

    def _take(self, *, operator: bool = False) -> tuple[str, str]:
        found = self._ahead(operator=operator)
        self._at += 1
        return found


def _token(sign: str, word: str) -> tuple[str, str]:
    return (sign, sign) if sign else (_ID, word)


def _legal_key(key: str) -> None:
    problems = label_key(key)
    if problems:
        raise _Bad(str(invalid("<nil>", key, "; ".join(problems))))


def _check(key: str, sign: str, values: list[str]) -> Check:
    if sign in {">", "<"}:
        return _compared(key, sign, values[0])
    for position, value in enumerate(values):
        problems = label_value(value)
        if problems:
            path = f"values[{position}][{key}]"
            raise _Bad(str(invalid(path, value, "; ".join(problems))))
    allowed = frozenset(values)
    if sign in {"notin", "!="}:
        return lambda labels: labels.get(key) not in allowed
    return lambda labels: labels.get(key) in allowed


def _compared(key: str, sign: str, bound: str) -> Check:
    limit = _integer(bound)
    if limit is None:
        why = "for 'Gt', 'Lt' operators, the value must be an integer"
        raise _Bad(str(invalid("values[0]", bound, why)))

    def check(labels: Mapping[str, str]) -> bool:
        number = _integer(labels.get(key, ""))
        if number is None:
            return False
        return number > limit if sign == ">" else number < limit

    return check


def _integer(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,19}", text) else None
