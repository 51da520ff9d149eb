# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of fleet files, for editors, made from the types: `python -m` prints it. Pure."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from trellis.api.schema.shapes import Kind, fields
from trellis.embedded.nodes.fleet import Fleet

if TYPE_CHECKING:
    from msgspec import Struct

    from trellis.api.schema.shapes import Shape

FILE = "fleet.schema.json"
_KEYWORDS = ("minimum", "maximum", "enum")


def schema() -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Fleet of simulated nodes",
        **_object(Fleet),
    }


def text() -> str:
    return json.dumps(schema(), indent=2) + "\n"


def _object(struct: type[Struct]) -> dict[str, Any]:
    properties = {}
    for name, field in fields(struct).items():
        marked = field.mark.keywords if field.mark else {}
        described = {"description": field.mark.description} if field.mark else {}
        bounds = {key: marked[key] for key in _KEYWORDS if key in marked}
        properties[name] = described | _value(field.shape) | bounds
    required = [name for name, field in fields(struct).items() if field.required]
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **({"required": required} if required else {}),
    }


def _value(shape: Shape) -> dict[str, Any]:
    if shape.struct is not None:
        return _object(shape.struct)
    if shape.kind is Kind.LIST and shape.item is not None:
        return {"type": "array", "items": _value(shape.item)}
    if shape.kind is Kind.MAP and shape.item is not None:
        return {"type": "object", "additionalProperties": _value(shape.item)}
    return {"type": shape.kind.value}


if __name__ == "__main__":
    sys.stdout.write(text())
