# SPDX-License-Identifier: Apache-2.0
"""Names that are still held by what an earlier set of the same name had. Pure.

The cluster's collector takes those objects, and each that goes wakes the set: nobody has to act.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.runtime.converged import Converged


def waiting_for_the_collector(written: Converged, found: PodCliqueSet) -> Converged:
    """What is in the way because of a predecessor blocks for a while and is no conflict."""
    if not written.conflicts:
        return written
    predecessor = f"{found.resource.kind} {found.metadata.name}"
    held = tuple(one.name for one in written.conflicts if one.holder == predecessor)
    conflicts = tuple(one for one in written.conflicts if one.holder != predecessor)
    return replace(written, conflicts=conflicts, blocked=(*written.blocked, *held))
