# SPDX-License-Identifier: Apache-2.0
"""Durations as Go and the API write them (`4h`, `1h30m`, `1.5s`, `-20ms`), as whole nanoseconds."""

from __future__ import annotations

import re

NANOSECOND = 1
MICROSECOND = 1_000
MILLISECOND = 1_000_000
SECOND = 1_000_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE

# What Go counts up to; some 292 years.
_LARGEST = (1 << 63) - 1
LONGEST = "2562047h47m16s"
_LENGTH_LIMIT = 128
UNITS = {
    "ns": NANOSECOND,
    "us": MICROSECOND,
    "\N{MICRO SIGN}s": MICROSECOND,
    "\N{GREEK SMALL LETTER MU}s": MICROSECOND,
    "ms": MILLISECOND,
    "s": SECOND,
    "m": MINUTE,
    "h": HOUR,
}
_UNIT = "|".join(UNITS)
_PART = re.compile(rf"([0-9]*)(?:\.([0-9]*))?({_UNIT})")
# What a schema can check; the range of values it cannot.
PATTERN = rf"^[+-]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)({_UNIT}))+)$"


class InvalidDuration(ValueError):
    """The text is no duration."""

    def __init__(self, text: str, why: str = "is no duration") -> None:
        shown = text if len(text) <= _LENGTH_LIMIT else f"{text[:_LENGTH_LIMIT]}…"
        super().__init__(f"{shown!r} {why}; write it like 30s, 5m or 1h30m")


class DurationTooLong(InvalidDuration):
    """Nobody can count that far."""

    def __init__(self, text: str) -> None:
        super().__init__(text, f"is longer than {LONGEST}")


def parse(text: str) -> int:
    """The duration in nanoseconds; fractions of one are cut off."""
    magnitude = text[1:] if text[:1] in {"+", "-"} else text
    if len(text) > _LENGTH_LIMIT or not magnitude:
        raise InvalidDuration(text)
    if magnitude == "0":
        return 0
    total = position = 0
    while position < len(magnitude):
        part = _PART.match(magnitude, position)
        if part is None or not (part[1] or part[2]):
            raise InvalidDuration(text)
        total += _nanoseconds(part[1], part[2] or "", UNITS[part[3]])
        position = part.end()
    if total > _LARGEST:
        raise DurationTooLong(text)
    return -total if text[0] == "-" else total


def to_text(nanoseconds: int) -> str:
    """The shortest of the forms that Go itself prints: `1h30m0s`, `1.5s`, `20ms`, `0s`."""
    if nanoseconds == 0:
        return "0s"
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if rest < SECOND:
        for name, unit in (("ms", MILLISECOND), ("\N{MICRO SIGN}s", MICROSECOND)):
            if rest >= unit:
                return f"{sign}{_decimal(rest, unit)}{name}"
        return f"{sign}{rest}ns"
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    seconds = f"{_decimal(rest, SECOND)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}"
    return f"{sign}{minutes}m{seconds}" if minutes else f"{sign}{seconds}"


def to_seconds(text: str) -> float:
    return parse(text) / SECOND


def _nanoseconds(whole: str, fraction: str, unit: int) -> int:
    # Integers all the way: a float would lose the last digits of long durations.
    divisor: int = 10 ** len(fraction)
    return int(whole or 0) * unit + int(fraction or 0) * unit // divisor


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    digits = f"{rest:0{len(str(unit)) - 1}d}".rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)
