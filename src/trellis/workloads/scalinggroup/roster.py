# SPDX-License-Identifier: Apache-2.0
"""What is remembered of a scaling group, so that a pass over thousands of members costs little.

Who its members are follows from the outline of its set; whether one is as it is to be follows from
its metadata, since any change of its spec is a new generation. Whatever is forgotten here is only
worked out again: nothing is ever decided by a memory that what was read does not bear out.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.api.grove.podclique import PodClique
    from trellis.api.meta import Metadata
    from trellis.workloads.outline import Member
    from trellis.workloads.scalinggroup.state import Place

_MOST = 4096


@dataclass
class Roster:
    """Of one group, for as long as the outline of its set stands."""

    place: Place
    _members: dict[int, tuple[Member, ...]] = field(default_factory=dict)
    _settled: dict[str, Metadata] = field(default_factory=dict)

    def members(self, index: int) -> tuple[Member, ...]:
        """Those of one replica."""
        found = self._members.get(index)
        if found is None:
            place = self.place
            found = place.outline.grouped(place.replica, place.config, index)
            self._members[index] = found
        return found

    def settle(self, live: PodClique) -> None:
        """It was compared with what is wanted, and nothing differed."""
        self._settled[live.metadata.name] = live.metadata

    def is_settled(self, live: PodClique) -> bool:
        now = live.metadata
        then = self._settled.get(now.name)
        return then is not None and (
            then.uid == now.uid
            and then.generation == now.generation
            and then.labels == now.labels
            and then.annotations == now.annotations
        )

    def shrink(self, replicas: int) -> None:
        """Forgets members beyond those."""
        for index in [index for index in self._members if index >= replicas]:
            for member in self._members.pop(index):
                self._settled.pop(member.name, None)


class Rosters:
    """Of the groups looked at last, by uid."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._known: OrderedDict[str, Roster] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def of(self, uid: str, place: Place) -> Roster:
        known = self._known.get(uid)
        if known is None or known.place.outline is not place.outline:
            known = self._known[uid] = Roster(place)
        self._known.move_to_end(uid)
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        return known

    def forget(self, uid: str) -> None:
        """The group is going."""
        self._known.pop(uid, None)
