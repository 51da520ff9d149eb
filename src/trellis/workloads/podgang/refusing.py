# SPDX-License-Identifier: Apache-2.0
"""Where it is told that the server will not have a gang as it is to be. Pure.

A gang that is there says so itself. For one that is not, the first of its PodCliques that is to
have pods bears the word: it cannot have them, and tells its set why. Both are read by controllers
that may run in other processes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from trellis.api.conditions import (
    READY,
    SUMMARY,
    Finding,
    Motion,
    Status,
    Verdict,
    is_true,
    merged,
    summary,
)
from trellis.api.grove.podclique import GANG_REFUSED
from trellis.workloads.trouble import trouble

if TYPE_CHECKING:
    from trellis.api.conditions import Pass
    from trellis.api.grove.podclique import PodClique, PodCliqueStatus
    from trellis.api.scheduler.podgang import PodGang, PodGangStatus
    from trellis.runtime.converged import Converged
    from trellis.workloads.podgang.state import State
    from trellis.workloads.trouble import Trouble


def refused(what: str, written: Converged | None) -> Trouble | None:
    """What the server would not do to objects of that kind."""
    if written is None or not written.refused:
        return None
    found = trouble([written])
    return found and replace(found, message=f"{what}: {found.message}")


def bearer(state: State) -> PodClique | None:
    """The PodClique that is to say why its gang is not there."""
    return next((part.clique for part in state.parts if part.replicas), None)


def said_by_clique(clique: PodClique, found: Trouble, seen: Pass) -> PodCliqueStatus:
    finding = Finding(
        type=GANG_REFUSED, status=Status.TRUE, reason=found.reason, message=found.message
    )
    present = clique.status
    conditions = merged(present.conditions, (finding,), (GANG_REFUSED,), seen)
    return structs.replace(present, conditions=conditions)


def said_by_gang(gang: PodGang, found: Trouble, seen: Pass) -> PodGangStatus:
    """What runs goes on running."""
    present = gang.status
    verdict = Verdict(
        ready=is_true(present.conditions, READY),
        motion=Motion.STUCK,
        reason=found.reason,
        message=found.message,
    )
    conditions = merged(present.conditions, summary(verdict), SUMMARY, seen)
    return structs.replace(present, conditions=conditions)
