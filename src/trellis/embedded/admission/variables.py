# SPDX-License-Identifier: Apache-2.0
"""Variables of a policy: each is worked out when it is first asked for, from those before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trellis import cel
from trellis.cel.types import DYN, Type

if TYPE_CHECKING:
    from collections.abc import Sequence


def declared(
    variables: Sequence[Mapping[str, str]], *, params: bool, schema: Mapping[str, Any] | None = None
) -> cel.Environment:
    """The environment in which all variables are known, with the types of what they give."""
    types: dict[str, Type] = {}

    def environment() -> cel.Environment:
        return cel.admission(params=params, variables=dict(types), schema=schema)

    for variable in variables:
        types[variable["name"]] = _type(variable["expression"], environment())
    return environment()


def _type(expression: str, environment: cel.Environment) -> Type:
    try:
        return cel.compile(expression, environment).type
    except cel.CompileProblem:
        return DYN  # whoever asks for it is told


class Variables(Mapping[str, Any]):
    """Bound as `variables`: what it computes it remembers, for one evaluation of the policy."""

    def __init__(
        self,
        variables: Sequence[Mapping[str, str]],
        environment: cel.Environment,
        known: Mapping[str, Any],
        meter: cel.Meter,
    ) -> None:
        self._expressions = {each["name"]: each["expression"] for each in variables}
        self._environment = environment
        self._known = known
        self._meter = meter
        self._found: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._found:
            self._found[name] = self._evaluated(name)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._expressions)

    def __len__(self) -> int:
        return len(self._expressions)

    def _evaluated(self, name: str) -> Any:
        try:
            program = cel.compile(self._expressions[name], self._environment)
            return program.evaluate({**self._known, "variables": self}, self._meter)
        except cel.CompileProblem as problem:
            said = f'composited variable "{name}" fails to compile: {problem}'
            raise cel.EvaluationProblem(said) from None
        except cel.BudgetSpent:
            raise
        except cel.EvaluationProblem as problem:
            said = f'composited variable "{name}" fails to evaluate: {problem}'
            raise cel.EvaluationProblem(said) from None
