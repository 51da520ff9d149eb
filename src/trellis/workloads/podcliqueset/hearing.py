# SPDX-License-Identifier: Apache-2.0
"""What a replica of a set repeats of the words of its PodCliques and scaling groups. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.workloads.complaints import complaint, progress
from trellis.workloads.updates import Why

if TYPE_CHECKING:
    from typing import TypeAlias

    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
    from trellis.workloads.trouble import Trouble

    Child: TypeAlias = PodClique | PodCliqueScalingGroup


@dataclass(slots=True)
class Hearing:
    """Of one replica, the first that is being updated: `follows` is how it says that this goes, and
    `hindrance` what it says that somebody must do something about."""

    follows: str = ""
    hindrance: Why | None = None

    def complaint(self, child: Child, *, updating: bool, lacking: bool = False) -> Trouble | None:
        """What keeps it from having its minimum, where it lacks that, or its update from going on.

        `updating`: it is updated to the template of now. What is said of an earlier one is no news.
        """
        found = complaint(child) if lacking or updating else None
        if updating and found is not None and self.hindrance is None:
            self.hindrance = Why(found.reason, found.message)
        return found

    def follow(self, child: Child) -> None:
        """It is being updated."""
        if not self.follows and (words := progress(child)):
            self.follows = f"{child.resource.kind} {child.metadata.name}: {words}"
