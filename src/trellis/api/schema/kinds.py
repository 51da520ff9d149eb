# SPDX-License-Identifier: Apache-2.0
"""The kinds that we define, and how each is served."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api.grove.clustertopology import ClusterTopology, ClusterTopologyBinding
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.scheduler.podgang import PodGang
from trellis.api.schema import columns

if TYPE_CHECKING:
    from trellis.api.meta import Object
    from trellis.api.schema.columns import Column

CATEGORIES = ("grove", "trellis")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A kind of ours. `selector` is where its scale subresource finds the label selector."""

    type: type[Object]
    short_name: str
    columns: tuple[Column, ...]
    selector: str = ""


KINDS = (
    Served(
        type=PodCliqueSet,
        short_name="pcs",
        columns=columns.POD_CLIQUE_SET,
        selector=".status.hpaPodSelector",
    ),
    Served(
        type=PodClique,
        short_name="pclq",
        columns=columns.POD_CLIQUE,
        selector=".status.hpaPodSelector",
    ),
    Served(
        type=PodCliqueScalingGroup,
        short_name="pcsg",
        columns=columns.SCALING_GROUP,
        selector=".status.selector",
    ),
    Served(type=ClusterTopology, short_name="ct", columns=columns.TOPOLOGY),
    # Grove calls this `ct` too, but one server gives a short name to one kind.
    Served(type=ClusterTopologyBinding, short_name="ctb", columns=columns.TOPOLOGY),
    Served(type=PodGang, short_name="pg", columns=columns.POD_GANG),
)
