# SPDX-License-Identifier: Apache-2.0
"""The format of the journal's file: a header, then frames of marker, length, checksum and payload.

The marker is what tells a tail that was cut off while being written from damage in the middle: only
after damage is there another intact frame to be found. It reads and writes no files.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from mmap import mmap

FORMAT: Final = 1

_MAGIC: Final = b"TRELLISJ"
_START: Final = struct.Struct("<8sI")
_CHECK: Final = struct.Struct("<I")
# Its first byte is in no UTF-8 text, so that nothing that users write can look like a frame.
_MARKER: Final = b"\xf7TR\x1e"
_FRAME: Final = struct.Struct("<4sII")

HEADER_SIZE: Final = _START.size + _CHECK.size


def header(format_: int = FORMAT) -> bytes:
    """What a journal begins with."""
    start = _START.pack(_MAGIC, format_)
    return start + _CHECK.pack(zlib.crc32(start))


def format_of(start: bytes) -> int | None:
    """The format of the journal that begins so. None: it is no journal."""
    if len(start) < HEADER_SIZE:
        return None
    _, format_ = _START.unpack_from(start)
    return format_ if start == header(format_) else None


def framed(payload: bytes) -> bytes:
    return _FRAME.pack(_MARKER, len(payload), _check(payload)) + payload


class Frames:
    """The payloads in a file with their places, in order. `end` is where the intact ones end."""

    def __init__(self, content: mmap) -> None:
        self._content = content
        self.end = HEADER_SIZE

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        while (payload := self._payload(self.end)) is not None:
            place = self.end
            self.end += _FRAME.size + len(payload)
            yield place, payload

    def following(self) -> int | None:
        """Where an intact frame begins after the end: what lies between is damage."""
        place = self._content.find(_MARKER, self.end + 1)
        while place >= 0 and self._payload(place) is None:
            place = self._content.find(_MARKER, place + 1)
        return place if place >= 0 else None

    def _payload(self, place: int) -> bytes | None:
        start = place + _FRAME.size
        if start > len(self._content):
            return None
        marker, length, check = _FRAME.unpack_from(self._content, place)
        if marker != _MARKER or start + length > len(self._content):
            return None
        payload = self._content[start : start + length]
        return payload if check == _check(payload) else None


def _check(payload: bytes) -> int:
    """Of the length too, so that a damaged one is found out."""
    return zlib.crc32(payload, len(payload))
