# SPDX-License-Identifier: Apache-2.0
"""How long ago something was, in the few characters that a table gives it."""

from __future__ import annotations

from datetime import datetime

UNKNOWN, INVALID = "<unknown>", "<invalid>"
_DAY, _YEAR = 24, 24 * 365


def since(moment: str | None, now: datetime) -> str:
    """Since a time as objects write it, `<unknown>` for none."""
    if not moment:
        return UNKNOWN
    then = parsed(moment)
    return INVALID if then is None else human((now - then).total_seconds())


def parsed(moment: str) -> datetime | None:
    """None for what is no RFC 3339 time."""
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return found if found.tzinfo is not None and "T" in moment.upper() else None


def human(seconds: float) -> str:
    """`5s`, `3m20s`, `4h`, `2d5h`: exact when it is short, rough when it is long."""
    whole = int(seconds)
    if whole < 0:
        return INVALID if whole < -1 else "0s"
    if whole < 120:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    if minutes < 10:
        return _two(minutes, "m", rest, "s")
    if minutes < 180:
        return f"{minutes}m"
    return _hours(*divmod(minutes, 60))


def _hours(hours: int, minutes: int) -> str:
    if hours < 8:
        return _two(hours, "h", minutes, "m")
    if hours < 48:
        return f"{hours}h"
    days, rest = divmod(hours, _DAY)
    if hours < _DAY * 8:
        return _two(days, "d", rest, "h")
    if hours < _YEAR * 2:
        return f"{days}d"
    years, left = divmod(days, 365)
    return _two(years, "y", left, "d") if hours < _YEAR * 8 else f"{years}y"


def _two(large: int, unit: str, small: int, below: str) -> str:
    return f"{large}{unit}{small}{below}" if small else f"{large}{unit}"
