# SPDX-License-Identifier: Apache-2.0
"""Numbers that were stored before anybody could refuse them: no list is ever made of one.

What was let in before a limit was lowered goes on. What asks for more than both its limit and what
there is gets nothing, and is told so. What there is, is counted in the caches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.reasons import pending
from trellis.workloads.trouble import Trouble

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.api.config.types import Limits
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
    from trellis.workloads.caches import Caches

# No template that was ever let in says more, whatever the limits were then.
_UNHEARD_OF = 20_000
_ANEW = "delete the set and make it anew with fewer"


def counted(asked: int, most: int, standing: int) -> int:
    """How many replicas something is taken to have. `standing`: as many as there are."""
    return asked if asked <= max(most, standing) else standing


def told(field: str, asked: int, most: int, key: str, remedy: str = "scale it in") -> Trouble:
    message = (
        f"{field} is {asked}, more than the {most} that trellis.limits.{key} of the operator's "
        f"configuration allows; {remedy}"
    )
    return Trouble(reason=pending.INVALID_SPEC, message=message)


def group_replicas(caches: Caches, group: PodCliqueScalingGroup, most: int) -> int:
    """How many replicas of a scaling group are worth looking for."""
    asked = group.spec.replicas
    if asked <= most:
        return asked
    members = caches.cliques.owned(group.metadata.uid)
    return counted(asked, most, len(members) // max(len(group.spec.clique_names), 1))


def set_excess(found: PodCliqueSet, limits: Limits, standing: Callable[[], int]) -> Trouble | None:
    """Why nothing is done for a set. `standing` is asked only where its limit is passed."""
    asked, most = found.spec.replicas, limits.set_replicas
    if asked > most and asked > (most := max(most, standing())):
        return told("spec.replicas", asked, most, "setReplicas")
    most = limits.group_replicas
    for index, group in enumerate(found.spec.template.pod_clique_scaling_groups):
        place = f"spec.template.podCliqueScalingGroups[{index}]"
        for name, count in (("replicas", group.replicas), ("minAvailable", group.min_available)):
            if count > max(most, _UNHEARD_OF):
                return told(f"{place}.{name}", count, most, "groupReplicas", _ANEW)
    return None


def standing_replicas(caches: Caches, found: PodCliqueSet) -> int:
    """How many replicas of a set there are, by the number of its children."""
    template, uid = found.spec.template, found.metadata.uid
    grouped = {name for one in template.pod_clique_scaling_groups for name in one.clique_names}
    alone = sum(clique.name not in grouped for clique in template.cliques)
    each = alone + len(template.pod_clique_scaling_groups)
    there = len(caches.cliques.owned(uid)) + len(caches.groups.owned(uid))
    return there // max(each, 1)
