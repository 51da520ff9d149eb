# SPDX-License-Identifier: Apache-2.0
"""What the PodGang controller may do: keep gangs, lift gates, and hand gangs to KAI."""

from __future__ import annotations

from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.permissions import READ, Grant
from trellis.api.scheduler.podgang import PodGang
from trellis.workloads.podgang.podgroups import KaiPodGroup, PodGroupDefinition

_SETS, _CLIQUES, _GROUPS, _GANGS, _PODS, _KAI, _DEFINED = (
    kind.resource
    for kind in (
        PodCliqueSet,
        PodClique,
        PodCliqueScalingGroup,
        PodGang,
        Pod,
        KaiPodGroup,
        PodGroupDefinition,
    )
)
_KEEP = (*READ, "create", "patch", "delete")

GRANTS = (
    Grant(
        group=_SETS.group,
        resources=(_SETS.plural, _CLIQUES.plural, _GROUPS.plural),
        verbs=READ,
    ),
    # While there is no gang, a PodClique says why.
    Grant(group=_CLIQUES.group, resources=(f"{_CLIQUES.plural}/status",), verbs=("patch",)),
    Grant(group=_GANGS.group, resources=(_GANGS.plural,), verbs=_KEEP),
    Grant(group=_GANGS.group, resources=(f"{_GANGS.plural}/status",), verbs=("patch",)),
    # Needed to own something that holds up its owner's deletion, where clusters ask for it.
    Grant(group=_SETS.group, resources=(f"{_SETS.plural}/finalizers",), verbs=("update",)),
    Grant(group=_GANGS.group, resources=(f"{_GANGS.plural}/finalizers",), verbs=("update",)),
    Grant(group=_PODS.group, resources=(_PODS.plural,), verbs=(*READ, "patch")),
    Grant(group=_KAI.group, resources=(_KAI.plural,), verbs=_KEEP),
    Grant(
        group=_DEFINED.group,
        resources=(_DEFINED.plural,),
        verbs=("list", "watch"),
        names=(_KAI.full_name,),
    ),
)
