# SPDX-License-Identifier: Apache-2.0
"""From the OpenAPI v3 documents of an API server to the definitions we keep as data. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    Definitions = dict[str, dict[str, Any]]

REFERENCE = "#/components/schemas/"
KINDS = "x-kubernetes-group-version-kind"


class Disagreement(ValueError):
    """Two documents of one server define the same name differently."""


def definitions(documents: Iterable[dict[str, Any]]) -> Definitions:
    """All definitions of all documents, without descriptions.

    Every group version has a document of its own and repeats what it shares with the others. Only
    the list of kinds that a shared definition stands for differs, and is joined here.
    """
    found: Definitions = {}
    for document in documents:
        for name, schema in document.get("components", {}).get("schemas", {}).items():
            plain = _without_descriptions(schema)
            known = found.get(name)
            found[name] = plain if known is None else _joined(name, known, plain)
    return dict(sorted(found.items()))


def dump(kubernetes: str, found: Definitions) -> str:
    """One definition a line: small, and a diff between two releases can be read."""
    lines = ",\n".join(f"{json.dumps(name)}: {_compact(schema)}" for name, schema in found.items())
    return f'{{"kubernetes": {json.dumps(kubernetes)}, "definitions": {{\n{lines}\n}}}}\n'


def _joined(name: str, known: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    kinds = {_compact(kind): kind for one in (known, other) for kind in one.get(KINDS, ())}
    bare = [{key: one[key] for key in one if key != KINDS} for one in (known, other)]
    if bare[0] != bare[1]:
        raise Disagreement(f"the server has two definitions of {name}")
    return bare[0] | ({KINDS: [kinds[key] for key in sorted(kinds)]} if kinds else {})


def _without_descriptions(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_descriptions(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {
        key: _without_descriptions(value)
        for key, value in schema.items()
        if key not in {"description", "properties"}
    }
    if "properties" in schema:
        # The keys here are names of fields, and `description` may be one of them.
        fields = schema["properties"].items()
        plain["properties"] = {name: _without_descriptions(inner) for name, inner in fields}
    return plain


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
