# SPDX-License-Identifier: Apache-2.0
"""Paths to fields in a schema, as rules and selectable fields name them: `.spec.a`, `.m['a.b']`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.embedded.schema.node import Node

_TOKEN = re.compile(r"\.|\[|\]|'(?:[^'\\]|\\.)*'|[^.\[\]]+")
_ESCAPES = {
    **{"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"},
    **{"'": "'", "\\": "\\"},
}
_NO_FIELD = "does not refer to a valid field"
_ENDED = "unexpected end of JSON path"


class InvalidPath(ValueError):
    """The path leads nowhere; the message is the server's."""


def walk(node: Node, path: str, *, brackets: bool = True) -> tuple[str, Node]:
    """The path as errors write it, and the node it leads to."""
    tokens = _TOKEN.findall(path)
    written = ""
    while tokens:
        sign = tokens.pop(0)
        if sign == "[":
            if not brackets:
                raise InvalidPath("array notation is not allowed")
            name = _quoted(_next(tokens))
            written, node = _step(written, node, name)
            if (closing := _next(tokens)) != "]":
                raise InvalidPath(f"expected ] but got {closing}")
        elif sign == ".":
            written, node = _step(written, node, _next(tokens))
        else:
            raise InvalidPath(f"expected [ or . but got: {sign}")
    return written, node


def _next(tokens: list[str]) -> str:
    if not tokens:
        raise InvalidPath(_ENDED)
    return tokens.pop(0)


def _quoted(token: str) -> str:
    if len(token) < len("''") or token[0] != "'" or token[-1] != "'":
        raise InvalidPath(f"expected single quoted string but got {token}")

    def unescaped(match: re.Match[str]) -> str:
        if match[0][1] not in _ESCAPES:
            raise InvalidPath(f"invalid string literal: invalid escape char {match[0]}")
        return _ESCAPES[match[0][1]]

    return re.sub(r"\\.", unescaped, token[1:-1])


def _step(written: str, node: Node, name: str) -> tuple[str, Node]:
    if node.properties:
        if name not in node.properties:
            raise InvalidPath(_NO_FIELD)
        return (f"{written}.{name}" if written else name), node.properties[name]
    if node.additional is None:
        raise InvalidPath(_NO_FIELD)
    return f"{written}[{name}]", node.additional
