# SPDX-License-Identifier: Apache-2.0
"""Statuses as one pass after another writes them, with the condition that tells of updates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import structs

from tests.unit.workloads.updates.builders import NEW, NOW, OLD
from trellis.api.conditions import Condition, Pass, find, merged
from trellis.api.grove.updates import ON_DELETE, ROLLING_RECREATE, UPDATE_IN_PROGRESS
from trellis.api.reasons import updates
from trellis.workloads.updates import Outlook, Why
from trellis.workloads.updates.progress import (
    CliqueFacts,
    GroupFacts,
    SetFacts,
    clique_status,
    group_status,
    set_status,
)

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.api.grove.podclique import PodCliqueStatus
    from trellis.api.grove.podcliqueset import PodCliqueSetStatus
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroupStatus


def seen(strategy: str, outdated: bool, *, ended: bool | None = None, **more: Any) -> Outlook:
    """What the planner would say, in short."""
    by_hand = strategy == ON_DELETE
    over = (by_hand or not outdated) if ended is None else ended
    left = updates.UPDATE_WAITS_FOR_DELETION if by_hand and outdated else None
    why = Why(left or (updates.UPDATE_COMPLETED if over else updates.UPDATE_IN_PROGRESS), "So.")
    return Outlook(ended=over, why=why, **more)


def clique(
    before: PodCliqueStatus, template: str = NEW, *, now: datetime = NOW, **more: Any
) -> PodCliqueStatus:
    """A PodClique of that template with so many outdated pods."""
    strategy, outdated = more.pop("strategy", ROLLING_RECREATE), more.pop("outdated", 0)
    looks = seen(strategy, outdated > 0, ended=more.pop("ended", None))
    given: dict[str, Any] = {
        "strategy": strategy,
        "outlook": looks,
        "template": template,
        "current": frozenset({template}),
        "generation": f"of-{template}",
        "outdated": outdated,
        "updated": 3 - outdated,
    }
    status, finding = clique_status(before, CliqueFacts(**(given | more)), now)
    conditions = merged(status.conditions, [finding], (UPDATE_IN_PROGRESS,), Pass(1, now))
    return structs.replace(status, conditions=conditions)


def group(
    before: PodCliqueScalingGroupStatus, generation: str = NEW, *, now: datetime = NOW, **more: Any
) -> PodCliqueScalingGroupStatus:
    strategy, outdated = more.pop("strategy", ROLLING_RECREATE), more.pop("outdated", False)
    looks = seen(strategy, outdated, ended=more.pop("ended", None))
    given: dict[str, Any] = {
        "strategy": strategy,
        "outlook": looks,
        "generation": generation,
        "handed": not outdated,
        "outdated": outdated,
        "updated": 0 if outdated else 2,
        "members_updated": 0 if outdated else 4,
        "members": 4,
    }
    status, finding = group_status(before, GroupFacts(**(given | more)), now)
    conditions = merged(status.conditions, [finding], (UPDATE_IN_PROGRESS,), Pass(1, now))
    return structs.replace(status, conditions=conditions)


def whole(
    before: PodCliqueSetStatus, generation: str = NEW, *, now: datetime = NOW, **more: Any
) -> PodCliqueSetStatus:
    """A set. `number` is its generation as the server counts them."""
    strategy, outdated = more.pop("strategy", ROLLING_RECREATE), more.pop("outdated", False)
    number = more.pop("number", 1)
    looks = seen(strategy, outdated, ended=more.pop("ended", None), active=more.pop("active", ()))
    given: dict[str, Any] = {
        "strategy": strategy,
        "outlook": looks,
        "generation": generation,
        "handed": not outdated,
        "outdated": outdated,
        "updated": 0 if outdated else 2,
    }
    passed = Pass(number, now)
    status, finding = set_status(before, SetFacts(**(given | more)), passed)
    conditions = merged(status.conditions, [finding], (UPDATE_IN_PROGRESS,), passed)
    return structs.replace(status, conditions=conditions)


def condition(
    status: PodCliqueStatus | PodCliqueScalingGroupStatus | PodCliqueSetStatus,
) -> tuple[str, str]:
    found = find(status.conditions, UPDATE_IN_PROGRESS)
    assert isinstance(found, Condition)
    return found.status, found.reason


__all__ = ["NEW", "NOW", "OLD", "clique", "condition", "group", "seen", "whole"]
