# SPDX-License-Identifier: Apache-2.0
"""Schemas and kinds for tests of this folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trellis.embedded.schema.node import Node, native_of, resource

TEXT: dict[str, Any] = {"type": "string"}
WHOLE: dict[str, Any] = {"type": "integer"}


@dataclass(frozen=True, slots=True)
class Kind:
    group: str
    version: str
    kind: str
    schema: Node
    custom: bool


def native_kind(group: str, version: str, kind: str) -> Kind:
    return Kind(group, version, kind, native_of(group, version, kind), custom=False)


def spec_of(spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"spec": spec, **more}}


def fields(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def things(spec: dict[str, Any]) -> Kind:
    return Kind("example.com", "v1", "Thing", resource(spec_of(spec)), custom=True)


def thing(spec: Any, **more: Any) -> dict[str, Any]:
    metadata = {"name": "x"}
    return {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": metadata,
        "spec": spec,
    } | more
