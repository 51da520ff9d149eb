# SPDX-License-Identifier: Apache-2.0
"""Lines out of a stream that is cut anywhere. Pure."""

from __future__ import annotations

from trellis.kube.errors import Unreadable

# The API server takes no request above 3 MiB, and what it stores is not many times that as JSON.
LONGEST_LINE = 32 << 20


class Lines:
    """Feed it what arrives; it returns the lines that are complete."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._parts: list[bytes] = []
        self._length = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if lines and self._parts:
            lines[0] = b"".join((*self._parts, lines[0]))
            self._parts.clear()
            self._length = 0
        if rest:
            self._parts.append(rest)
            self._length += len(rest)
            if self._length > LONGEST_LINE:
                raise Unreadable(f"{self._what}: a line of more than {LONGEST_LINE >> 20} MiB")
        return lines
