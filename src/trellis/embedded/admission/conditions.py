# SPDX-License-Identifier: Apache-2.0
"""Conditions in CEL that a request must meet before a webhook or policy is asked. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from trellis import cel
from trellis.embedded.access.rbac import aggregate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_BUDGET = 2_500_000


class Undecided(Exception):
    """No condition is false and one fails: the message says which and how."""


@dataclass(frozen=True, slots=True)
class Conditions:
    expressions: tuple[str, ...]
    environment: cel.Environment
    may_fail: bool

    @classmethod
    def of(
        cls,
        entries: Iterable[Mapping[str, str]],
        environment: cel.Environment | None = None,
        *,
        may_fail: bool,
    ) -> Conditions:
        found = tuple(entry["expression"] for entry in entries)
        return cls(found, environment or _of_webhooks(), may_fail)

    def hold(self, bindings: Mapping[str, Any]) -> bool:
        """Raises `Undecided`, unless failures are to be passed over: then they do not hold."""
        problems: list[str] = []
        meter = cel.Meter(_BUDGET)
        for expression in self.expressions:
            try:
                if evaluated(expression, self.environment, bindings, meter) is False:
                    return False
            except Failed as failure:
                problems.append(str(failure))
        if problems and not self.may_fail:
            raise Undecided(aggregate(problems))
        return not problems


@cache
def _of_webhooks() -> cel.Environment:
    """A webhook's conditions know neither parameters nor variables."""
    return cel.admission()


class Failed(Exception):
    """An expression does not compile or has no value."""


def evaluated(
    expression: str,
    environment: cel.Environment,
    bindings: Mapping[str, Any],
    meter: cel.Meter,
) -> Any:
    try:
        found = cel.compile(expression, environment).evaluate(bindings, meter)
    except cel.CompileProblem as problem:
        raise Failed(f"compilation error: {problem}") from None
    except cel.EvaluationProblem as problem:
        raise Failed(f"expression '{expression}' resulted in error: {problem}") from None
    if meter.spent:
        said = "validation failed due to running out of cost budget,"
        raise Failed(f"{said} no further validation rules will be run")
    return found
