# SPDX-License-Identifier: Apache-2.0
"""Steps of a field path as FieldsV1 writes them: `f:data`, `k:{"name":"app"}`, `v:"x"`.

A step is its text: two are the same if their texts are. Texts from clients are made canonical here.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from trellis.embedded import gotext

SELF = "."
_PLAIN = re.compile(r"[ !#-%\'-;=?-\[\]-~]*", re.ASCII)
# Go escapes these in JSON, so that it can stand in a page.
_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_ESCAPED = re.compile("[<>&\u2028\u2029]")
_LONGEST_INTEGER = 1e21

Path = tuple[str, ...]


class BadStep(Exception):
    """A key of FieldsV1 that is none."""


def field(name: str) -> str:
    return "f:" + name


def value(item: Any) -> str:
    """An item of a set."""
    return "v:" + encoded(item)


def key(pairs: list[tuple[str, Any]]) -> str:
    """An item of a list that is a map, by what its keys hold; `pairs` sorted by name."""
    return "k:{" + ",".join(f"{encoded(name)}:{encoded(held)}" for name, held in pairs) + "}"


def encoded(item: Any) -> str:
    """As Go writes it in JSON."""
    if type(item) is str:
        return _short(item) if len(item) <= _SHORT else _quoted(item)
    if type(item) is int:
        return str(item)
    if type(item) is float and item.is_integer() and abs(item) < _LONGEST_INTEGER:
        return str(int(item))
    written = json.dumps(item, separators=(",", ":"), ensure_ascii=False, sort_keys=True)
    return _ESCAPED.sub(lambda found: _HTML[found[0]], written)


def _quoted(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    written = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: _HTML[found[0]], written)


# Names of containers, ports and conditions come again and again; what is long hardly does.
_SHORT = 64
_short = lru_cache(maxsize=8192)(_quoted)


@lru_cache(maxsize=16384)
def canonical(step: str) -> str | None:
    """The same step in the words of this server; None if it is of a kind nobody knows."""
    if len(step) < 2 or step[1] != ":":
        raise BadStep(step)
    kind, said = step[0], step[2:]
    try:
        match kind:
            case "f":
                return step
            case "v":
                return value(json.loads(said))
            case "k":
                return key(sorted(json.loads(said).items()))
            case "i":
                return f"i:{int(said)}"
    except (ValueError, AttributeError, RecursionError) as error:
        raise BadStep(step) from error
    return None


@lru_cache(maxsize=16384)
def order(step: str) -> tuple[Any, ...]:
    """Sorts as the server does: names, then keys, then values, numbers by what they are worth."""
    if step == SELF:
        return (-1,)
    said = step[2:]
    match step[0]:
        case "f":
            return (0, said)
        case "k":
            return (1, [(name, *_rank(held)) for name, held in json.loads(said).items()])
        case "v":
            return (2, *_rank(json.loads(said)))
        case _:
            return (3, int(said))


def _rank(item: Any) -> tuple[int, Any]:
    match item:
        case bool():
            return (2, item)
        case int() | float():
            return (0, item)
        case str():
            return (1, item)
        case None:
            return (5, "")
        case _:
            return (3, json.dumps(item, sort_keys=True))


def shown(path: Path) -> str:
    """As messages name a field: `.spec.containers[name="app"].image`."""
    return "".join(map(shown_step, path))


def shown_step(step: str) -> str:
    said = step[2:]
    match step[0]:
        case "f":
            return "." + said
        case "k":
            pairs = (f"{name}={_shown(held)}" for name, held in json.loads(said).items())
            return f"[{','.join(pairs)}]"
        case "v":
            return f"[={_shown(json.loads(said))}]"
        case _:
            return f"[{said}]"


def _shown(item: Any) -> str:
    """A value in a path: nothing is put around what an object holds, nor between its entries."""
    match item:
        case None:
            return "null"
        case str():
            return gotext.quoted(item)
        case list():
            return f"[{','.join(map(_shown, item))}]"
        case dict():
            return "".join(f"{name}={_shown(held)}" for name, held in item.items())
        case _:
            return gotext.plain(item)
