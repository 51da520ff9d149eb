# SPDX-License-Identifier: Apache-2.0
"""The pods of a PodClique, counted. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.workloads.members import current_templates
from trellis.workloads.pods import (
    has_succeeded,
    is_broken,
    is_held_back,
    is_live,
    is_outdated,
    is_ready,
    is_scheduled,
)

if TYPE_CHECKING:
    from trellis.workloads.podclique.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """0 ≤ ready ≤ scheduled ≤ replicas, and updated ≤ replicas, whatever pods say of themselves.

    Only pods that hold an index count: none that is going, has failed or is not listed.
    """

    replicas: int = 0
    ready: int = 0
    scheduled: int = 0
    gated: int = 0
    updated: int = 0
    broken: int = 0
    """Of those that are scheduled."""
    succeeded: int = 0


def census(state: State) -> Census:
    live = [pod for pod in state.held if is_live(pod)]
    placed = [pod for pod in live if is_scheduled(pod)]
    ready = [pod for pod in placed if is_ready(pod)]
    current = current_templates(state.clique)
    return Census(
        replicas=len(live),
        scheduled=len(placed),
        ready=len(ready),
        gated=sum(is_held_back(pod) for pod in live) if len(placed) < len(live) else 0,
        updated=sum(not is_outdated(pod, current) for pod in live),
        broken=sum(is_broken(pod) for pod in placed) if len(ready) < len(placed) else 0,
        succeeded=sum(has_succeeded(pod) for pod in placed) if len(ready) < len(placed) else 0,
    )
