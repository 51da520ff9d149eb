# SPDX-License-Identifier: Apache-2.0
"""Which pod to give up first, when any would do. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from trellis.embedded.controllers.kinds import Pod

_PHASES = {"Pending": 0, "": 1, "Unknown": 1, "Running": 2}


def by_worth(pods: Iterable[Pod]) -> list[Pod]:
    """The least worthy first: without a node, not started, not ready, ready or made last."""
    return sorted(pods, key=_worth)


def _worth(pod: Pod) -> tuple[object, ...]:
    since = pod.ready_since
    return (
        bool(pod.spec.node_name),
        _PHASES.get(pod.status.phase, 2),
        since is not None,
        -_seconds(since),
        -_seconds(pod.metadata.creation_timestamp),
    )


def _seconds(moment: datetime | None) -> float:
    return moment.timestamp() if moment else 0.0
