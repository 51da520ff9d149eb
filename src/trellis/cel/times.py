# SPDX-License-Identifier: Apache-2.0
"""Timestamps and durations: read from text, written as text, and taken apart."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from trellis.api import durations
from trellis.cel.overloads import Library
from trellis.cel.problems import EvaluationProblem
from trellis.cel.values import INT_HIGHEST, INT_LOWEST, SECOND, Duration, Timestamp

if TYPE_CHECKING:
    from collections.abc import Callable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST_SECOND, LATEST_SECOND = -62135596800, 253402300799
_RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r"(?:[.,]([0-9]{1,9})[0-9]*)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_OFFSET = re.compile(r"([+-]?)([0-9]{2}):([0-9]{2})")
_LENGTH_LIMIT = 64

TIMES = Library()


def checked_timestamp(nanos: int) -> Timestamp:
    if EARLIEST_SECOND <= nanos // SECOND <= LATEST_SECOND:
        return Timestamp(nanos)
    raise EvaluationProblem("timestamp overflow")


def checked_duration(nanos: int) -> Duration:
    if INT_LOWEST <= nanos <= INT_HIGHEST:
        return Duration(nanos)
    raise EvaluationProblem("duration overflow")


@lru_cache(maxsize=1024)
def read_timestamp(text: str) -> Timestamp | None:
    found = _RFC3339.fullmatch(text) if len(text) <= _LENGTH_LIMIT else None
    if found is None:
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    seconds = int((moment - _EPOCH) / timedelta(seconds=1))
    if found[8]:
        shift = int(found[9]) * 3600 + int(found[10]) * 60
        seconds += shift if found[8] == "-" else -shift
    if not EARLIEST_SECOND <= seconds <= LATEST_SECOND:
        return None
    return Timestamp(seconds * SECOND + int((found[7] or "").ljust(9, "0")))


def read_date(text: str) -> Timestamp | None:
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    try:
        days = (date(*map(int, found.groups())) - date(1970, 1, 1)).days
    except ValueError:
        return None
    return Timestamp(days * 86400 * SECOND)


@lru_cache(maxsize=1024)
def read_duration(text: str) -> Duration | None:
    try:
        return Duration(durations.parse(text))
    except durations.InvalidDuration:
        return None


def timestamp_text(value: Timestamp) -> str:
    seconds, nanos = divmod(value.nanos, SECOND)
    moment = _EPOCH + timedelta(seconds=seconds)
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    return f"{moment.year:04d}{moment:-%m-%dT%H:%M:%S}{fraction}Z"


def duration_text(value: Duration) -> str:
    """In seconds: how CEL, unlike Go, writes a duration."""
    whole, rest = divmod(abs(value.nanos), SECOND)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{'-' if value.nanos < 0 else ''}{whole}{fraction}s"


@lru_cache(maxsize=64)
def _zone(name: str) -> tzinfo:
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        shift = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        if shift < timedelta(hours=24):
            return timezone(-shift if offset[1] == "-" else shift)
    try:
        return ZoneInfo(name or "UTC")
    except (ValueError, OSError, KeyError):
        raise EvaluationProblem(f"unknown time zone {name[:100]}") from None


def _local(value: Timestamp, zone: str = "UTC") -> datetime:
    moment = _EPOCH + timedelta(seconds=value.nanos // SECOND)
    try:
        return moment.astimezone(_zone(zone))
    except (OverflowError, ValueError):
        raise EvaluationProblem("timestamp overflow") from None


def _of_day(part: Callable[[datetime], int]) -> Callable[..., int]:
    return lambda value, zone="UTC": part(_local(value, zone))


def _milliseconds(value: Timestamp, _zone: str = "UTC") -> int:
    return value.nanos % SECOND // durations.MILLISECOND


_PARTS: dict[str, Callable[..., int]] = {
    "getFullYear": _of_day(lambda moment: moment.year),
    "getMonth": _of_day(lambda moment: moment.month - 1),
    "getDayOfYear": _of_day(lambda moment: moment.timetuple().tm_yday - 1),
    "getDayOfMonth": _of_day(lambda moment: moment.day - 1),
    "getDate": _of_day(lambda moment: moment.day),
    "getDayOfWeek": _of_day(lambda moment: moment.isoweekday() % 7),
    "getHours": _of_day(lambda moment: moment.hour),
    "getMinutes": _of_day(lambda moment: moment.minute),
    "getSeconds": _of_day(lambda moment: moment.second),
    "getMilliseconds": _milliseconds,
}
_UNITS = {
    "getHours": durations.HOUR,
    "getMinutes": durations.MINUTE,
    "getSeconds": durations.SECOND,
    "getMilliseconds": durations.MILLISECOND,
}


def _in_units(unit: int) -> Callable[[Duration], int]:
    def count(value: Duration) -> int:
        whole = abs(value.nanos) // unit
        return -whole if value.nanos < 0 else whole

    return count


for _name, _run in _PARTS.items():
    TIMES.member(_name, "timestamp -> int", _run)
    TIMES.member(_name, "timestamp, string -> int", _run)
for _name, _unit in _UNITS.items():
    _count: Any = _in_units(_unit)
    TIMES.member(_name, "duration -> int", _count)
