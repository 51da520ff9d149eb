# SPDX-License-Identifier: Apache-2.0
"""Nothing falls on hearsay: before a gang is made anew, its pods are looked at on the server.

A watch may be late, and a pod may have lost the label that it is read by. Each of that is over
soon, but together they can last for longer than anybody wanted to wait for a gang that is broken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api.labels import POD_GANG
from trellis.api.meta import Key
from trellis.workloads.ledger import all_listed_names
from trellis.workloads.pods import is_controlled_by, is_well

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from trellis.api.core.pod import Pod
    from trellis.runtime.io import IO
    from trellis.workloads.caches import Caches
    from trellis.workloads.podgang.ailing import Ailing
    from trellis.workloads.podgang.observing import Observer
    from trellis.workloads.podgang.recycle import Decision
    from trellis.workloads.podgang.state import State

# What is well on the server and not in our caches is looked at again after that.
LOOK_AGAIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Confirmed:
    """`refuted`: something would have fallen that is well."""

    decision: Decision
    refuted: bool = False


class Confirming:
    def __init__(self, caches: Caches, observer: Observer, ailing: Ailing) -> None:
        self._pods = caches.pods
        self._observer = observer
        self._ailing = ailing

    async def decision(self, io: IO, state: State, now: datetime) -> Confirmed:
        looked: set[str] = set()
        well: set[str] = set()
        while True:
            found = self._ailing.decision(state, now, well)
            asked = {name for name in _accused(state, found) if name not in looked}
            if not asked:
                return Confirmed(found, refuted=bool(well))
            looked |= asked
            well |= {name for name in asked if await self._is_well(io, state, name)}

    async def _is_well(self, io: IO, state: State, name: str) -> bool:
        """Whether it has its minimum, by what is listed for it and what the server says of that."""
        clique = self._observer.clique(state.set, name)
        if clique is None:
            return False
        gang = self._observer.gang(state.set, clique.metadata.labels.get(POD_GANG, ""))
        if gang is None:
            return False
        keys = [Key(state.key.namespace, pod) for pod in all_listed_names(gang).get(name, ())]
        uid = clique.metadata.uid
        heard = {key for key in keys if _is_well_and_of(self._pods.get(key), uid)}
        found = await io.read(self._pods, [key for key in keys if key not in heard])
        well = [pod for pod in found if _is_well_and_of(pod, uid)]
        return len(heard) + len(well) >= clique.spec.needed


def _accused(state: State, decision: Decision) -> Iterator[str]:
    """The PodCliques because of which something of that gang is to fall now."""
    for threat in decision.due:
        falls = not state.is_scaled if threat.is_whole else state.members_of(*threat.unit)
        if falls:
            yield threat.clique


def _is_well_and_of(pod: Pod | None, uid: str) -> bool:
    return pod is not None and is_well(pod) and is_controlled_by(pod, uid)
