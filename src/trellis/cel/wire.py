# SPDX-License-Identifier: Apache-2.0
"""Protobuf bytes taken apart into fields by number: all that reading a parsed expression needs."""

from __future__ import annotations

import struct
from typing import Any

Fields = dict[int, list[Any]]


def fields(message: bytes) -> Fields:
    """Each field's values: numbers for varints, bytes for all else."""
    found: Fields = {}
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        value: Any
        match key & 7:
            case 0:
                value, at = _varint(message, at)
            case 1:
                value, at = message[at : at + 8], at + 8
            case 2:
                size, at = _varint(message, at)
                value, at = message[at : at + size], at + size
            case _:
                raise ValueError(f"field {key >> 3} has the wire type {key & 7}, which is not read")
        found.setdefault(key >> 3, []).append(value)
    return found


def only(found: Fields, tag: int) -> bytes:
    return found[tag][-1] if tag in found else b""


def number(found: Fields, tag: int) -> int:
    return found[tag][-1] if tag in found else 0


def text(found: Fields, tag: int) -> str:
    return only(found, tag).decode()


def packed(found: Fields, tag: int) -> list[int]:
    numbers = []
    for value in found.get(tag, ()):
        if isinstance(value, int):
            numbers.append(value)
            continue
        at = 0
        while at < len(value):
            one, at = _varint(value, at)
            numbers.append(one)
    return numbers


def double(raw: bytes) -> float:
    value: float = struct.unpack("<d", raw)[0]
    return value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
