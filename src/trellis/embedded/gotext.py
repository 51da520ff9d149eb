# SPDX-License-Identifier: Apache-2.0
"""JSON values as Go prints them, for messages that hold such prints.

Numbers are taken for what Go's decoder makes of a document: integers where they look like ones.
"""

from __future__ import annotations

import json
from typing import Any

_EXPONENT_FROM, _EXPONENT_BELOW = 1e21, 1e-4
_KINDS = {
    dict: ("map[string]interface {}", "object"),
    list: ("[]interface {}", "array"),
    bool: ("bool", "bool"),
    int: ("int64", "number"),
    float: ("float64", "number"),
    str: ("string", "string"),
    type(None): ("<nil>", "null"),
}


def plain(value: Any) -> str:
    """`%v`: `map[a:1 b:[x y]]`."""
    match value:
        case dict():
            inner = " ".join(f"{name}:{plain(value[name])}" for name in sorted(value))
            return f"map[{inner}]"
        case list():
            return f"[{' '.join(map(plain, value))}]"
        case None:
            return "<nil>"
        case bool():
            return str(value).lower()
        case float():
            return number(value)
        case _:
            return str(value)


def syntax(value: Any) -> str:
    """`%#v`: `map[string]interface {}{"a":1}`."""
    match value:
        case dict():
            pairs = (f"{quoted(name)}:{syntax(value[name])}" for name in sorted(value))
            return f"map[string]interface {{}}{{{', '.join(pairs)}}}"
        case list():
            return f"[]interface {{}}{{{', '.join(map(syntax, value))}}}"
        case None:
            return "interface {}(nil)"
        case str():
            return quoted(value)
        case _:
            return plain(value)


def kind(value: Any) -> str:
    """`%T`: the type that Go has decoded it to."""
    return _called(value)[0]


def json_kind(value: Any) -> str:
    """What Go's JSON decoder calls it: `cannot unmarshal array into …`."""
    return _called(value)[1]


def _called(value: Any) -> tuple[str, str]:
    return next(_KINDS[each] for each in type(value).__mro__ if each in _KINDS)


def number(value: float) -> str:
    """`%v`: short, with an exponent where there are very many digits."""
    if isinstance(value, int):
        return str(value)
    size = abs(value)
    if value and (size >= _EXPONENT_FROM or size < _EXPONENT_BELOW):
        mantissa, _, exponent = f"{value!r}".partition("e")
        if not exponent:
            mantissa, _, exponent = f"{value:e}".partition("e")
            mantissa = mantissa.rstrip("0").rstrip(".")
        power = int(exponent)
        return f"{mantissa.removesuffix('.0')}e{'-' if power < 0 else '+'}{abs(power):02}"
    return str(int(value)) if value.is_integer() else repr(value)


def quoted(text: str) -> str:
    """`%q`, for the characters that JSON and Go escape alike."""
    return json.dumps(text, ensure_ascii=False)
