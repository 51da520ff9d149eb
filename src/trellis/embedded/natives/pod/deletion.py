# SPDX-License-Identifier: Apache-2.0
"""How long the deletion of a pod waits for its containers to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.embedded.asking import Object


def grace_of_pod(pod: Object, asked: int | None) -> int:
    """Seconds. Nothing runs of a pod without a node, nor of one that ended: those go at once."""
    spec = pod.get("spec") or {}
    ended = (pod.get("status") or {}).get("phase") in {"Succeeded", "Failed"}
    if not spec.get("nodeName") or ended:
        return 0
    period: int = asked if asked is not None else spec.get("terminationGracePeriodSeconds") or 0
    return 1 if period < 0 else period
