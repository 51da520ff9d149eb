# SPDX-License-Identifier: Apache-2.0
"""The shell for a set as a whole: what it has once, and its status.

What its replicas are made of is none of its business: it only looks at what has become of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from trellis.api.conditions import Pass
from trellis.api.labels import SET_FINALIZER
from trellis.runtime.outcome import DONE, Again
from trellis.workloads.caches import BY_SET
from trellis.workloads.classes import absent
from trellis.workloads.excess import group_replicas
from trellis.workloads.holders import trouble_with
from trellis.workloads.pacing import ABOVE_SECONDS, StatusPacer
from trellis.workloads.podcliqueset.belongings import Belongings
from trellis.workloads.podcliqueset.ending import ending
from trellis.workloads.podcliqueset.gangs import gangs
from trellis.workloads.podcliqueset.layout import Layouts
from trellis.workloads.podcliqueset.serving import Serving
from trellis.workloads.podcliqueset.status import State, refused, told
from trellis.workloads.podcliqueset.survey import Sight, survey
from trellis.workloads.streams import Streams

if TYPE_CHECKING:
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.meta import Key
    from trellis.instruments.clock import Clock
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome
    from trellis.workloads.caches import Caches
    from trellis.workloads.outlines import Outlines
    from trellis.workloads.podcliqueset.board import Board
    from trellis.workloads.podcliqueset.layout import Layout
    from trellis.workloads.podcliqueset.survey import Survey
    from trellis.workloads.trouble import Trouble


Excess: TypeAlias = Callable[["PodCliqueSet"], "Trouble | None"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Why nothing may be made of a set, if so; and how many replicas a scaling group may have."""

    excess: Excess
    group_replicas: int


class SetReconciler:
    def __init__(
        self, caches: Caches, outlines: Outlines, board: Board, clock: Clock, bounds: Bounds
    ) -> None:
        self._excess = bounds.excess
        self._caches = caches
        self._outlines = outlines
        self._layouts = Layouts()
        self._board = board
        self._clock = clock
        self._belongings = Belongings(caches)
        self._serving = Serving(caches)
        streams = Streams(caches.pods, clock)
        self.pacer = StatusPacer(caches.sets, streams, clock, ABOVE_SECONDS)
        self._sight = Sight(
            clique=caches.cliques.get,
            group=caches.groups.get,
            gang=caches.gangs.get,
            replicas=partial(group_replicas, caches, most=bounds.group_replicas),
        )

    def follow(self, old: PodCliqueSet | None, new: PodCliqueSet | None, **_: bool) -> None:
        """For the cache: of a set that is gone, nothing is remembered."""
        if old is not None and new is None:
            self._board.forget(old.metadata.uid)

    async def reconcile(self, key: Key, io: IO) -> Outcome:
        found = self._caches.sets.get(key)
        if found is None:
            return DONE
        if found.metadata.deleting:
            # Grove's finalizer, on sets of its time: the cluster's collector does all there is.
            await io.remove_finalizer(self._caches.sets, found, SET_FINALIZER)
            return DONE
        if (excess := self._excess(found)) is not None:
            tells = refused(found, excess, Pass(found.metadata.generation, self._clock.now()))
            left = await self.pacer.write(io, found, tells.status, tells.notes, tells.haste)
            return DONE if left is None else Again(left)
        layout = self._layouts.of(self._outlines.of(found))
        seen = survey(layout, self._sight)
        kept = await self._belongings.keep(io, found, layout.outline, seen)
        state = self._state(found, layout, seen, kept.troubles)
        tells = told(state, Pass(found.metadata.generation, self._clock.now()))
        left = await self.pacer.write(io, found, tells.status, tells.notes, tells.haste)
        return ending(kept.written, left)

    def _state(
        self, found: PodCliqueSet, layout: Layout, seen: Survey, troubles: tuple[Trouble, ...]
    ) -> State:
        caches, metadata = self._caches, found.metadata
        filed = str(metadata.key)
        return State(
            set=found,
            outline=layout.outline,
            seen=seen,
            gangs=gangs(caches.gangs.find(BY_SET, filed), metadata.uid),
            troubles=(
                *troubles,
                *self._board.of(metadata.uid),
                *(trouble_with(one) for one in seen.conflicts),
            ),
            missing_classes=absent(caches, layout.priority_classes),
            unserved=self._unserved(found, layout, seen),
            remains=0 if layout.replicas else len(caches.cliques.find(BY_SET, filed)),
        )

    def _unserved(self, found: PodCliqueSet, layout: Layout, seen: Survey) -> str:
        """Looked for once for a generation, when all the rest is as it says."""
        is_observed = found.status.observed_generation == found.metadata.generation
        return "" if is_observed or seen.behind else self._serving.first_behind(layout.outline)
