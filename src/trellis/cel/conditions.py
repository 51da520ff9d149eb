# SPDX-License-Identifier: Apache-2.0
"""Operators that may leave an operand unevaluated: `&&`, `||`, `?:`, `or`, `orValue`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trellis.cel.costs import pay
from trellis.cel.problems import BudgetSpent, EvaluationProblem
from trellis.cel.values import Optional, no_overload

Frame = list[Any]
Run = Callable[[Frame], Any]
Lazy = Callable[[list[Run], list[int]], Run]


def _both(runs: list[Run], costs: list[int]) -> Run:
    return _junction(runs, costs[1], decisive=False)


def _either(runs: list[Run], costs: list[int]) -> Run:
    return _junction(runs, costs[1], decisive=True)


def _junction(runs: list[Run], cost: int, *, decisive: bool) -> Run:
    """`&&` and `||`: the decisive value on either side outweighs an error on the other."""
    first, second = runs
    other = not decisive

    def joined(frame: Frame) -> bool:
        try:
            left = first(frame)
        except EvaluationProblem as problem:
            return _rescued(frame, (second, cost), problem, decisive=decisive)
        if left is decisive:
            return not other
        if left is not other:
            return _rescued(frame, (second, cost), no_overload(), decisive=decisive)
        frame[0] -= cost
        if frame[0] < 0:
            raise BudgetSpent
        return truth(second(frame))

    return joined


def truth(value: Any) -> bool:
    if value is True:
        return True
    if value is False:
        return False
    raise no_overload()


def _rescued(
    frame: Frame, second: tuple[Run, int], problem: EvaluationProblem, *, decisive: bool
) -> bool:
    """The decisive value, if the other side has it after this one failed."""
    if isinstance(problem, BudgetSpent):
        raise problem
    run, cost = second
    pay(frame, cost)
    try:
        right = run(frame)
    except BudgetSpent:
        raise
    except EvaluationProblem:
        raise problem from None
    if right is not decisive:
        raise problem
    return bool(decisive)


def _choice(runs: list[Run], costs: list[int]) -> Run:
    condition, yes, no = runs

    def choose(frame: Frame) -> Any:
        if truth(condition(frame)):
            pay(frame, costs[1])
            return yes(frame)
        pay(frame, costs[2])
        return no(frame)

    return choose


def _or_value(runs: list[Run], costs: list[int]) -> Run:
    optional, fallback = runs

    def choose(frame: Frame) -> Any:
        value = optional(frame)
        if not isinstance(value, Optional):
            raise no_overload()
        if value.present:
            return value.value
        pay(frame, costs[1])
        return fallback(frame)

    return choose


def _or(runs: list[Run], costs: list[int]) -> Run:
    optional, fallback = runs

    def choose(frame: Frame) -> Any:
        value = optional(frame)
        if not isinstance(value, Optional):
            raise no_overload()
        if value.present:
            return value
        pay(frame, costs[1])
        return fallback(frame)

    return choose


LAZIES: dict[str, Lazy] = {
    "_&&_": _both,
    "_||_": _either,
    "_?_:_": _choice,
    "or": _or,
    "orValue": _or_value,
}
