# SPDX-License-Identifier: Apache-2.0
"""Answers become bytes."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.embedded.exchange import Pairs

_LINES = {code.value: f"HTTP/1.1 {code.value} {code.phrase}\r\n".encode() for code in HTTPStatus}
_BODILESS = frozenset({204, 304})
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"


def head(status: int, headers: Pairs, *, last: bool) -> bytes:
    """The status line and headers, without the empty line that ends them."""
    line = _LINES.get(status) or f"HTTP/1.1 {status} Unknown\r\n".encode()
    text = "".join([f"{name}: {value}\r\n" for name, value in headers])
    return line + text.encode("utf-8", "replace") + (b"Connection: close\r\n" if last else b"")


def whole(method: str, status: int, headers: Pairs, body: bytes, *, last: bool) -> bytes:
    """A complete answer. That of a HEAD has the length but not the body."""
    start = head(status, headers, last=last)
    if status in _BODILESS:
        return start + b"\r\n"
    start += b"Content-Length: %d\r\n\r\n" % len(body)
    return start if method == "HEAD" else start + body


def stream(status: int, headers: Pairs, *, chunked: bool, last: bool) -> bytes:
    """The start of an answer that goes on."""
    start = head(status, headers, last=last or not chunked)
    return start + (b"Transfer-Encoding: chunked\r\n\r\n" if chunked else b"\r\n")


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def plain(status: int, text: str) -> bytes:
    """What is said to a client whose request could not be read; the connection ends with it."""
    headers = (("Content-Type", "text/plain; charset=utf-8"),)
    return whole("GET", status, headers, text.encode(), last=True)
