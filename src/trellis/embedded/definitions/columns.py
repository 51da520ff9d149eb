# SPDX-License-Identifier: Apache-2.0
"""Paths that a definition may give: of printer columns, of a scale, of selectable fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.fielderrors import (
    FieldError,
    child,
    duplicate,
    index,
    invalid,
    required,
    too_many,
)
from trellis.embedded.schema.fieldpath import InvalidPath, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trellis.embedded.asking import Object
    from trellis.embedded.schema.node import Node

_TYPES = ("boolean", "date", "integer", "number", "string")
_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_MOST_SELECTABLE = 8
_SELECTABLE_TYPES = (
    "must point to a field of type string, boolean or integer. Enum string fields and strings "
    "with formats are allowed."
)


def check_column(column: Object, path: str) -> Iterator[FieldError]:
    if not column.get("name"):
        yield required(child(path, "name"))
    kind, format_ = column.get("type") or "", column.get("format") or ""
    why = f"must be one of {','.join(_TYPES)}"
    if not kind:
        yield required(child(path, "type"), why)
    elif kind not in _TYPES:
        yield invalid(child(path, "type"), kind, why)
    if format_ and format_ not in _FORMATS:
        yield invalid(child(path, "format"), format_, f"must be one of {','.join(_FORMATS)}")
    if not column.get("jsonPath"):
        yield required(child(path, "JSONPath"))
    else:
        yield from _simple(column["jsonPath"], child(path, "JSONPath"))


def _simple(path: str, where: str) -> Iterator[FieldError]:
    if not path.startswith("."):
        yield invalid(where, path, "must be a simple json path starting with .")


def check_scale(scale: Object, path: str) -> Iterator[FieldError]:
    for name, roots in (
        ("specReplicasPath", (".spec.",)),
        ("statusReplicasPath", (".status.",)),
        ("labelSelectorPath", (".spec.", ".status.")),
    ):
        where, said = child(path, f"scale.{name}"), scale.get(name) or ""
        if not said:
            if name != "labelSelectorPath":
                yield required(where)
            continue
        problems = list(_simple(said, where))
        yield from problems
        if not problems and not said.startswith(roots):
            under = "either .spec or .status" if len(roots) > 1 else roots[0].rstrip(".")
            yield invalid(where, said, f"should be a json path under {under}")


def check_selectable(fields: Sequence[Object], node: Node, path: str) -> Iterator[FieldError]:
    seen: set[str] = set()
    for at, field in enumerate(fields):
        where, said = child(index(path, at), "jsonPath"), field.get("jsonPath") or ""
        if not said:
            yield required(where)
            continue
        try:
            written, found = walk(node, said, brackets=False)
        except InvalidPath as problem:
            yield invalid(where, said, f"is an invalid path: {problem}")
            continue
        if written.split(".")[0] == "metadata":
            yield invalid(where, said, "must not point to fields in metadata")
        if found.type not in ("string", "boolean", "integer"):
            yield invalid(where, said, _SELECTABLE_TYPES)
        if written in seen:
            yield duplicate(where, said)
        seen.add(written)
    if len(seen) > _MOST_SELECTABLE:
        yield too_many(path, len(seen), _MOST_SELECTABLE)
