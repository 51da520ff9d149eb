# SPDX-License-Identifier: Apache-2.0
"""Amounts of resources (`500m`, `1.5Gi`, `2e3`) as whole nano-units: exact, and cheap to add."""

from __future__ import annotations

import re
from functools import lru_cache

UNIT = 1_000_000_000

# Amounts beyond this are held at it, as the API server does.
LARGEST = ((1 << 63) - 1) * UNIT
_LENGTH_LIMIT = 64
_EXPONENT_LIMIT = 64
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_GRAMMAR = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?"
    r"(?:(?P<binary>[KMGTPE]i)|[eE](?P<exponent>[+-]?[0-9]+)|(?P<decimal>[numkMGTPE]?))"
)


class InvalidQuantity(ValueError):
    """The text is no amount."""

    def __init__(self, text: str) -> None:
        shown = text if len(text) <= _LENGTH_LIMIT else f"{text[:_LENGTH_LIMIT]}…"
        super().__init__(f"{shown!r} is no quantity; write it like 2, 500m, 1.5Gi or 1e3")


def parse(amount: str | int | float) -> int:
    """The amount in nano-units. What is finer is rounded away from zero, as the server does."""
    return _parse(amount if isinstance(amount, str) else repr(amount))


def to_text(nano: int) -> str:
    """The amount in decimal form with the largest suffix that leaves a whole number."""
    for suffix, exponent in reversed(_DECIMAL.items()):
        whole, rest = divmod(nano, 10 ** (exponent + 9))
        if not rest:
            return f"{whole}{suffix if whole else ''}"
    raise AssertionError("every amount is a whole number of nano-units")


def to_binary_text(nano: int) -> str:
    """The amount with a binary suffix where one leaves a whole number, as memory is written."""
    for suffix, power in reversed(_BINARY.items()):
        whole, rest = divmod(nano, UNIT << power)
        if whole and not rest:
            return f"{whole}{suffix}"
    return to_text(nano)


# A cluster has few distinct amounts and very many pods.
@lru_cache(maxsize=4096)
def _parse(text: str) -> int:
    found = _GRAMMAR.fullmatch(text) if len(text) <= _LENGTH_LIMIT else None
    if found is None or not (found["whole"] or found["fraction"]):
        raise InvalidQuantity(text)
    digits = int(found["whole"] + (found["fraction"] or ""))
    power, shift = _scale(found, text)
    power -= len(found["fraction"] or "")
    magnitude = digits * UNIT << shift
    magnitude = min(_scaled(magnitude, power), LARGEST)
    return -magnitude if found["sign"] == "-" else magnitude


def _scaled(magnitude: int, power: int) -> int:
    """The magnitude times a power of ten, rounded up where that leaves no whole number."""
    factor: int = 10 ** abs(power)
    return magnitude * factor if power >= 0 else -(-magnitude // factor)


def _scale(found: re.Match[str], text: str) -> tuple[int, int]:
    """The power of ten and the power of two that the suffix stands for."""
    if found["binary"]:
        return 0, _BINARY[found["binary"]]
    if not found["exponent"]:
        return _DECIMAL[found["decimal"] or ""], 0
    exponent = int(found["exponent"])
    if abs(exponent) > _EXPONENT_LIMIT:
        raise InvalidQuantity(text)
    return exponent, 0
