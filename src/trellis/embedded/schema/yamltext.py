# SPDX-License-Identifier: Apache-2.0
"""A body in YAML as plain values, by the rules of Go's parser: one document, YAML 1.1's words.

Aliases count as often as they are used, so that a small text cannot become a huge object.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

import yaml

from trellis.embedded.schema.scalars import Undecodable
from trellis.embedded.schema.text import DEPTH, number

_MOST_VALUES = 400_000
_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(
        ("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"), True
    ),
    **dict.fromkeys(
        ("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"), False
    ),
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|0o?[0-7_]+|0b[01_]+)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BINARY = "tag:yaml.org,2002:binary"


def from_yaml(body: bytes) -> tuple[Any, list[str]]:
    """The value, and what a strict reader would say of keys that are there twice."""
    reader = _Reader()
    try:
        root = next(yaml.compose_all(body, Loader=_LOADER), None)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + bool(mark.column)}: " if mark and mark.line else ""
        raise Undecodable(f"yaml: {where}{error.problem}") from error
    except yaml.YAMLError as error:
        raise Undecodable(f"yaml: {' '.join(str(error).split())}") from error
    return (None if root is None else reader.value(root, 0)), reader.repeated


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Reader:
    def __init__(self) -> None:
        self.repeated: list[str] = []
        self._values = 0

    def value(self, node: yaml.Node, depth: int) -> Any:
        self._values += 1
        if depth > DEPTH or self._values > _MOST_VALUES:
            raise Undecodable("yaml: document contains excessive aliasing")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(each, depth + 1) for each in node.value]
        quoted = getattr(node, "style", None) or node.tag == _BINARY
        return node.value if quoted else _plain(node.value)

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, each in node.value:
            name = _key(self.value(key, depth + 1))
            if name in result:
                line = key.start_mark.line + 1
                self.repeated.append(f'line {line}: key "{name}" already set in map')
            result[name] = self.value(each, depth + 1)
        return result


def _key(value: Any) -> str:
    """Keys of JSON are strings, so Go writes whatever else it finds as one."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise Undecodable(f"yaml: unsupported map key of type: {type(value).__name__}")


def _plain(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text) and len(text) <= len(str(1 << 64)) + 4:
        digits = text.replace("_", "")
        octal = re.fullmatch(r"([-+]?)0([0-7]+)", digits)
        return int(f"{octal[1]}0o{octal[2]}", 8) if octal else int(digits, 0)
    if _FLOAT.fullmatch(text):
        return text if math.isinf(float(text)) else number(text)
    return text
