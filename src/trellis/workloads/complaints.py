# SPDX-License-Identifier: Apache-2.0
"""What PodCliques, scaling groups and gangs say of themselves, as those above repeat it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.conditions import READY, STALLED, Status, find
from trellis.api.grove.updates import UPDATE_IN_PROGRESS
from trellis.api.reasons import CATALOGUE, objects
from trellis.workloads.members import knows_its_template
from trellis.workloads.trouble import Trouble
from trellis.workloads.updates.progress import is_under_way

if TYPE_CHECKING:
    from trellis.api.conditions import Condition
    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
    from trellis.api.scheduler.podgang import PodGang

    Child = PodClique | PodCliqueScalingGroup | PodGang


def complaint(child: Child) -> Trouble | None:
    """What keeps it from going on until somebody does something, if anything does."""
    found = _fresh(child, STALLED)
    if found is None or found.status != Status.TRUE.value:
        return None
    reason = CATALOGUE.get(found.reason, objects.REPLICAS_UNAVAILABLE)
    return Trouble(reason=reason, message=_quoted(child, found))


def lack(clique: PodClique) -> str:
    """What it lacks, in its own words; empty where it is Ready."""
    found = _fresh(clique, READY)
    if found is None or found.status == Status.TRUE.value:
        return ""
    return _quoted(clique, found)


def progress(child: PodClique | PodCliqueScalingGroup) -> str:
    """How its update goes, in its own words; empty where it says that none is under way."""
    found = _fresh(child, UPDATE_IN_PROGRESS)
    return found.message if found is not None and found.status == Status.TRUE.value else ""


def is_being_updated(clique: PodClique) -> bool:
    """Whether what it says is about an update to the template that it bears now."""
    return is_under_way(clique.status) and knows_its_template(clique)


def _quoted(child: Child, found: Condition) -> str:
    return f"{child.resource.kind} {child.metadata.name}: {found.message}"


def _fresh(child: Child, type_: str) -> Condition | None:
    """What was said of an earlier generation may no longer be so."""
    found = find(child.status.conditions, type_)
    if found is None or found.observed_generation < child.metadata.generation:
        return None
    return found
