# SPDX-License-Identifier: Apache-2.0
"""An expression ready to run, and the way there: parse, expand, check, estimate, close over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from trellis.cel.checker import Checker
from trellis.cel.closures import Closures
from trellis.cel.costs import straight
from trellis.cel.estimate import Estimate
from trellis.cel.macros import Expansion
from trellis.cel.parsing import parsed
from trellis.cel.plain import plain
from trellis.cel.problems import CompileProblem, EvaluationProblem, told
from trellis.cel.shapes import admitter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trellis.cel.environment import Environment
    from trellis.cel.tree import Node
    from trellis.cel.types import Type

PER_CALL_LIMIT = 1_000_000
_PLAIN = frozenset({bool, str, int, float, type(None)})


@dataclass(slots=True)
class Meter:
    """A budget that several evaluations share."""

    left: int

    @property
    def spent(self) -> bool:
        return self.left < 0


class Program:
    """Evaluates one expression. Holds nothing between evaluations."""

    def __init__(self, expression: str, environment: Environment, root: Node) -> None:
        self.expression = expression
        self.type: Type = root.type
        self.result_type = root.type.declared
        """As messages of the server write it: `bool`, `list(string)`."""
        closures = Closures(environment)
        self._run: Callable[[list[Any]], Any] = closures.compiled(root)
        self._size = closures.size
        self._cost = straight(root)
        self._inputs = [
            (name, slot, admitter(environment.variables[name]))
            for name, slot in closures.slots.items()
        ]
        self.names = frozenset(closures.slots)
        """The variables that the expression reads."""
        self._root, self._environment = root, environment

    @cached_property
    def estimated_cost(self) -> int:
        """The most that one evaluation can cost, by the limits of what is declared."""
        return Estimate(self._environment).of(self._root)

    def evaluate(self, bindings: Mapping[str, Any], meter: Meter | None = None) -> Any:
        """The value for these bindings, in plain Python. Raises EvaluationProblem."""
        frame: list[Any] = [PER_CALL_LIMIT - self._cost]
        frame += [None] * (self._size - 1)
        try:
            for name, slot, admit in self._inputs:
                value = bindings[name]
                frame[slot] = admit(value) if admit else value
            found = self._run(frame)
            return found if type(found) in _PLAIN else plain(found)
        except EvaluationProblem:
            raise
        except KeyError as absent:
            raise EvaluationProblem(f"no such attribute(s): {absent.args[0]}") from None
        except (TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as broken:
            # Only values that are not of their declared type bring this about.
            raise EvaluationProblem("no such overload") from broken
        finally:
            if meter is not None:
                meter.left -= PER_CALL_LIMIT - frame[0]


@lru_cache(maxsize=4096)
def compile(expression: str, environment: Environment) -> Program:
    """A program for an expression. Raises CompileProblem; asking again costs nothing."""
    return compiled(expression, environment)


def compiled(expression: str, environment: Environment) -> Program:
    """The same for whoever keeps it: nothing of it is left when they let go of it."""
    expansion = Expansion(bind=environment.bind)
    root = expansion.expanded(parsed(expression))
    if expansion.issues:
        raise CompileProblem(told(expression, expansion.issues))
    checker = Checker(environment)
    checker.checked(root)
    if checker.issues:
        raise CompileProblem(told(expression, checker.issues))
    return Program(expression, environment, root)
