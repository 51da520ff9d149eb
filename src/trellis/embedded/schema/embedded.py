# SPDX-License-Identifier: Apache-2.0
"""Whole objects inside a custom object: they need a kind, a version and metadata that could be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import FieldError, child, invalid, required
from trellis.embedded.natives.metadata import validate_metadata
from trellis.embedded.natives.syntax import dns1035_label, path_segment
from trellis.embedded.schema.coerce import has_embedded
from trellis.embedded.schema.walking import below

if TYPE_CHECKING:
    from trellis.embedded.schema.node import Node

MIXED_CASE = "may have mixed case, but should otherwise match: "


def validate_embedded(node: Node, value: Any, path: str = "") -> list[FieldError]:
    if not has_embedded(node):
        return []
    found = _object(value, path) if node.embedded_resource and type(value) is dict else []
    for inner, each, where in below(node, value, path):
        found += validate_embedded(inner, each, where)
    return found


def _object(value: dict[str, Any], path: str) -> list[FieldError]:
    found = [required(child(path, name)) for name in ("apiVersion", "kind") if name not in value]
    if "apiVersion" in value:
        found += _version(value["apiVersion"], child(path, "apiVersion"))
    if "kind" in value:
        found += _kind(value["kind"], child(path, "kind"))
    if "metadata" in value:
        found += _metadata(value["metadata"] or {}, path)
    return found


def _version(said: Any, path: str) -> list[FieldError]:
    if type(said) is not str:
        return [invalid(path, said, "must be a string")]
    if not said:
        return [invalid(path, said, "must not be empty")]
    if said.count("/") > 1:
        return [invalid(path, said, f"unexpected GroupVersion string: {said}")]
    return []


def _kind(said: Any, path: str) -> list[FieldError]:
    if type(said) is not str:
        return [invalid(path, said, "must be a string")]
    if not said:
        return [invalid(path, said, "must not be empty")]
    problems = dns1035_label(said.lower())
    return [invalid(path, said, MIXED_CASE + ",".join(problems))] if problems else []


def _metadata(metadata: dict[str, Any], path: str) -> list[FieldError]:
    """Any name will do, and none; a namespace is looked at only where there is one."""
    named = {"metadata": {**metadata, "name": metadata.get("name") or "fakename"}}
    errors = validate_metadata(named, bool(metadata.get("namespace")), path_segment)
    return [FieldError(e.reason, child(path, e.path), e.value, e.detail) for e in errors]
