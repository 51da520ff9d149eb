# SPDX-License-Identifier: Apache-2.0
"""What a mutating webhook's patch makes of an object. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.admission.answers import Unusable, unregistered
from trellis.embedded.gotext import json_kind
from trellis.embedded.patches import json_patch
from trellis.embedded.refusals import Refusal, internal
from trellis.embedded.schema.scalars import Undecodable
from trellis.embedded.schema.text import from_json
from trellis.embedded.schema.typed import typed

if TYPE_CHECKING:
    from trellis.embedded.asking import Object, Review

_PATCH = "received undecodable patch in webhook response"
_KNOWN = frozenset({"add", "remove", "replace", "move", "copy", "test"})


def operations(patch: bytes) -> list[Any]:
    """Raises `Unusable` where it is no list of operations."""
    try:
        found = from_json(patch, watch_keys=False)
    except Undecodable as problem:
        raise Unusable(f"{_PATCH}: {problem}") from None
    if isinstance(found, list) and all(isinstance(each, dict) for each in found):
        return found
    wrong = found if not isinstance(found, list) else next(e for e in found if type(e) is not dict)
    go = "jsonpatch.Patch" if wrong is found else "jsonpatch.Operation"
    said = f"json: cannot unmarshal {json_kind(wrong)} into Go value of type {go}"
    raise Unusable(f"{_PATCH}: {said}")


def apply(found: list[Any], review: Review, webhook: str, item: Object | None) -> Object:
    """The object afterwards, without fields that its kind does not have."""
    if item is None:
        said = f'admission webhook "{webhook}" attempted to modify the object,'
        raise internal(f"{said} which is not supported for this operation")
    try:
        changed = json_patch(item, found)
    except Refusal:
        raise internal(_why(found, item)) from None
    kind, api_version = changed.get("kind", ""), changed.get("apiVersion", "")
    if (kind, api_version) != (item.get("kind", ""), item.get("apiVersion", "")):
        raise internal(unregistered(kind, api_version))
    if review.subresource or review.served.custom:
        return dict(changed)
    try:
        return dict(typed(review.served.schema, changed)[0])
    except Undecodable as problem:
        raise internal(str(problem)) from None


def _why(found: list[Any], item: Object) -> str:
    """Which operation fails and how, in the words of the real server's library."""
    for operation in found:
        try:
            item = json_patch(item, [operation])
        except Refusal:
            return _told(operation, item)
    return "the patch cannot be applied"


def _told(operation: Object, item: Object) -> str:
    name, path = operation.get("op"), operation.get("path")
    if name not in _KNOWN:
        return f"Unexpected kind: {name if isinstance(name, str) else 'unknown'}"
    if not isinstance(path, str):
        return f"{name} operation failed to decode path: missing value"
    where = operation.get("from", path)
    parent, key = _parent(item, where)
    if parent is None:
        return _nowhere(name, where)
    if name in ("test", "replace"):
        missing = f"replace operation does not apply: doc is missing key: {path}: missing value"
        return f"testing value {path} failed: test failed" if name == "test" else missing
    said = f"Unable to access invalid index: {key}: invalid index referenced"
    if isinstance(parent, dict):
        said = f"Unable to remove nonexistent key: {key}: missing value"
    return f"error in {name} for path: '{where}': {said}"


def _nowhere(name: str, path: str) -> str:
    said = {
        "add": f'doc is missing path: "{path}"',
        "remove": f'doc is missing path: "{path}"',
        "replace": f"doc is missing path: {path}",
        "test": f"is missing path: {path}",
    }.get(name, f"doc is missing from path: {path}")
    return f"{name} operation does not apply: {said}: missing value"


def _parent(item: Any, path: str) -> tuple[Any, str]:
    """What holds the place that a path points to, None if nothing does; and its key there."""
    *steps, key = path.split("/")[1:] or [""]
    for step in map(_unescaped, steps):
        if isinstance(item, list):
            number = int(step) if step.isascii() and step.isdigit() else len(item)
            item = item[number] if number < len(item) else None
        else:
            item = item.get(step) if isinstance(item, dict) else None
        if not isinstance(item, dict | list):
            return None, key
    return item, _unescaped(key)


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
