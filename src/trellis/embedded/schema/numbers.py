# SPDX-License-Identifier: Apache-2.0
"""Limits of numbers. Whole ones are measured by the whole part of a limit, as the server does."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import invalid
from trellis.embedded.gotext import number
from trellis.embedded.schema.result import Flaws, Place, spelt

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.embedded.schema.node import Node

_BITS = {"int32": 31, "int64": 63}


def number_checks(node: Node, *, whole: bool) -> Callable[[Any, Place, Any, Flaws], int]:
    kind = "" if node.int_or_string else node.type
    format_ = node.format if node.format in _FORMATS.get(kind, ()) else ""
    limits = _limits(node, kind, format_, whole=whole)
    surely = _surely(node, kind, format_) if whole else range(0)

    def run(value: Any, place: Place, old: Any, flaws: Flaws) -> int:  # noqa: ARG001
        if value in surely:
            return 2
        if not _within(value, kind, format_):
            flaws.unplaced(_out_of_range("Checked", kind, format_, place))
        for limit in limits:
            limit(value, place, flaws)
        return 2

    return run


def _surely(node: Node, kind: str, format_: str) -> range:
    """Whole numbers that break no limit; for the others it is worth looking closer."""
    limits = [limit for limit in (node.minimum, node.maximum) if limit is not None]
    odd = not all(_within(limit, kind, format_) for limit in limits)
    if odd or node.multiple_of is not None or kind == "number":
        return range(0)
    bits = _BITS.get(format_, 63)
    least, most = -(1 << bits), (1 << bits) - 1
    if node.minimum is not None:
        least = max(least, int(node.minimum) + node.exclusive_minimum)
    if node.maximum is not None:
        most = min(most, int(node.maximum) - node.exclusive_maximum)
    return range(least, most + 1)


_FORMATS = {"integer": ("int32", "int64"), "number": ("float", "double")}


def _within(value: float, kind: str, format_: str) -> bool:
    if kind == "integer":
        bits = _BITS.get(format_, 63)
        return float(value).is_integer() and -(1 << bits) <= value < 1 << bits
    if format_ == "float":
        try:
            struct.pack("<f", value)
        except OverflowError:
            return False
    return True


def _out_of_range(what: str, kind: str, format_: str, place: Place) -> str:
    shape = f"with format {format_}" if format_ else "(default format)"
    return f"{what} value must be of type {kind} {shape} in {spelt(place)}"


def _limits(node: Node, kind: str, format_: str, *, whole: bool) -> list[Any]:
    found: list[Any] = []
    if node.multiple_of is not None:
        found.append(_multiple(node.multiple_of, whole=whole))
    for limit, exclusive, lower in (
        (node.minimum, node.exclusive_minimum, True),
        (node.maximum, node.exclusive_maximum, False),
    ):
        if limit is not None:
            fits = _within(limit, kind, format_)
            bound = int(limit) if whole and fits else limit
            found.append(_bound(bound, exclusive=exclusive, lower=lower))
            if not fits:
                found.append(
                    _misfit(f"{'Minimum' if lower else 'Maximum'} boundary", kind, format_)
                )
    return found


def _misfit(what: str, kind: str, format_: str) -> Any:
    """The limit itself is none for such a number, which is said of every value."""

    def check(value: Any, place: Place, flaws: Flaws) -> None:  # noqa: ARG001
        flaws.unplaced(_out_of_range(what, kind, format_, place))

    return check


def _bound(limit: float, *, exclusive: bool, lower: bool) -> Any:
    side = "greater than" if lower else "less than"
    or_equal = "" if exclusive else " or equal to"

    def check(value: Any, place: Place, flaws: Flaws) -> None:
        beyond = value < limit if lower else value > limit
        if beyond or (exclusive and value == limit):
            said = f"{spelt(place)} in body should be {side}{or_equal} {number(limit)}"
            flaws.found.append(invalid(flaws.path(place), value, said))

    return check


def _multiple(of: float, *, whole: bool) -> Any:
    factor = int(of) if whole else of

    def check(value: Any, place: Place, flaws: Flaws) -> None:
        where = spelt(place)
        if factor <= 0:
            said = f"factor MultipleOf declared for {where} must be positive: {number(factor)}"
            flaws.found.append(invalid(flaws.path(place), factor, said))
        elif not _divides(factor, value):
            said = f"{where} in body should be a multiple of {number(factor)}"
            flaws.found.append(invalid(flaws.path(place), value, said))

    return check


def _divides(factor: float, value: float) -> bool:
    if isinstance(factor, int) and isinstance(value, int):
        return value % factor == 0
    times = 1 / factor * value if factor < 1 else value / factor
    # As near to a whole number as the server takes for one.
    return abs(times - round(times)) < 1e-9 * max(1.0, abs(times))
