# SPDX-License-Identifier: Apache-2.0
"""Whether an object is what its schema says, and if not, the server's words for why not.

A node's checks are worked out once and then only run. An update may keep what was wrong before,
as long as it leaves it as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from trellis.embedded import fielderrors
from trellis.embedded.fielderrors import FieldError, invalid, shown, type_invalid
from trellis.embedded.schema import formats
from trellis.embedded.schema.correlate import NOTHING, entry, item_finder, same
from trellis.embedded.schema.junctors import junctors
from trellis.embedded.schema.numbers import number_checks
from trellis.embedded.schema.patterns import searcher
from trellis.embedded.schema.result import Flaws, Place, spelt

if TYPE_CHECKING:
    from trellis.embedded.schema.node import Node

_PLAN = "validate"
# What counts as right in every value: that it is there, its alternatives, its enumeration.
_ALWAYS = 4
_NULL = type(None)
# What the server calls each type, and the format it sees in a value of it.
_NAMES: dict[type, tuple[str, str]] = {
    str: ("string", ""),
    bool: ("boolean", ""),
    int: ("integer", "int64"),
    float: ("number", "float64"),
    list: ("array", ""),
    dict: ("object", ""),
}


def validate(node: Node, new: Any, old: Any = NOTHING, prefix: str = "") -> list[FieldError]:
    """`prefix` is where the value is in the object: messages inside say their path from there."""
    flaws = Flaws(prefix)
    _plan(node).run(new, None, old, flaws)
    return flaws.found


Run = Callable[[Any, Place, Any, Flaws], int]
"""Checks a value at a place against what it was; returns how much of it was right.

How much is right decides which of several alternatives a message is about."""


class _Plan(NamedTuple):
    """What is to be checked at a node."""

    run: Run
    free: dict[type, int]
    """Values of these types need no look, as most do not; how much of each is right."""


def _plan(node: Node) -> _Plan:
    if _PLAN not in node.plans:
        node.plans[_PLAN] = _worked_out(node)
    return node.plans[_PLAN]  # type: ignore[no-any-return]


def _run_of(node: Node) -> Run:
    return _plan(node).run


def _worked_out(node: Node) -> _Plan:
    by_type = {kind: _checks(node, kind) for kind in _NAMES} | {_NULL: _null(node)}

    def run(value: Any, place: Place, old: Any, flaws: Flaws) -> int:
        right, checks = by_type[type(value)]
        if old is NOTHING:
            for check in checks:
                right += check(value, place, old, flaws)
            return right
        before = len(flaws.found)
        for check in checks:
            right += check(value, place, old, flaws)
        if len(flaws.found) > before and same(node, value, old):
            del flaws.found[before:]
        return right

    return _Plan(run, {kind: right for kind, (right, checks) in by_type.items() if not checks})


def _checks(node: Node, kind: type) -> tuple[int, list[Run]]:
    """In the server's order: type, alternatives, limits, enumeration, what is inside."""
    right, found = _type(node, kind)
    right += _ALWAYS
    if node.any_of or node.one_of or node.all_of or node.negated is not None:
        found.append(junctors(node, _run_of))
    if kind is str:
        right += 1 + bool(_format(node))
        found += _string(node)
    elif kind in (int, float):
        found.append(number_checks(node, whole=kind is int))
    elif kind is list:
        found.append(_list(node))
    if node.enum:
        found.append(_enumeration(node))
    if kind is dict:
        found.append(_object(node))
    return right, found


def _types(node: Node) -> tuple[str, ...]:
    if node.int_or_string:
        return ("integer", "string")
    return (node.type,) if node.type else ()


def _format(node: Node) -> str:
    kind = "" if node.int_or_string else node.type
    return node.format if node.format and formats.known(kind, node.format) else ""


def _type(node: Node, kind: type) -> tuple[int, list[Run]]:
    """Whether a value's type fits depends on nothing but that type: it is decided here."""
    types, format_ = _types(node), _format(node)
    name, own_format = _NAMES[kind]
    fits = name in types or (name == "integer" and "number" in types)
    wanted, found = ",".join(types), name
    if format_ and kind not in (str, list) and not fits and own_format != format_:
        wanted, found = format_, own_format
    elif format_ and kind in (str, list) and not {"number", "integer"} & {*types}:
        fits = True
    if not types and not format_:
        return 0, []
    return (2, []) if fits else (1, [_wrong_type(wanted, found)])


def _wrong_type(wanted: str, found: str) -> Run:
    def wrong(value: Any, place: Place, old: Any, flaws: Flaws) -> int:  # noqa: ARG001
        flaws.found.append(_of_type(flaws, place, wanted, found))
        return 0

    return wrong


def _of_type(flaws: Flaws, place: Place, wanted: str, found: str) -> FieldError:
    where = spelt(place)
    said = f"{where} in body must be of type {wanted}: {shown(found)}"
    return type_invalid(flaws.path(place), found, said)


def _null(node: Node) -> tuple[int, list[Run]]:
    types = _types(node)
    listed = [_enumeration(node)] if node.enum else []
    if types and not node.nullable:
        return 0, [_wrong_type(",".join(types), "null"), *listed]
    return 1, listed


def _string(node: Node) -> list[Run]:
    least, most, pattern = node.min_length, node.max_length, node.pattern
    matches = searcher(pattern) if pattern else None

    def measured(value: Any, place: Place, old: Any, flaws: Flaws) -> int:  # noqa: ARG001
        where = flaws.path
        if most is not None and len(value) > most:
            what = "byte" if most == 1 else "bytes"
            flaws.found.append(fielderrors.too_long(where(place), most, what))
        elif least is not None and len(value) < least:
            said = f"{spelt(place)} in body should be at least {least} chars long"
            flaws.found.append(invalid(where(place), value, said))
        elif matches is not None and not matches(value):
            said = f"{spelt(place)} in body should match '{pattern}'"
            flaws.found.append(invalid(where(place), value, said))
        return 0

    limited = (least, most, matches) != (None, None, None)
    check = formats.check_of(node.format) if _format(node) else None
    found: list[Run] = [measured] if limited else []
    if check is None:
        return found

    def formatted(value: Any, place: Place, old: Any, flaws: Flaws) -> int:  # noqa: ARG001
        if not check(value):
            flaws.found.append(_of_type(flaws, place, node.format, value))
        return 0

    return [*found, formatted]


def _enumeration(node: Node) -> Run:
    allowed = node.enum
    texts = frozenset(each for each in allowed if isinstance(each, str))

    def run(value: Any, place: Place, old: Any, flaws: Flaws) -> int:  # noqa: ARG001
        if type(value) is str and value in texts:
            return 0
        if not any(_equal(value, each) for each in allowed):
            words = [each if isinstance(each, str) else shown(each) for each in allowed]
            flaws.found.append(fielderrors.not_supported(flaws.path(place), value, words))
        return 0

    return run


def _equal(value: Any, allowed: Any) -> bool:
    if allowed is None or isinstance(value, bool) != isinstance(allowed, bool):
        return False
    return bool(value == allowed)


def _list(node: Node) -> Run:
    least, most = node.min_items, node.max_items

    def run(value: Any, place: Place, old: Any, flaws: Flaws) -> int:
        right = 2 + _items(node, value, place, old, flaws)
        count = len(value)
        if least is not None and count < least:
            said = f"{spelt(place)} in body should have at least {least} items"
            flaws.found.append(invalid(flaws.path(place), count, said))
        if most is not None and count > most:
            flaws.found.append(fielderrors.too_many(flaws.path(place), count, most))
        return right

    return run


def _items(node: Node, value: list[Any], place: Place, old: Any, flaws: Flaws) -> int:
    if node.items is None:
        return 0
    check, free = _plan(node.items)
    right = 0
    for at, each in enumerate(value):
        if type(each) in free:
            right += free[type(each)]
            continue
        before = len(flaws.found)
        right += check(each, (place, at), NOTHING, flaws)
        if len(flaws.found) > before and old is not NOTHING:
            # Only now is it worth finding out what this item was.
            find = item_finder(node, old)
            if find is not None:
                del flaws.found[before:]
                check(each, (place, at), find(each), flaws)
    return right


def _object(node: Node) -> Run:
    plans = {name: _plan(inner) for name, inner in node.properties.items()}
    others = _plan(node.additional) if node.additional is not None else None
    required = node.required
    limits = (node.min_properties, node.max_properties)
    limited = node.closed or limits != (None, None)

    def run(value: Any, place: Place, old: Any, flaws: Flaws) -> int:
        right = 1
        if limited:
            _count(node, value, place, flaws)
        for name, each in value.items():
            inner = plans.get(name, others)
            if inner is None:
                continue
            check, free = inner
            if type(each) in free:
                right += free[type(each)]
            else:
                was = NOTHING if old is NOTHING else entry(node, old, name)
                right += check(each, (place, name), was, flaws)
        for name in required:
            if name not in value:
                flaws.found.append(fielderrors.required(flaws.path((place, name))))
        return right

    return run


def _count(node: Node, value: dict[str, Any], place: Place, flaws: Flaws) -> None:
    """How many properties there may be, and whether others than those that are named."""
    least, most, count = node.min_properties, node.max_properties, len(value)
    if least is not None and count < least:
        said = f"{spelt(place)} in body should have at least {least} properties"
        flaws.found.append(invalid(flaws.path(place), count, said))
    if most is not None and count > most:
        flaws.found.append(fielderrors.too_many(flaws.path(place), count, most))
    for name in value if node.closed else ():
        if name not in node.properties:
            said = f"{spelt((place, name))} in body is a forbidden property"
            flaws.found.append(invalid(flaws.path(place), name, said))
