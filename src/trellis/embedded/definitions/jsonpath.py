# SPDX-License-Identifier: Apache-2.0
"""JSON paths of printer columns, scales and selectable fields: kubectl's dialect.

Names, indices, slices, wildcards, filters and recursive descent; what is not there is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

Step = Callable[[list[Any]], list[Any]]

_NAME = re.compile(r"(?:\\.|[^.\[\]{}\\])+")
_INDEX = re.compile(r"-?[0-9]+")
_SLICE = re.compile(r"(-?[0-9]*):(-?[0-9]*)(?::([0-9]*))?")
_QUOTED = re.compile(r"""(['"])((?:\\.|(?!\1).)*)\1""")
_FILTER = re.compile(
    r"\?\(\s*(?P<left>@[^=<>!\s]*)\s*(?:(?P<op>==|!=|<=|>=|<|>)\s*(?P<right>.+?)\s*)?\)"
)
_DEPTH_LIMIT = 64


class InvalidJsonPath(ValueError):
    """The text is no path; the message says why."""


class JSONPath:
    """A path, parsed. Make them with `parsed`, which keeps them."""

    __slots__ = ("_steps",)

    def __init__(self, text: str) -> None:
        self._steps = _steps(text)

    def find(self, value: Any) -> list[Any]:
        """All that the path leads to, in order; nothing where it leads nowhere."""
        found = [value]
        for step in self._steps:
            found = step(found)
            if not found:
                break
        return found

    def first(self, value: Any) -> Any:
        """The first of them; None where there is none."""
        return next(iter(self.find(value)), None)


@lru_cache(maxsize=1024)
def parsed(text: str) -> JSONPath:
    return JSONPath(text)


def _steps(text: str) -> list[Step]:
    steps: list[Step] = []
    rest = text.removeprefix("$")
    while rest:
        if rest.startswith(".."):
            name, rest = _taken(_NAME, rest[2:], text)
            steps.append(_descent(_unescaped(name)))
        elif rest.startswith("["):
            inside, rest = _bracketed(rest, text)
            steps.append(_bracket(inside, text))
        elif rest == ".":
            break
        elif rest.startswith(".["):
            rest = rest[1:]
        else:
            name, rest = _taken(_NAME, rest.removeprefix("."), text)
            steps.append(_wildcard if name == "*" else _field(_unescaped(name)))
    return steps


def _taken(pattern: re.Pattern[str], rest: str, text: str) -> tuple[str, str]:
    found = pattern.match(rest)
    if found is None:
        raise InvalidJsonPath(f"{text!r} has no name where one must be: {rest[:20]!r}")
    return found[0], rest[found.end() :]


def _unescaped(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


def _bracketed(rest: str, text: str) -> tuple[str, str]:
    """What is inside the bracket, which may hold quoted brackets, and what follows it."""
    quote = ""
    for at, character in enumerate(rest):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "]":
            return rest[1:at], rest[at + 1 :]
    raise InvalidJsonPath(f"{text!r} has a bracket that is not closed")


def _bracket(inside: str, text: str) -> Step:
    inside = inside.strip()
    if inside == "*":
        return _wildcard
    if found := _FILTER.fullmatch(inside):
        return _filter(found)
    if quoted := list(_QUOTED.finditer(inside)):
        return _fields([_unescaped(each[2]) for each in quoted])
    if _INDEX.fullmatch(inside):
        return _item(int(inside))
    if found := _SLICE.fullmatch(inside):
        return _slice(*(int(each) if each else None for each in found.groups()))
    if _NAME.fullmatch(inside):
        return _field(inside)
    raise InvalidJsonPath(f"{text!r} has a bracket that cannot be read: [{inside}]")


def _field(name: str) -> Step:
    return lambda values: [each[name] for each in values if type(each) is dict and name in each]


def _fields(names: list[str]) -> Step:
    def step(values: list[Any]) -> list[Any]:
        return [v[name] for v in values if type(v) is dict for name in names if name in v]

    return step


def _item(at: int) -> Step:
    def step(values: list[Any]) -> list[Any]:
        lists = (each for each in values if type(each) is list)
        return [each[at] for each in lists if -len(each) <= at < len(each)]

    return step


def _slice(start: int | None = None, end: int | None = None, by: int | None = None) -> Step:
    def step(values: list[Any]) -> list[Any]:
        lists = (each for each in values if type(each) is list)
        return [item for each in lists for item in each[start : end : by or None]]

    return step


def _wildcard(values: list[Any]) -> list[Any]:
    return [item for each in values for item in _inside(each)]


def _inside(value: Any) -> Iterable[Any]:
    if type(value) is dict:
        return value.values()
    return value if type(value) is list else ()


def _descent(name: str) -> Step:
    def step(values: list[Any]) -> list[Any]:
        return [found for each in values for found in _everywhere(each, name, 0)]

    return step


def _everywhere(value: Any, name: str, depth: int) -> list[Any]:
    found = [value[name]] if type(value) is dict and name in value else []
    if depth < _DEPTH_LIMIT:
        for each in _inside(value):
            found += _everywhere(each, name, depth + 1)
    return found


_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda left, right: bool(left == right),
    "!=": lambda left, right: bool(left != right),
    "<": lambda left, right: bool(left < right),
    "<=": lambda left, right: bool(left <= right),
    ">": lambda left, right: bool(left > right),
    ">=": lambda left, right: bool(left >= right),
}


def _filter(found: re.Match[str]) -> Step:
    path = JSONPath(found["left"][1:])
    operator, literal = found["op"], _literal(found["right"]) if found["op"] else None

    def passes(item: Any) -> bool:
        left = path.find(item)
        if operator is None or not left:
            return bool(left)
        try:
            return _COMPARED[operator](left[0], literal)
        except TypeError:
            return False

    def step(values: list[Any]) -> list[Any]:
        return [item for each in values for item in _inside(each) if passes(item)]

    return step


def _literal(text: str) -> Any:
    if quoted := _QUOTED.fullmatch(text):
        return _unescaped(quoted[2])
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text) if re.search(r"[.eE]", text) else int(text)
    except ValueError:
        return text
