# SPDX-License-Identifier: Apache-2.0
"""Pieces of structural schemas, for probes that define kinds of their own."""

from __future__ import annotations

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
WHOLE: dict[str, Any] = {"type": "integer"}
NUMBER: dict[str, Any] = {"type": "number"}
INT_OR_TEXT: dict[str, Any] = {"x-kubernetes-int-or-string": True}
KEEP_UNKNOWN: dict[str, Any] = {"x-kubernetes-preserve-unknown-fields": True}
EMBEDDED: dict[str, Any] = {"x-kubernetes-embedded-resource": True}
SET: dict[str, Any] = {"x-kubernetes-list-type": "set"}


def object_of(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


def map_of(values: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values, **more}


def list_of(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def keyed_by(*keys: str) -> dict[str, Any]:
    """What makes a list of objects a map: spread it into `list_of`."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


def ruled(base: dict[str, Any], rule: str, **more: Any) -> dict[str, Any]:
    return {**base, "x-kubernetes-validations": [{"rule": rule, **more}]}
