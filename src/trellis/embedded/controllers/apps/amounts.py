# SPDX-License-Identifier: Apache-2.0
"""Counts that are written as numbers or as shares in percent, and hashes of templates. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from trellis.embedded.controllers.kinds import Json

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_PRIME, _OFFSET, _MASK = 16777619, 2166136261, 0xFFFFFFFF


def share(value: int | str, total: int, *, up: bool) -> int:
    """The number itself, or that share of the total, rounded up or down."""
    if isinstance(value, int):
        return value
    percent = int(value.removesuffix("%"))
    return -(-percent * total // 100) if up else percent * total // 100


def template_hash(template: Json, collisions: int = 0) -> str:
    """A short word for a template, the same for the same content."""
    text = msgspec.json.encode(template, order="sorted")
    if collisions:
        text += collisions.to_bytes(4, "little")
    number = _OFFSET
    for byte in text:
        number = ((number ^ byte) * _PRIME) & _MASK
    return "".join(_LETTERS[ord(digit) % len(_LETTERS)] for digit in str(number))
