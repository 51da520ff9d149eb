# SPDX-License-Identifier: Apache-2.0
"""Loops over lists and maps. Each round is paid for, so that no loop outlives its budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from trellis.cel.conditions import truth
from trellis.cel.lists import self_compared, sorted_by
from trellis.cel.problems import BudgetSpent, EvaluationProblem
from trellis.cel.values import kind_of, no_overload

Frame = list[Any]
Run = Callable[[Frame], Any]
Rounds = Callable[[Frame], Iterable[None]]
Parts = tuple[Run | None, Run | None]
# What the server's message calls a value that it cannot loop over.
_GO_NAMES = {
    "bool": "types.Bool",
    "int": "types.Int",
    "uint": "types.Uint",
    "double": "types.Double",
    "string": "types.String",
    "bytes": "types.Bytes",
    "null_type": "types.Null",
    "google.protobuf.Timestamp": "types.Timestamp",
    "google.protobuf.Duration": "types.Duration",
}
# The price of a round beside what it evaluates.
_ROUND_COST = {"all": 3, "exists": 4, "existsOne": 2, "list": 12, "map": 3, "entry": 2, "sort": 12}


def fold(macro: str, source: Run, slots: list[int], parts: Parts, cost: int) -> Run:
    """A loop of a kind; `parts` are what decides or filters, and what each round yields."""
    rounds = _rounds(source, slots, cost + _ROUND_COST[macro])
    condition, result = parts
    if macro in _DECIDING:
        return _DECIDING[macro](rounds, condition or _yes)
    yields = result or _yes
    match macro:
        case "list":
            return _collected(rounds, condition, yields)
        case "map":
            return _mapped(rounds, slots[0], condition, yields)
        case "entry":
            return _merged(rounds, condition, yields)
    return _sorted(source, rounds, yields)


def _yes(_frame: Frame) -> bool:
    return True


def _rounds(source: Run, slots: list[int], cost: int) -> Rounds:
    first, second = slots[0], slots[-1]
    pair = len(slots) == 2

    def run(frame: Frame) -> Iterable[None]:
        values = source(frame)
        kind = kind_of(values)
        if kind not in {"list", "map"}:
            name = _GO_NAMES.get(kind, "types.Err")
            raise EvaluationProblem(f"got '{name}', expected iterable type")
        items: Iterable[Any] = values
        if pair:
            items = values.items() if kind == "map" else enumerate(values)
        for item in items:
            frame[0] -= cost
            if frame[0] < 0:
                raise BudgetSpent
            if pair:
                frame[first], frame[second] = item
            else:
                frame[first] = item
            yield

    return run


def _quantified(rounds: Rounds, condition: Run, *, decisive: bool) -> Run:
    other = not decisive

    def run(frame: Frame) -> bool:
        problem: EvaluationProblem | None = None
        for _ in rounds(frame):
            try:
                holds = condition(frame)
            except BudgetSpent:
                raise
            except EvaluationProblem as found:
                problem = problem or found
                continue
            if holds is decisive:
                return not other
            if holds is not other:
                problem = problem or no_overload()
        if problem is not None:
            raise problem
        return other

    return run


def _one(rounds: Rounds, condition: Run) -> Run:
    return lambda frame: sum(truth(condition(frame)) for _ in rounds(frame)) == 1


_DECIDING: dict[str, Callable[[Rounds, Run], Run]] = {
    "all": partial(_quantified, decisive=False),
    "exists": partial(_quantified, decisive=True),
    "existsOne": _one,
}


def _collected(rounds: Rounds, condition: Run | None, result: Run) -> Run:
    if condition is None:
        return lambda frame: [result(frame) for _ in rounds(frame)]
    return lambda frame: [result(frame) for _ in rounds(frame) if truth(condition(frame))]


def _insert(found: dict[Any, Any], key: Any, value: Any) -> None:
    if key in found:
        raise EvaluationProblem(f"insert failed: key {key} already exists")
    found[key] = value


def _mapped(rounds: Rounds, key_slot: int, condition: Run | None, result: Run) -> Run:
    def run(frame: Frame) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for _ in rounds(frame):
            if condition is None or truth(condition(frame)):
                _insert(found, frame[key_slot], result(frame))
        return found

    return run


def _merged(rounds: Rounds, condition: Run | None, result: Run) -> Run:
    def run(frame: Frame) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for _ in rounds(frame):
            if condition is not None and not truth(condition(frame)):
                continue
            entry = result(frame)
            if not isinstance(entry, Mapping):
                raise no_overload()
            for key, value in entry.items():
                _insert(found, key, value)
        return found

    return run


def _sorted(source: Run, rounds: Rounds, result: Run) -> Run:
    def run(frame: Frame) -> list[Any]:
        keys = [result(frame) for _ in rounds(frame)]
        frame[0] -= self_compared(keys)
        if frame[0] < 0:
            raise BudgetSpent
        items = source(frame)
        if not isinstance(items, list):
            raise no_overload()
        return sorted_by(items, keys)

    return run
