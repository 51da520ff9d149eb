# SPDX-License-Identifier: Apache-2.0
"""The scale of what has replicas: deployments, replica sets, stateful sets, controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.natives.selectors import as_text

if TYPE_CHECKING:
    from trellis.embedded.asking import Object

_SHOWN = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def get_scale(group: str, kind: str, held: Object) -> Object:
    """The scale of an object as GET shows it."""
    spec, status = held.get("spec") or {}, held.get("status") or {}
    selector = spec.get("selector")
    if selector is not None and (group, kind) == ("", "ReplicationController"):
        selector = {"matchLabels": selector}
    seen: Object = {"replicas": status.get("replicas") or 0}
    if text := as_text(selector):
        seen["selector"] = text
    replicas = spec.get("replicas") or 0
    metadata = held["metadata"]
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in _SHOWN if name in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": seen,
    }


def put_scale(group: str, kind: str, held: Object, scale: Object) -> None:  # noqa: ARG001 - as that of custom kinds
    """Gives the object the replicas of the scale; nothing else of the scale is taken."""
    held.setdefault("spec", {})["replicas"] = (scale.get("spec") or {}).get("replicas") or 0
