# SPDX-License-Identifier: Apache-2.0
"""Who has the name of a gang that a set needs for its own. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.reasons import objects
from trellis.runtime.converged import NameConflict
from trellis.workloads.trouble import Trouble

if TYPE_CHECKING:
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.scheduler.podgang import PodGang


def conflict(gang: PodGang, owner: PodCliqueSet) -> NameConflict | None:
    """None: it is the set's, or was a former one's of its name, and the cluster's collector
    removes it."""
    by = gang.metadata.controller
    if by is None or (by.kind, by.name) != (owner.resource.kind, owner.metadata.name):
        return NameConflict.held_by(gang.metadata)
    return None


def trouble_with(found: NameConflict) -> Trouble:
    message = f"PodGang {found} and is left alone: remove or rename it"
    return Trouble(reason=objects.NAME_CONFLICT, message=message)
