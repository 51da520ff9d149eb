# SPDX-License-Identifier: Apache-2.0
"""What the server says of a patch that cannot be done, or whose result is no object of the kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded import gotext
from trellis.embedded.fielderrors import invalid
from trellis.embedded.refusals import Refusal, bad_request
from trellis.embedded.refusals import invalid as refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trellis.embedded.schema.node import Node

_STRICT_YAML = "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:"
_GO_SCALARS = {"string": (str, "string"), "boolean": (bool, "bool")}
_NUMBERS = {"integer": "int64", "number": "float64"}


def rejected() -> Refusal:
    """A patch that is one, but cannot be done here."""
    message = "the server rejected our request due to an error in our request"
    return Refusal(422, "Invalid", message, {})


def refused_result(form: str, shown: Any, problems: Sequence[str], strict: bool = True) -> Refusal:
    """`shown`: of a strategic patch the patch itself, else the text of the object it makes.

    `problems` are those of the patch and then those of the object; with `strict` off, the one that
    keeps the object from being read at all.
    """
    if form == "apply":
        return bad_request("\n  ".join((_STRICT_YAML, *problems)))
    said = ", ".join(problems)
    text = gotext.plain(shown) if form == "strategic" else shown
    detail = f"strict decoding error: {said}" if strict else said
    return refused("", "", "", [invalid("patch", text, detail)])


def not_restorable(node: Node, value: Any) -> str:
    """Why the result of a strategic patch cannot be read, in the words of Go's converter.

    Empty if it can be, or if it is for a type's own reader to say.
    """
    if value is None or node.special:
        return ""
    if node.type == "array":
        return _list(node, value)
    if node.type == "object":
        return _object(node, value)
    return _scalar(node, value)


def _list(node: Node, value: Any) -> str:
    if not isinstance(value, list):
        return f"cannot restore slice from {_kind(value)}"
    below = node.items
    return _first(not_restorable(below, item) for item in value) if below else ""


def _object(node: Node, value: Any) -> str:
    struct = bool(node.properties)
    if not isinstance(value, dict):
        return f"cannot restore {'struct from:' if struct else 'map from'} {_kind(value)}"
    if struct:
        fields = node.properties.items()
        return _first(not_restorable(below, value.get(name)) for name, below in fields)
    below = node.additional
    return _first(not_restorable(below, held) for held in value.values()) if below else ""


def _scalar(node: Node, value: Any) -> str:
    if node.type in _NUMBERS:
        return _number(node, value)
    kind, wanted = _GO_SCALARS.get(node.type, (object, ""))
    if isinstance(value, kind):
        return ""
    if wanted == "string" and node.format == "byte":
        return f"cannot restore slice from {_kind(value)}"
    if wanted == "string" and type(value) is int:
        return "cannot convert int64 to string"
    return f"unrecognized type: {wanted}"


def _number(node: Node, value: Any) -> str:
    wanted = node.format or _NUMBERS[node.type]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"unrecognized type: {wanted}"
    broken = node.type == "integer" and isinstance(value, float) and not value.is_integer()
    return f"cannot convert float64 to {wanted}" if broken else ""


def _first(problems: Any) -> str:
    return next(filter(None, problems), "")


def _kind(value: Any) -> str:
    """Go's kinds: what a type is made of."""
    if isinstance(value, dict):
        return "map"
    return "slice" if isinstance(value, list) else gotext.kind(value)
