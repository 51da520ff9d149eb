# SPDX-License-Identifier: Apache-2.0
"""PodCliques as they are read from a cluster."""

from __future__ import annotations

from typing import Any

import msgspec

from trellis.api.grove.podclique import PodClique
from trellis.api.meta import Object, to_builtins

Json = dict[str, Any]


def stored(made: PodClique, **changes: Any) -> PodClique:
    """The same as a server would give it back. `changes` are laid over its labels and the like.

    A value of None takes away what is there.
    """
    body = to_builtins(made)
    name = body["metadata"]["name"]
    body["metadata"] |= {"uid": f"uid-{name}", "resourceVersion": "7", "generation": 1}
    for section in ("labels", "annotations"):
        body["metadata"][section] = _over(
            body["metadata"].get(section, {}), changes.pop(section, {})
        )
    body["metadata"] |= changes.pop("metadata", {})
    body["spec"] |= changes.pop("spec", {})
    body["status"] = changes.pop("status", {})
    assert not changes, changes
    return msgspec.json.decode(msgspec.json.encode(body), type=PodClique)


def patched(have: Object, patch: Json) -> PodClique:
    """What a server makes of a merge patch."""
    return msgspec.json.decode(msgspec.json.encode(_over(to_builtins(have), patch)), type=PodClique)


def _over(base: Json, patch: Json) -> Json:
    merged = dict(base)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict):
            merged[name] = _over(base[name] if isinstance(base.get(name), dict) else {}, value)
        else:
            merged[name] = value
    return merged
