# SPDX-License-Identifier: Apache-2.0
"""How a topology stands after a pass, in the words of its conditions. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trellis.api.conditions import READY, Finding, Motion, Status, Verdict, summary
from trellis.api.reasons import objects, topology

if TYPE_CHECKING:
    from trellis.api.reasons import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """`reason` is why it is ready or not; `cause`, where it says more, why it moves or is stuck."""

    ready: Status
    motion: Motion
    reason: Reason
    message: str
    cause: Reason | None = None

    @property
    def failed(self) -> bool:
        return self.ready is Status.FALSE

    def findings(self) -> tuple[Finding, ...]:
        verdict = Verdict(
            ready=self.ready is Status.TRUE,
            motion=self.motion,
            reason=self.cause or self.reason,
            message=self.message,
        )
        return tuple(
            replace(finding, status=self.ready, reason=self.reason)
            if finding.type == READY
            else finding
            for finding in summary(verdict)
        )


def well(message: str) -> Standing:
    return Standing(
        ready=Status.TRUE,
        motion=Motion.SETTLED,
        reason=topology.TOPOLOGY_READY,
        message=message,
    )


def under_way(reason: Reason, message: str) -> Standing:
    """Whether schedulers know the topology cannot be said yet."""
    return Standing(ready=Status.UNKNOWN, motion=Motion.MOVING, reason=reason, message=message)


def unwritten(motion: Motion, cause: Reason, message: str) -> Standing:
    """KAI does not have what it should."""
    return Standing(
        ready=Status.FALSE,
        motion=motion,
        reason=topology.KAI_TOPOLOGY_FAILED,
        message=message,
        cause=cause,
    )


def name_taken(name: str, holder: str) -> Standing:
    return unwritten(
        Motion.STUCK,
        objects.NAME_CONFLICT,
        f"KAI's Topology {name} belongs to {holder} and is left alone: remove it, and the "
        "operator makes its own",
    )


def name_held(name: str) -> Standing:
    return under_way(
        objects.CREATING_CHILDREN,
        f"KAI's Topology {name} can be made when the former one of that name is gone",
    )
