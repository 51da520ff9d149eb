# SPDX-License-Identifier: Apache-2.0
"""What the ClusterTopology controller may do: to one name of each kind, but where it creates."""

from __future__ import annotations

from trellis.api.core.definition import Definition
from trellis.api.grove.clustertopology import MANAGED_NAME, ClusterTopology
from trellis.api.permissions import READ, Grant
from trellis.topology.kai import KaiTopology

_OWN, _KAI, _DEFINED = (kind.resource for kind in (ClusterTopology, KaiTopology, Definition))
_ONE = (MANAGED_NAME,)
_KEEP = (*READ, "patch", "delete")

GRANTS = (
    # Kubernetes does not know the name of what is to be created when it asks who may.
    Grant(group=_OWN.group, resources=(_OWN.plural,), verbs=("create",)),
    Grant(group=_OWN.group, resources=(_OWN.plural,), verbs=_KEEP, names=_ONE),
    Grant(group=_OWN.group, resources=(f"{_OWN.plural}/status",), verbs=("patch",), names=_ONE),
    # Needed to own something that holds up its owner's deletion, where clusters ask for it.
    Grant(
        group=_OWN.group, resources=(f"{_OWN.plural}/finalizers",), verbs=("update",), names=_ONE
    ),
    Grant(group=_KAI.group, resources=(_KAI.plural,), verbs=("create",)),
    Grant(group=_KAI.group, resources=(_KAI.plural,), verbs=_KEEP, names=_ONE),
    Grant(
        group=_DEFINED.group,
        resources=(_DEFINED.plural,),
        verbs=("list", "watch"),
        names=(_OWN.full_name, _KAI.full_name),
    ),
)
