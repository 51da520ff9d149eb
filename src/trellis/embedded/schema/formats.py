# SPDX-License-Identifier: Apache-2.0
"""The formats of strings that the server checks; any other format says nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from email.utils import parseaddr
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final
from urllib.parse import urlsplit

Check = Callable[[str], bool]

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_HEX4 = "[0-9a-fA-F]{4}"
_DATE_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})")
_SHORT_NAME, _LONG_NAME = 63, 253
_HOST_LENGTH, _HOST_LABEL = 255, 63
# Letters and symbols of any script may be part of a host name, digits only those of ASCII.
_HOST = re.compile(r"(?:\w(?:[\w-]{0,61}\w)?\.)+[^\W\d_]{2,63}|\w(?:-?\w{0,62})?")
_UNIT = r"(?:ns|us|µs|μs|ms|s|m|h)"
_DURATION = re.compile(rf"[-+]?(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+){_UNIT})+)")
_SCALA_DURATION = re.compile(r"([0-9]+)\s*([A-Za-zµ]+)")
_SCALA_UNITS: Final = (
    ("ns", "nano"),
    ("us", "µs", "micro"),
    ("ms", "milli"),
    ("s", "sec"),
    ("m", "min"),
    ("h", "hr", "hour"),
    ("d", "day"),
    ("w", "wk", "week"),
)


def _matches(pattern: str, length: int | None = None) -> Check:
    compiled = re.compile(pattern, re.ASCII)

    def check(text: str) -> bool:
        fits = length is None or len(text) <= length
        return fits and compiled.fullmatch(text) is not None

    return check


def _uuid(version: str, variant: str) -> Check:
    return _matches(f"[0-9a-fA-F]{{8}}-?{_HEX4}-?{version}-?{variant}-?[0-9a-fA-F]{{12}}")


def _is_date(text: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_date_time(text: str) -> bool:
    day, _, rest = text.lower().partition("t")
    found = _DATE_TIME.fullmatch(rest)
    if found is None or not _is_date(day):
        return False
    hour, minute, second = found.groups()
    return bool(hour <= "23" and minute <= "59" and second <= "59")


def _is_duration(text: str) -> bool:
    if _DURATION.fullmatch(text):
        return True
    return any(_is_unit(unit.lower()) for _, unit in _SCALA_DURATION.findall(text))


def _is_unit(unit: str) -> bool:
    return any(unit in variants or unit.startswith(variants[-1]) for variants in _SCALA_UNITS)


def _is_address(parse: type[IPv4Address | IPv6Address]) -> Check:
    def check(text: str) -> bool:
        try:
            parse(text)
        except (AddressValueError, ValueError):
            return False
        return "%" not in text

    return check


def _is_cidr(text: str) -> bool:
    address, slash, bits = text.partition("/")
    if not slash or not re.fullmatch(r"0|[1-9][0-9]{0,2}", bits):
        return False
    most = 128 if _ipv6(address) else 32 if _ipv4(address) else -1
    return int(bits) <= most


def _is_uri(text: str) -> bool:
    """As Go's net/url parses a request: absolute, or a path from the root."""
    if not text or any(character <= " " or character == "\x7f" for character in text):
        return False
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme) or text.startswith("/")


def _is_email(text: str) -> bool:
    _, address = parseaddr(text)
    local, at, domain = address.rpartition("@")
    return bool(local and at and domain) and not re.search(r"\s", address)


def _is_hostname(text: str) -> bool:
    fits = len(text) <= _HOST_LENGTH and all(len(p) <= _HOST_LABEL for p in text.split("."))
    return fits and "_" not in text and _HOST.fullmatch(text) is not None


_ipv4, _ipv6 = _is_address(IPv4Address), _is_address(IPv6Address)
_ANY4, _VARIANT = _HEX4, "[89abAB][0-9a-fA-F]{3}"

# By name without dashes: `date-time` and `datetime` are the same to the server.
_CHECKS: Final[dict[str, Check]] = {
    "uri": _is_uri,
    "email": _is_email,
    "hostname": _is_hostname,
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "cidr": _is_cidr,
    "mac": _matches(
        "|".join(
            (
                *(
                    rf"[0-9a-fA-F]{{2}}(?:{sep}[0-9a-fA-F]{{2}}){{{n}}}"
                    for sep in ":-"
                    for n in (5, 7, 19)
                ),
                *(rf"{_HEX4}(?:\.{_HEX4}){{{n}}}" for n in (2, 3, 9)),
            )
        )
    ),
    "uuid": _uuid(_ANY4, _ANY4),
    "uuid3": _uuid("3[0-9a-fA-F]{3}", _ANY4),
    "uuid4": _uuid("4[0-9a-fA-F]{3}", _VARIANT),
    "uuid5": _uuid("5[0-9a-fA-F]{3}", _VARIANT),
    "byte": _matches(
        "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"
    ),
    # These the server reads too; nobody's definition here uses them.
    **dict.fromkeys(
        (
            "bsonobjectid",
            "creditcard",
            "hexcolor",
            "isbn",
            "isbn10",
            "isbn13",
            "password",
            "rgbcolor",
            "ssn",
        ),
        lambda _: True,
    ),
    "date": _is_date,
    "duration": _is_duration,
    "datetime": _is_date_time,
    "k8sshortname": _matches(_LABEL, _SHORT_NAME),
    "k8slongname": _matches(rf"{_LABEL}(\.{_LABEL})*", _LONG_NAME),
}
_OF_NUMBERS: Final = {"integer": ("int32", "int64"), "number": ("float", "double")}


def known(kind: str, name: str) -> bool:
    """Whether the server knows the format for values of that type (empty: of any)."""
    if kind in ("", "string"):
        return name.replace("-", "") in _CHECKS
    return name in _OF_NUMBERS.get(kind, ())


def check_of(name: str) -> Check | None:
    return _CHECKS.get(name.replace("-", ""))
