# SPDX-License-Identifier: Apache-2.0
"""All that one pass over the managed topology may look at, read once. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.api.grove.clustertopology import ClusterTopology
    from trellis.topology.kai import KaiTopology


class Kai(Enum):
    """How far KAI can be told anything here."""

    ABSENT = auto()
    """Its kind is not served."""
    UNREAD = auto()
    """Its kind is served, and what is there has not been read yet."""
    READ = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    topology: ClusterTopology
    kai: Kai
    holder: KaiTopology | None = None
    """Whatever has the name that KAI's Topology is to have."""
