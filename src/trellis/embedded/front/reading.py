# SPDX-License-Identifier: Apache-2.0
"""Bytes of a connection become requests, within limits. What is no HTTP is `Unreadable`."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import httptools

from trellis.embedded.exchange import Ask

if TYPE_CHECKING:
    from collections.abc import Callable

BODY_LIMIT = 3 << 20
# A body that is somewhat too large is read to its end, so that the client sees the answer; one
# that is larger than this is not.
DRAIN_LIMIT = 16 << 20
HEAD_LIMIT = 1 << 20


class Unreadable(Exception):
    """The connection holds no (more) HTTP. `status` and text are what Go's server says."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


_METHOD = re.compile(rb"([A-Za-z][-A-Za-z]{0,31}) /")
_BAD_REQUEST = Unreadable(400, "400 Bad Request")
_HEAD_TOO_LARGE = Unreadable(431, "431 Request Header Fields Too Large")


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request, and how its answer must be framed."""

    ask: Ask
    chunked: bool
    """Whether the client reads chunks: HTTP/1.1."""
    last: bool
    """The connection ends with this one's answer."""
    too_large: bool = False


class Reader:
    """Feed it what came; requests that are complete lie in `arrived`."""

    def __init__(self, on_continue: Callable[[], None]) -> None:
        self.arrived: deque[Arrived] = deque()
        self.inside = False
        """Whether a request has begun and is not complete."""
        self._on_continue = on_continue
        self._parser = httptools.HttpRequestParser(self)
        self._names: dict[bytes, str] = {}
        self._method = ""
        self._in_head = False
        self._unfinished = 0
        self._begin()

    def feed(self, data: bytes) -> None:
        self._parse(data)
        # The parser tells of a header when it is complete, and keeps what it has of it till then.
        self._unfinished = self._unfinished + len(data) if self._in_head else 0
        if self._unfinished > HEAD_LIMIT:
            raise _HEAD_TOO_LARGE

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # What follows would be of another protocol, which nobody here speaks.
            return
        except httptools.HttpParserCallbackError as error:
            if isinstance(error.__context__, Unreadable):
                raise error.__context__ from None
            raise
        except httptools.HttpParserInvalidMethodError:
            self._parse_unknown_method(data)
        except httptools.HttpParserError:
            raise _BAD_REQUEST from None

    def _parse_unknown_method(self, data: bytes) -> None:
        """The parser knows some methods only. Any word is one, and whoever answers refuses it."""
        found = _METHOD.match(data)
        if found is None or self._method:
            raise _BAD_REQUEST
        self._method = found[1].decode()
        self._parser = httptools.HttpRequestParser(self)
        self._parse(b"GET" + data[found.end(1) :])

    def _begin(self) -> None:
        self._url = b""
        self._head = 0
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._size = 0

    # The names below are those that httptools calls.

    def on_message_begin(self) -> None:
        self._begin()
        self.inside = self._in_head = True

    def on_url(self, url: bytes) -> None:
        self._grow(len(url))
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._grow(len(name) + len(value))
        key = self._names.get(name)
        if key is None:
            key = name.decode("latin-1").lower()
            if len(self._names) < 64:
                self._names[name] = key
        text = value.decode("latin-1")
        before = self._headers.get(key)
        self._headers[key] = text if before is None else f"{before}, {text}"

    def _grow(self, size: int) -> None:
        self._head += size
        if self._head > HEAD_LIMIT:
            raise _HEAD_TOO_LARGE

    def on_headers_complete(self) -> None:
        self._in_head = False
        declared = self._headers.get("content-length", "")
        if declared.isdigit() and len(declared) < 20 and int(declared) > DRAIN_LIMIT:
            self._size = int(declared)
            self._arrive(last=True)
            raise Unreadable(413, "")
        if self._headers.get("expect", "").lower() == "100-continue":
            self._on_continue()

    def on_body(self, body: bytes) -> None:
        self._size += len(body)
        if self._size <= BODY_LIMIT:
            self._body.append(body)
        elif self._size > DRAIN_LIMIT:
            self._arrive(last=True)
            raise Unreadable(413, "")

    def on_message_complete(self) -> None:
        last = not self._parser.should_keep_alive() or self._parser.should_upgrade()
        self._arrive(last=last)

    def _arrive(self, *, last: bool) -> None:
        self.inside = False
        path, _, query = self._target().partition("?")
        too_large = self._size > BODY_LIMIT
        method = self._method or self._parser.get_method().decode("latin-1")
        self._method = ""
        ask = Ask(
            method=method,
            path=path,
            query=tuple(parse_qsl(query, keep_blank_values=True)) if query else (),
            headers=self._headers,
            body=b"" if too_large or not self._body else b"".join(self._body),
        )
        chunked = self._parser.get_http_version() == "1.1"
        self.arrived.append(Arrived(ask, chunked, last, too_large))

    def _target(self) -> str:
        """The path and query; a proxy's client says the whole address."""
        text = self._url.decode("latin-1")
        if text.startswith("/"):
            return text
        _, _, rest = text.partition("://")
        return "/" + rest.partition("/")[2]
