# SPDX-License-Identifier: Apache-2.0
"""The scale of a custom object: its replicas, wherever its definition says that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded import gotext
from trellis.embedded.fielderrors import FieldError, invalid
from trellis.embedded.refusals import internal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.embedded.asking import Object

    Paths = Mapping[str, str]

_MOST = (1 << 31) - 1
_SHOWN_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


class Misplaced(ValueError):
    """The path leads through something that it cannot lead through; the server's words."""


def read(obj: Object, path: str, kind: type) -> Any:
    """The value at a simple path; None where there is none. Raises Misplaced."""
    value: Any = obj
    names = path.removeprefix(".").split(".")
    for at, name in enumerate(names):
        if not isinstance(value, dict):
            came = ".".join(names[: at + 1])
            raise _misplaced(came, value, "map[string]interface{}")
        if name not in value:
            return None
        value = value[name]
    if type(value) is not kind:
        wanted = "int64" if kind is int else "string"
        raise _misplaced(".".join(names), value, wanted)
    return value


def _misplaced(path: str, value: Any, wanted: str) -> Misplaced:
    said = f"{gotext.plain(value)} is of the type {gotext.kind(value)}, expected {wanted}"
    return Misplaced(f".{path} accessor error: {said}")


def get_scale(paths: Paths, obj: Object) -> Object:
    """The Scale of an object; 500 where it has no replicas to read."""
    try:
        replicas = read(obj, paths["specReplicasPath"], int)
        if replicas is None:
            path = paths["specReplicasPath"]
            raise internal(f'the spec replicas field "{path}" does not exist')
        found = read(obj, paths["statusReplicasPath"], int) or 0
        selector = read(obj, paths["labelSelectorPath"], str) if _selects(paths) else None
    except Misplaced as problem:
        raise internal(str(problem)) from None
    metadata = obj["metadata"]
    shown = {name: metadata[name] for name in _SHOWN_METADATA if name in metadata}
    scale: Object = {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": shown,
        "spec": {"replicas": replicas} if replicas else {},
        "status": {"replicas": found},
    }
    if selector:
        scale["status"]["selector"] = selector
    return scale


def put_scale(paths: Paths, obj: Object, scale: Object) -> None:
    """Writes the replicas of a Scale into the object; none are zero."""
    *outer, last = paths["specReplicasPath"].removeprefix(".").split(".")
    value = obj
    for name in outer:
        value = value.setdefault(name, {})
        if not isinstance(value, dict):
            raise internal(f"value cannot be set because .{name} is not a map[string]interface{{}}")
    value[last] = (scale.get("spec") or {}).get("replicas", 0)


def _selects(paths: Paths) -> bool:
    return bool(paths.get("labelSelectorPath"))


def validate_scale(paths: Paths, obj: Object, *, status_only: bool) -> list[FieldError]:
    """What the server checks of the fields a scale is made of, beside the schema."""
    fields = ("statusReplicasPath",) if status_only else ("specReplicasPath", "statusReplicasPath")
    errors: list[FieldError] = []
    for name in fields:
        errors += _replicas(obj, paths[name])
    if _selects(paths):
        try:
            read(obj, paths["labelSelectorPath"], str)
        except Misplaced as problem:
            errors.append(invalid(paths["labelSelectorPath"], "", str(problem)))
    return errors


def _replicas(obj: Object, path: str) -> list[FieldError]:
    try:
        count = read(obj, path, int) or 0
    except Misplaced as problem:
        return [invalid(path, 0, str(problem))]
    if count < 0:
        return [invalid(path, count, "should be a non-negative integer")]
    if count > _MOST:
        return [invalid(path, count, f"should be less than or equal to {_MOST}")]
    return []
