# SPDX-License-Identifier: Apache-2.0
"""Tokens by which a list goes on where its last page ended."""

from __future__ import annotations

import base64
import posixpath
from dataclasses import dataclass

import msgspec

from trellis.embedded.refusals import Refusal, bad_request
from trellis.embedded.schema.scalars import Undecodable
from trellis.embedded.schema.text import from_json

VERSION = "meta.k8s.io/v1"
_INVALID = "continue key is not valid"
_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


class _Token(msgspec.Struct):
    version: str = msgspec.field(name="v", default="")
    rv: int = 0
    start: str = ""


@dataclass(frozen=True, slots=True)
class Continuation:
    """`after` is the last key of the page before: a name, or namespace and name. A version of -1
    goes on in the present."""

    version: int
    after: str


def token(version: int, after: str) -> str:
    """For the next page; `after` as in `Continuation`."""
    # The key that follows directly: nothing sorts between it and the last one shown.
    data = msgspec.json.encode(_Token(VERSION, version, f"/{after}\0"))
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def continued(text: str) -> Continuation:
    found = _decoded(text)
    if found.version != VERSION:
        raise _refused(
            f"{_INVALID}: server does not recognize this encoded version {found.version}"
        )
    if found.rv == 0:
        raise _refused(f"{_INVALID}: incorrect encoded start resourceVersion (version {VERSION})")
    if not found.start:
        raise _refused(f"{_INVALID}: encoded start key empty (version {VERSION})")
    key = found.start if found.start.startswith("/") else f"/{found.start}"
    if posixpath.normpath(key) != key or key.startswith("//"):
        raise _refused(f"{_INVALID}: {found.start}")
    return Continuation(found.rv, key[1:].removesuffix("\0"))


def _decoded(text: str) -> _Token:
    data = text.encode()
    for position, byte in enumerate(data):
        if byte not in _ALPHABET:
            raise _refused(f"{_INVALID}: illegal base64 data at input byte {position}")
    if len(data) % 4 == 1:
        raise _refused(f"{_INVALID}: illegal base64 data at input byte {len(data) - 1}")
    plain = base64.urlsafe_b64decode(data + b"=" * (-len(data) % 4))
    try:
        return msgspec.convert(from_json(plain, watch_keys=False), _Token)
    except (Undecodable, msgspec.ValidationError) as error:
        raise _refused(f"{_INVALID}: {error}") from None


def _refused(why: str) -> Refusal:
    return bad_request(f"invalid continue token: {why}")
