# SPDX-License-Identifier: Apache-2.0
"""Values that Go reads and writes in a form of its own: quantities, times, bytes.

Each function takes what JSON holds and returns what the server would write for it, or says, in
the server's words, why it would not read it.
"""

from __future__ import annotations

import re
from base64 import b64decode
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Any, Final

import msgspec

from trellis.embedded.gotext import json_kind
from trellis.embedded.stamps import stamp


class Undecodable(ValueError):
    """A value that is not read at all; the message is the server's."""


FORMAT_WRONG: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_QUANTITY = re.compile(
    r"(?P<sign>[+-]?)0*(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?"
    r"(?P<suffix>[eEinumkKMGTP]*[-+]?[0-9]*)"
)
_DECIMAL: Final = {
    **{"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9},
    **{"T": 12, "P": 15, "E": 18},
}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX: Final = {power: suffix for suffix, power in _DECIMAL.items()}
_BINARY_SUFFIX: Final = {power: suffix for suffix, power in _BINARY.items()}
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)")
_NANO = -9
# A longer number is no amount of anything, and would only cost time.
_LENGTH_LIMIT = 512
_LARGEST_BINARY = (1 << 63) - 1


def quantity(value: Any, finest: int = _NANO) -> str:
    """In canonical form; what is finer than ten to the power of `finest` is rounded away from zero.

    The server keeps resources of pods and the like to thousandths (`finest` is then -3).
    """
    if type(value) is not str:
        value = msgspec.json.encode(value).decode()
    return _quantity(value.strip(), finest)


@lru_cache(maxsize=4096)
def _quantity(text: str, finest: int) -> str:
    found = _QUANTITY.fullmatch(text) if 0 < len(text) <= _LENGTH_LIMIT else None
    if found is None:
        raise Undecodable(FORMAT_WRONG)
    whole, fraction = found["whole"], found["fraction"] or ""
    form, power = _suffix(found["suffix"])
    digits = int(whole + fraction or "0")
    if not digits:
        return "0"
    if form == "binary":
        return found["sign"].strip("+") + _binary(digits, len(fraction), power, finest)
    scale = power - len(fraction)
    if scale >= finest and scale % 3 == 0 and _canonical(whole or "0", fraction):
        return text
    digits, scale = _rounded(digits, scale, finest)
    return found["sign"].strip("+") + _decimal(digits, scale, exponent=form == "exponent")


def _canonical(whole: str, fraction: str) -> bool:
    """Whether the server writes such a number as it came: no zeros to take off, none to put on."""
    shifted = whole + fraction
    return not shifted.endswith("000") and shifted[0] != "0"


def _suffix(suffix: str) -> tuple[str, int]:
    if suffix in _DECIMAL:
        return "decimal", _DECIMAL[suffix]
    if suffix in _BINARY:
        return "binary", _BINARY[suffix]
    found = _EXPONENT.fullmatch(suffix)
    if found is None or len(suffix) > len("e+1234"):
        raise Undecodable("unable to parse quantity's suffix")
    return "exponent", int(found[1])


def _rounded(digits: int, scale: int, finest: int) -> tuple[int, int]:
    if scale >= finest:
        return digits, scale
    return -(-digits // 10 ** (finest - scale)), finest


def _decimal(digits: int, scale: int, *, exponent: bool) -> str:
    """As many thousands as can be taken off become the suffix."""
    digits, scale = digits * 10 ** (scale % 3), scale - scale % 3
    while digits % 1000 == 0 and (exponent or scale < max(_DECIMAL_SUFFIX)):
        digits, scale = digits // 1000, scale + 3
    if exponent:
        return f"{digits}e{scale}" if scale else str(digits)
    while scale > max(_DECIMAL_SUFFIX):
        digits, scale = digits * 1000, scale - 3
    return f"{digits}{_DECIMAL_SUFFIX[scale]}"


def _binary(digits: int, places: int, power: int, finest: int) -> str:
    amount = digits << power
    whole, rest = divmod(amount, 10**places)
    if rest or whole < 1 << 10:
        return _decimal(*_rounded(amount, -places, finest), exponent=False)
    whole = min(whole, _LARGEST_BINARY)
    shift = 0
    while whole % 1024 == 0 and shift < max(_BINARY_SUFFIX):
        whole, shift = whole >> 10, shift + 10
    return f"{whole}{_BINARY_SUFFIX.get(shift, '')}"


_LAYOUT: Final = "2006-01-02T15:04:05Z07:00"
_MICRO_LAYOUT: Final = "2006-01-02T15:04:05.000000Z07:00"
# What each part of a layout reads, in order, and what a refusal calls it.
_PARTS: Final = (
    ("2006", r"[0-9]{4}"),
    ("-", "-"),
    ("01", r"[0-9]{2}"),
    ("-", "-"),
    ("02", r"[0-9]{2}"),
    ("T", "T"),
    ("15", r"[0-9]{2}"),
    (":", ":"),
    ("04", r"[0-9]{2}"),
    (":", ":"),
    ("05", r"[0-9]{2}(?:[.,][0-9]+)?"),
    ("Z07:00", r"Z|[+-][0-9]{2}:[0-9]{2}"),
)
_MICRO_PARTS: Final = (
    *_PARTS[:-2],
    ("05", r"[0-9]{2}"),
    (".000000", r"[.,][0-9]{6}(?![0-9])"),
    _PARTS[-1],
)


def time(value: Any) -> str:
    """Whole seconds in UTC."""
    return stamp(_moment(_text(value), _LAYOUT, _PARTS))


def micro_time(value: Any) -> str:
    moment = _moment(_text(value), _MICRO_LAYOUT, _MICRO_PARTS)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    raise Undecodable(f"json: cannot unmarshal {json_kind(value)} into Go value of type string")


# The same few moments come again and again, in every list of managed fields.
@lru_cache(maxsize=1024)
def _moment(text: str, layout: str, parts: tuple[tuple[str, str], ...]) -> datetime:
    rest = text
    for name, pattern in parts:
        found = re.match(pattern, rest)
        if found is None:
            raise Undecodable(
                f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{name}"'
            )
        rest = rest[found.end() :]
    if rest:
        raise Undecodable(f'parsing time "{text}": extra text: "{rest}"')
    date, _, rest = text.partition("T")
    clock, zone = (rest[:-1], "Z") if rest.endswith("Z") else (rest[:-6], rest[-6:])
    seconds, _, fraction = clock.replace(",", ".").partition(".")
    fields = [int(each) for each in (*date.split("-"), *seconds.split(":"))]
    return _dated(text, fields, fraction, zone)


_RANGES: Final = (
    ("month", 1, 1, 12),
    ("hour", 3, 0, 23),
    ("minute", 4, 0, 59),
    ("second", 5, 0, 59),
)


def _dated(text: str, fields: list[int], fraction: str, zone: str) -> datetime:
    for name, at, least, most in _RANGES:
        if not least <= fields[at] <= most:
            raise Undecodable(f'parsing time "{text}": {name} out of range')
    offset = timedelta()
    if zone != "Z":
        offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:]))
        offset = -offset if zone[0] == "-" else offset
    micro = int(fraction[:6].ljust(6, "0"))
    try:
        year, month, day, hour, minute, second = fields
        moment = datetime(year, month, day, hour, minute, second, micro, timezone(offset))
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Undecodable(f'parsing time "{text}": day out of range') from None


_ALPHABET = re.compile(r"\A[A-Za-z0-9+/]+")


def base64(value: str) -> str:
    """As Go reads and writes it: line ends inside do not matter, anything else does."""
    text = value.replace("\r", "").replace("\n", "")
    good = len(text) - len(_ALPHABET.sub("", text, count=1))
    padding = text[good:]
    if padding and (padding.strip("=") or len(text) % 4 or len(padding) > 2):
        raise Undecodable(f"illegal base64 data at input byte {_illegal(text, good)}")
    if not padding and good % 4:
        raise Undecodable(f"illegal base64 data at input byte {good - good % 4}")
    b64decode(text)
    return text


def _illegal(text: str, good: int) -> int:
    """Where reading stops: at a character that is none of base64's, or behind what is complete."""
    if text[good] != "=" or good % 4 < 2:
        return good
    end = good - good % 4 + 4
    return end if len(text) > end and not text[good:end].strip("=") else min(good + 1, len(text))


def int_or_string(value: Any) -> int | str:
    if type(value) is str:
        return value
    if type(value) is int:
        if -(1 << 31) <= value < 1 << 31:
            return value
        raise Undecodable(f"json: cannot unmarshal number {value} into Go value of type int32")
    if type(value) is float:
        raise Undecodable(f"json: cannot unmarshal number {value!r} into Go value of type int32")
    raise Undecodable(f"json: cannot unmarshal {json_kind(value)} into Go value of type int32")
