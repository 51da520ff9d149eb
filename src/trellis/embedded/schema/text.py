# SPDX-License-Identifier: Apache-2.0
"""The body of a request as plain values: JSON or YAML, with what Go would say of its mistakes.

Repeated keys are kept in mind (`typed.Repeated`), and nesting is limited before anything is parsed,
so that no later step can be led too deep.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from math import isinf
from typing import Any, Final, NoReturn

import msgspec

from trellis.api import strictjson
from trellis.api.strictjson import InvalidJson
from trellis.embedded.schema.scalars import Undecodable
from trellis.embedded.schema.typed import Repeated

# The real server goes deeper (10,000), but nobody's objects do.
DEPTH: Final = 256
_LIMITS = strictjson.Limits(size=4 << 20, depth=DEPTH, keys=4 << 20)
_SPACE: Final = b" \t\r\n"
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


def from_json(body: bytes, *, watch_keys: bool = True, untyped: bool = False) -> Any:
    """The value. Where a key is there twice its object is a `Repeated`, and so is the root.

    `untyped`: as Go reads what it has no type for, so that `3.0` is the integer 3.
    """
    if body.count(b"[") + body.count(b"{") > DEPTH:
        _limit_depth(body)
    if untyped and _DIGITS in body.translate(_AS_ZEROS):
        return _slowly(_whole_text(body), watch_keys=watch_keys, untyped=True)
    try:
        value = (_UNTYPED if untyped else _TYPED).decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _slowly(_whole_text(body), watch_keys=watch_keys, untyped=untyped)
    if watch_keys and _some_repeated(body, _keys(value)):
        return _slowly(body, watch_keys=True, untyped=untyped)
    return value


def _slowly(text: bytes | str, *, watch_keys: bool, untyped: bool) -> Any:
    how = _NUMBERS if untyped else _INTEGERS
    if not watch_keys:
        return json.loads(text, **how)
    return _marked(json.loads(text, object_pairs_hook=_object, **how))


def _marked(value: Any) -> Any:
    """Somewhere inside keys may be repeated, which the root tells whoever would not look."""
    return Repeated(list(value.items()), frozenset()) if type(value) is dict else value


def number(text: str) -> int | float:
    """A whole number is written without a point, and up to a size without an exponent."""
    value = float(text)
    if isinf(value):
        raise Undecodable(f"json: cannot unmarshal number {text} into Go value of type float64")
    if not value.is_integer() or abs(value) >= _EXPONENT_FROM:
        return value
    return int(value) if abs(value) < _INT64 else int(Decimal(repr(value)))


def _integer(text: str) -> int | float:
    value = int(text) if len(text) <= _INT64_LENGTH else _INT64
    return value if -_INT64 <= value < _INT64 else number(text)


def _long(text: str) -> int:
    """Python refuses to read integers that no type of Go could hold anyway."""
    return int(text) if len(text) <= _LONGEST else int(number(text))


_INT64: Final = 1 << 63
_LONGEST: Final = 4000
# From here on Go writes an exponent, and so do we; below it, what can be written at all.
_EXPONENT_FROM: Final = 1 << 64
_INT64_LENGTH: Final = len(str(-_INT64))
_DIGITS, _AS_ZEROS = b"0" * (_INT64_LENGTH - 1), bytes.maketrans(b"123456789", b"0" * 9)
_INTEGERS: Final[dict[str, Any]] = {"parse_int": _long}
_NUMBERS: Final[dict[str, Any]] = {"parse_float": number, "parse_int": _integer}
_TYPED: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
_UNTYPED: msgspec.json.Decoder[Any] = msgspec.json.Decoder(float_hook=number)


def _some_repeated(body: bytes, keys: int) -> bool:
    """Whether the text has more keys than its value: first counted with a few too many."""
    if body.translate(None, _SPACE).count(b'":') == keys:
        return False
    return _STRING.sub(b"", body).count(b":") != keys


def _limit_depth(body: bytes) -> None:
    try:
        strictjson.check(body, _LIMITS)
    except InvalidJson as error:
        if "nested" in str(error):
            # Text that never ends is nested too deep as well, and its end is what Go finds first.
            raise Undecodable("exceeded max depth" if _closed(body) else _END) from error


def _closed(body: bytes) -> bool:
    outside = _STRING.sub(b"", body)
    return outside.count(b"{") + outside.count(b"[") <= outside.count(b"}") + outside.count(b"]")


def _keys(value: Any) -> int:
    kind = type(value)
    if kind is dict:
        count = len(value)
        for each in value.values():
            if type(each) is dict or type(each) is list:
                count += _keys(each)
        return count
    if kind is list:
        return sum(_keys(each) for each in value if type(each) is dict or type(each) is list)
    return 0


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    names = [name for name, _ in pairs]
    return Repeated(pairs, frozenset(name for name in names if names.count(name) > 1))


_END: Final = "unexpected end of JSON input"
_LITERALS: Final = {b"t": "true", b"f": "false", b"n": "null"}
_NUMBER: Final = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def _whole_text(body: bytes) -> str:
    """What the fast decoder does not take: broken characters are replaced, the rest is refused."""
    text = body.decode("utf-8", "replace")
    _Scanner(text.encode()).value_then_end()
    return _ESCAPES.sub(_whole, text)


_HIGH, _LOW = "u[dD][89abAB][0-9a-fA-F]{2}", "u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPES: Final = re.compile(rf"\\(?:{_HIGH}\\{_LOW}|(?P<half>{_HIGH}|{_LOW})|.)", re.DOTALL)


def _whole(escape: re.Match[str]) -> str:
    """Half of a character that needs two could never be written again."""
    return "\\ufffd" if escape["half"] else escape[0]


class _Scanner:
    """Finds the first mistake in a JSON text and says of it what Go says."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at = 0

    def value_then_end(self) -> None:
        self._value()
        if self._skip() < len(self._text):
            self._refuse("after top-level value")

    def _refuse(self, context: str) -> NoReturn:
        if self._at >= len(self._text):
            raise Undecodable(_END)
        found = self._text[self._at : self._at + 1]
        shown = {b"'": "'\\''", b'"': "'\"'"}.get(found) or _quoted(found)
        raise Undecodable(f"invalid character {shown} {context}")

    def _skip(self) -> int:
        while self._text[self._at : self._at + 1] and self._text[self._at] in _SPACE:
            self._at += 1
        return self._at

    def _value(self) -> None:
        self._skip()
        first = self._text[self._at : self._at + 1]
        if first == b"{":
            self._members()
        elif first == b"[":
            self._elements()
        elif first == b'"':
            self._string()
        elif first in _LITERALS:
            self._literal(_LITERALS[first])
        elif first == b"-" or first.isdigit():
            self._number()
        else:
            self._refuse("looking for beginning of value")

    def _members(self) -> None:
        self._at += 1
        self._skip()
        if self._take(b"}"):
            return
        while True:
            self._skip()
            if self._text[self._at : self._at + 1] != b'"':
                self._refuse("looking for beginning of object key string")
            self._string()
            self._skip()
            if not self._take(b":"):
                self._refuse("after object key")
            self._value()
            self._skip()
            if self._take(b"}"):
                return
            if not self._take(b","):
                self._refuse("after object key:value pair")

    def _elements(self) -> None:
        self._at += 1
        self._skip()
        if self._take(b"]"):
            return
        while True:
            self._value()
            self._skip()
            if self._take(b"]"):
                return
            if not self._take(b","):
                self._refuse("after array element")

    def _take(self, wanted: bytes) -> bool:
        if self._text[self._at : self._at + 1] != wanted:
            return False
        self._at += 1
        return True

    def _literal(self, word: str) -> None:
        for expected in word:
            if not self._take(expected.encode()):
                self._refuse(f"in literal {word} (expecting '{expected}')")

    def _number(self) -> None:
        found = _NUMBER.match(self._text, self._at)
        if found is None:
            self._at += 1
            self._refuse("in numeric literal")
        self._at = found.end()
        if self._text[self._at : self._at + 1] == b".":
            self._at += 1
            self._refuse("after decimal point in numeric literal")
        if self._text[self._at : self._at + 1] in (b"e", b"E"):
            self._at += 1 + (self._text[self._at + 1 : self._at + 2] in (b"+", b"-"))
            self._refuse("in exponent of numeric literal")

    def _string(self) -> None:
        self._at += 1
        while not self._take(b'"'):
            found = self._text[self._at : self._at + 1]
            if not found or found < b" ":
                self._refuse("in string literal")
            self._at += 1
            if found == b"\\":
                self._escape()

    def _escape(self) -> None:
        if self._take(b"u"):
            for _ in range(4):
                if self._text[self._at : self._at + 1] not in _HEXADECIMAL:
                    self._refuse("in \\u hexadecimal character escape")
                self._at += 1
        elif self._text[self._at : self._at + 1] in _ESCAPED:
            self._at += 1
        else:
            self._refuse("in string escape code")


_HEXADECIMAL = frozenset(bytes([code]) for code in b"0123456789abcdefABCDEF")
_ESCAPED = frozenset(bytes([code]) for code in b'"\\/bfnrt')


def _quoted(character: bytes) -> str:
    code = character[0]
    if 0x20 <= code < 0x7F:
        return "'\\\\'" if character == b"\\" else f"'{character.decode()}'"
    if character in _CONTROLS:
        return f"'{_CONTROLS[character]}'"
    return f"'\\x{code:02x}'" if code < 0x80 else f"'{chr(code)}'"


_CONTROLS: Final = {b"\n": "\\n", b"\t": "\\t", b"\r": "\\r", b"\b": "\\b", b"\f": "\\f"}
