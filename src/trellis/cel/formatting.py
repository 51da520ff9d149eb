# SPDX-License-Identifier: Apache-2.0
"""`'%s and %d'.format([…])`, and values written the way it writes them."""

from __future__ import annotations

import json
import math
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from trellis.cel.problems import EvaluationProblem
from trellis.cel.times import duration_text, timestamp_text
from trellis.cel.values import Duration, Timestamp, Uint, double_text, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_CLAUSE = re.compile(r"%(?:%|(?:\.([0-9]*))?(.?))", re.DOTALL)
_DEFAULT_PRECISION = 6
# No double has more digits that mean anything; without a bound a format could fill the memory.
_PRECISION_LIMIT = 1100
_LENGTH_LIMIT = 1_000_000
_ESCAPES = str.maketrans(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        '"': '\\"',
    }
)


def quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


ANYTHING: Any = object()
"""Stands for a value of unknown type: every clause accepts it."""


def clauses(template: str) -> Iterator[Callable[[Any], str]]:
    """What writes each value that a template asks for, in order."""
    for clause in _CLAUSE.finditer(template):
        if clause[0] != "%%":
            yield partial(_clause, clause)


def formatted(template: str, args: list[Any]) -> str:
    remaining = iter(args)
    parts: list[str] = []
    at = count = length = 0
    for clause in _CLAUSE.finditer(template):
        parts.append(template[at : clause.start()])
        at = clause.end()
        if clause[0] == "%%":
            parts.append("%")
            continue
        try:
            value = next(remaining)
        except StopIteration:
            raise EvaluationProblem(f"index {count} out of range") from None
        count += 1
        parts.append(_clause(clause, value))
        length += len(parts[-1])
        if length > _LENGTH_LIMIT:
            raise EvaluationProblem("error during formatting: the result is too long")
    return "".join([*parts, template[at:]])


def _clause(clause: re.Match[str], value: Any) -> str:
    precision, verb = clause[1], clause[2]
    if not verb:
        raise EvaluationProblem("unexpected end of string")
    if precision == "":
        raise EvaluationProblem(
            "could not parse formatting clause: error while parsing precision: error while "
            'converting precision to integer: strconv.Atoi: parsing "": invalid syntax'
        )
    write = _VERBS.get(verb)
    if write is not None and value is ANYTHING:
        return ""
    if write is None:
        raise EvaluationProblem(
            f'could not parse formatting clause: unrecognized formatting clause "{verb}"'
        )
    digits = _DEFAULT_PRECISION if precision is None else min(int(precision[:6]), _PRECISION_LIMIT)
    return write(value, digits)


def _refused(what: str, value: Any) -> EvaluationProblem:
    return EvaluationProblem(f"error during formatting: {what}, was given {kind_of(value)}")


def _string(value: Any, _digits: int = 0) -> str:
    write = _STRINGS.get(kind_of(value))
    if write is not None:
        return write(value)
    raise _refused(
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
        "types, durations, and timestamps",
        value,
    )


def _list(value: list[Any]) -> str:
    return f"[{', '.join(_nested(item) for item in value)}]"


def _map(value: Mapping[Any, Any]) -> str:
    pairs = sorted((_nested(key), _nested(item)) for key, item in value.items())
    return "{" + ", ".join(f"{key}:{item}" for key, item in pairs) + "}"


_STRINGS: dict[str, Callable[[Any], str]] = {
    "string": str,
    "bool": lambda value: "true" if value else "false",
    "int": str,
    "uint": lambda value: str(int(value)),
    "double": double_text,
    "null_type": lambda _: "null",
    "bytes": lambda value: value.decode(errors="replace"),
    "google.protobuf.Timestamp": timestamp_text,
    "google.protobuf.Duration": duration_text,
    "type": lambda value: value.name,
    "list": _list,
    "map": _map,
}


def _nested(value: Any) -> str:
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False)
        case bytes():
            return "b" + json.dumps(value.decode(errors="replace"), ensure_ascii=False)
        case float():
            return f"{value:.6f}" if math.isfinite(value) else f'"{double_text(value)}"'
        case Timestamp():
            return f'timestamp("{timestamp_text(value)}")'
        case Duration():
            return f'duration("{duration_text(value)}")'
    return _string(value)


def _decimal(value: Any, _digits: int) -> str:
    if type(value) in {int, Uint}:
        return str(int(value))
    raise _refused("decimal clause can only be used on integers", value)


def _as_double(value: Any, clause: str) -> float:
    if type(value) is float:
        return value
    if value in ("NaN", "Infinity", "-Infinity"):
        return float(value)
    raise _refused(f"{clause} clause can only be used on doubles", value)


def _special(value: float) -> str | None:
    if math.isfinite(value):
        return None
    # The symbols of the locale en_US.
    return "NaN" if math.isnan(value) else ("∞" if value > 0 else "-∞")


def _fixed(value: Any, digits: int) -> str:
    number = _as_double(value, "fixed-point")
    return _special(number) or f"{number:,.{digits}f}"


def _scientific(value: Any, digits: int) -> str:
    number = _as_double(value, "scientific")
    if said := _special(number):
        return said
    mantissa, _, exponent = f"{number:.{digits}e}".partition("e")
    times = "\N{NARROW NO-BREAK SPACE}\N{MULTIPLICATION SIGN}\N{NARROW NO-BREAK SPACE}"
    return f"{mantissa}{times}10{_raised(int(exponent))}"


def _raised(exponent: int) -> str:
    return f"{exponent:+03d}".translate(str.maketrans("+-0123456789", "⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹")).lstrip("⁺")


def _binary(value: Any, _digits: int) -> str:
    if type(value) in {int, Uint, bool}:
        return f"{int(value):b}"
    raise _refused("only integers and bools can be formatted as binary", value)


def _octal(value: Any, _digits: int) -> str:
    if type(value) in {int, Uint}:
        return f"{int(value):o}"
    raise _refused("octal clause can only be used on integers", value)


def _hex(value: Any, _digits: int) -> str:
    match value:
        case bool():
            pass
        case str():
            return value.encode().hex()
        case bytes():
            return value.hex()
        case int():
            return f"{int(value):x}"
    raise _refused("only integers, byte buffers, and strings can be formatted as hex", value)


_VERBS: dict[str, Callable[[Any, int], str]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "o": _octal,
    "x": _hex,
    "X": lambda value, digits: _hex(value, digits).upper(),
}
