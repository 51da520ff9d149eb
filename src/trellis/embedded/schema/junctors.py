# SPDX-License-Identifier: Apache-2.0
"""anyOf, oneOf, allOf and not: of several alternatives that fail, the nearest one is reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trellis.embedded.schema.correlate import NOTHING
from trellis.embedded.schema.result import Flaws, Place, spelt

if TYPE_CHECKING:
    from trellis.embedded.fielderrors import FieldError
    from trellis.embedded.schema.node import Node

Run = Callable[[Any, Place, Any, Flaws], int]


class _Outcome:
    """What one alternative said."""

    __slots__ = ("errors", "right")

    def __init__(self, run: Run, value: Any, place: Place, prefix: str) -> None:
        flaws = Flaws(prefix)
        self.right = run(value, place, NOTHING, flaws)
        self.errors: list[FieldError] = flaws.found


def junctors(node: Node, plan: Callable[[Node], Run]) -> Run:
    """`plan` gives the checks of a node; it is called when a value comes, not before."""
    parts: list[Callable[[Any, Place, Flaws], int]] = []
    if node.any_of:
        parts.append(_any_of(node.any_of, plan))
    if node.one_of:
        parts.append(_one_of(node.one_of, plan))
    if node.all_of:
        parts.append(_all_of(node.all_of, plan))
    if node.negated is not None:
        parts.append(_negated(node.negated, plan))

    def run(value: Any, place: Place, old: Any, flaws: Flaws) -> int:  # noqa: ARG001
        return sum(part(value, place, flaws) for part in parts)

    return run


def _nearest(failed: list[_Outcome]) -> _Outcome:
    return max(failed, key=lambda outcome: outcome.right)


def _any_of(nodes: tuple[Node, ...], plan: Callable[[Node], Run]) -> Any:
    def check(value: Any, place: Place, flaws: Flaws) -> int:
        failed: list[_Outcome] = []
        for node in nodes:
            outcome = _Outcome(plan(node), value, place, flaws.prefix)
            if not outcome.errors:
                return outcome.right
            failed.append(outcome)
        flaws.unplaced(f'"{spelt(place)}" must validate at least one schema (anyOf)')
        nearest = _nearest(failed)
        flaws.found += nearest.errors
        return nearest.right

    return check


def _one_of(nodes: tuple[Node, ...], plan: Callable[[Node], Run]) -> Any:
    def check(value: Any, place: Place, flaws: Flaws) -> int:
        outcomes = [_Outcome(plan(node), value, place, flaws.prefix) for node in nodes]
        valid = [outcome for outcome in outcomes if not outcome.errors]
        if len(valid) == 1:
            return valid[0].right
        found = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
        said = f'"{spelt(place)}" must validate one and only one schema (oneOf). {found}'
        flaws.unplaced(said)
        if valid:
            return 0
        nearest = _nearest(outcomes)
        flaws.found += nearest.errors
        return nearest.right

    return check


def _all_of(nodes: tuple[Node, ...], plan: Callable[[Node], Run]) -> Any:
    def check(value: Any, place: Place, flaws: Flaws) -> int:
        outcomes = [_Outcome(plan(node), value, place, flaws.prefix) for node in nodes]
        for outcome in outcomes:
            flaws.found += outcome.errors
        if any(outcome.errors for outcome in outcomes):
            none = ". None validated" if all(outcome.errors for outcome in outcomes) else ""
            flaws.unplaced(f'"{spelt(place)}" must validate all the schemas (allOf){none}')
        return sum(outcome.right for outcome in outcomes)

    return check


def _negated(node: Node, plan: Callable[[Node], Run]) -> Any:
    def check(value: Any, place: Place, flaws: Flaws) -> int:
        if not _Outcome(plan(node), value, place, flaws.prefix).errors:
            flaws.unplaced(f'"{spelt(place)}" must not validate the schema (not)')
        return 0

    return check
