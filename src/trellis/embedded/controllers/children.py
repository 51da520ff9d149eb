# SPDX-License-Identifier: Apache-2.0
"""Children made from a template: what all controllers of pods have in common. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from trellis.api.meta import owner

if TYPE_CHECKING:
    from trellis.api.meta import Object
    from trellis.embedded.controllers.kinds import Json


def child(parent: Object, template: Json) -> Json:
    """A pod from a template, controlled by the parent, with a name yet to be made up."""
    metadata = dict(template.get("metadata") or {})
    for name in ("name", "namespace", "creationTimestamp"):
        metadata.pop(name, None)
    metadata["generateName"] = f"{parent.metadata.name}-"
    metadata["ownerReferences"] = [reference(parent)]
    spec: dict[str, Any] = dict(template.get("spec") or {})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def reference(parent: Object) -> Json:
    """The owner reference of a controller."""
    built: Json = msgspec.to_builtins(owner(parent))
    return built
