# SPDX-License-Identifier: Apache-2.0
"""The mark by which a replica of a scaling group is released to be renewed. Pure.

Who decides about the group writes it on all PodCliques of the replica, with their new specs, and
who keeps the ledger obeys it. It names the templates of all members, whose pods are renewed
together, and the update that they are renewed for: templates come back, and a mark of an earlier
update releases nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.workloads.deadlines import told
from trellis.workloads.updates.progress import set_progress_of, span_of

if TYPE_CHECKING:
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.grove.template import ScalingGroupTemplate
    from trellis.workloads.outline import Outline


def release(owner: PodCliqueSet, outline: Outline, group: ScalingGroupTemplate) -> str:
    """The mark for the templates that the set has now. `owner` is the set as it is stored now."""
    found = span_of(set_progress_of(owner.status))
    began = f" {told(found.started)}" if found is not None else ""
    return f"{outline.group_hashes[group.name]}{began}"
