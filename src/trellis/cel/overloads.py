# SPDX-License-Identifier: Apache-2.0
"""Declarations of functions: what they take, what they give, what they run and what that costs.

LIBRARY = Library()
LIBRARY.member("find", "string, string -> string", find)       # 'text'.find('pattern')
LIBRARY.function("isURL", "string -> bool", is_url)            # isURL('text')
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trellis.cel.types import Type, named

Run = Callable[..., Any]
Cost = Callable[..., int]


@dataclass(frozen=True, slots=True)
class Overload:
    function: str
    member: bool
    params: tuple[Type, ...]
    result: Type
    run: Run
    cost: Cost | None
    """What a call costs beyond the fixed price, from its arguments; None where that is all."""

    @property
    def variables(self) -> list[Type]:
        found: dict[Type, None] = {}
        for given in (*self.params, self.result):
            _collect(given, found)
        return list(found)


def _collect(given: Type, found: dict[Type, None]) -> None:
    if given.kind == "param":
        found[given] = None
    for param in given.params:
        _collect(param, found)


class Library:
    """Functions by name."""

    def __init__(self, *parts: Library) -> None:
        self.functions: dict[str, list[Overload]] = {}
        for part in parts:
            for name, overloads in part.functions.items():
                self.functions.setdefault(name, []).extend(overloads)

    def function(self, name: str, signature: str, run: Run, cost: Cost | None = None) -> None:
        self._add(name, signature, run, cost, member=False)

    def member(self, name: str, signature: str, run: Run, cost: Cost | None = None) -> None:
        self._add(name, signature, run, cost, member=True)

    def _add(self, name: str, signature: str, run: Run, cost: Cost | None, *, member: bool) -> None:
        left, _, right = signature.rpartition("->")
        params = tuple(named(f"params<{left}>").params) if left.strip() else ()
        overload = Overload(name, member, params, named(right.strip()), run, cost)
        self.functions.setdefault(name, []).append(overload)


# How a value of a declared type is called at run time; None accepts every value.
_RUNTIME = {"null": "null_type", "timestamp": "google.protobuf.Timestamp", "type": "type"}


def runtime_kind(given: Type) -> str | None:
    if given.kind in {"dyn", "param"}:
        return None
    return _RUNTIME.get(given.kind, given.name)


def traversal(*texts: Any) -> int:
    """The price of walking over strings or bytes: a tenth for each character, rounded up."""
    return sum((len(text) + 9) // 10 for text in texts)
