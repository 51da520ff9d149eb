# SPDX-License-Identifier: Apache-2.0
"""The mark by which a replica of a scaling group is released to be renewed. Pure.

Who decides about the group writes it on all PodCliques of the replica, with their new specs, and
who keeps the ledger obeys it. It names the templates of all members, whose pods are renewed
together: a mark of an earlier update releases nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.api.grove.template import ScalingGroupTemplate
    from trellis.workloads.outline import Outline


def release(outline: Outline, group: ScalingGroupTemplate) -> str:
    """The mark for the templates that the set has now."""
    return outline.group_hashes[group.name]
