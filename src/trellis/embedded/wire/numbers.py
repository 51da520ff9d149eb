# SPDX-License-Identifier: Apache-2.0
"""Numbers and durations as Go writes and reads them."""

from __future__ import annotations

import re

SECOND = 1_000_000_000
_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_DURATION = re.compile(rf"[-+]?(?:0|(?:{_PART.pattern})+)")


def duration(nanoseconds: int) -> str:
    """As Go prints a time.Duration: `1h0m30s`, `1.5s`, `250ms`, `0s`."""
    if nanoseconds == 0:
        return "0s"
    sign, rest = ("-" if nanoseconds < 0 else ""), abs(nanoseconds)
    if rest < SECOND:
        name = "ns" if rest < 1_000 else "µs" if rest < 1_000_000 else "ms"
        return f"{sign}{_decimal(rest, _UNITS[name])}{name}"
    minutes, rest = divmod(rest, 60 * SECOND)
    hours, minutes = divmod(minutes, 60)
    lead = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{lead}{_decimal(rest, SECOND)}s"


def _decimal(value: int, unit: int) -> str:
    whole, part = divmod(value, unit)
    digits = f"{part:0{len(str(unit)) - 1}d}".rstrip("0") if part else ""
    return f"{whole}.{digits}" if digits else str(whole)


def parsed_duration(text: str) -> int:
    """Nanoseconds; ValueError in the words of Go's time.ParseDuration."""
    if _DURATION.fullmatch(text):
        total = sum(_nanoseconds(number, unit) for number, unit in _PART.findall(text))
        return -total if text.startswith("-") else total
    body = text.lstrip("+-") if text[:1] in "+-" else text
    if re.fullmatch(r"[0-9]*\.?[0-9]+", body) or re.fullmatch(r"[0-9]+\.", body):
        raise ValueError(f'time: missing unit in duration "{text}"')
    raise ValueError(f'time: invalid duration "{text}"')


def _nanoseconds(number: str, unit: str) -> int:
    whole, _, part = number.partition(".")
    scale = _UNITS[unit]
    return int(whole or 0) * scale + (int(part) * scale // 10 ** len(part) if part else 0)


def parsed_integer(text: str) -> int:
    """ValueError in the words of Go's strconv.ParseInt for 64 bits."""
    return _parsed(text, "ParseInt", r"[-+]?[0-9]+", range(-(1 << 63), 1 << 63))


def parsed_version(text: str) -> int:
    """A resourceVersion, 0 for none; ValueError in the words of Go's strconv.ParseUint."""
    return _parsed(text, "ParseUint", r"[0-9]+", range(1 << 64)) if text else 0


def _parsed(text: str, function: str, grammar: str, bounds: range) -> int:
    if not re.fullmatch(grammar, text, re.ASCII):
        raise ValueError(f'strconv.{function}: parsing "{text}": invalid syntax')
    # Longer ones are out of range whatever they say, and Python would take its time to read them.
    if len(text) > 20 + 1 or int(text) not in bounds:
        raise ValueError(f'strconv.{function}: parsing "{text}": value out of range')
    return int(text)
