# SPDX-License-Identifier: Apache-2.0
"""The shell: reads, lets others decide, writes. `clustertopology` declares the controller."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from trellis.api.conditions import Pass
from trellis.api.core.definition import Definition, serves
from trellis.api.grove.clustertopology import MANAGED_NAME, ClusterTopology
from trellis.api.meta import Key, Object
from trellis.kube.errors import KubeError
from trellis.kube.verbs import Selection
from trellis.runtime.cache import Cache, Scope
from trellis.runtime.controller import Controller, Wakes
from trellis.runtime.converge import Children
from trellis.runtime.outcome import DONE, Again
from trellis.runtime.plan import by_fields
from trellis.topology.desired import managed, plan
from trellis.topology.kai import KaiTopology
from trellis.topology.state import Kai, State
from trellis.topology.status import after, notes, status, trouble

if TYPE_CHECKING:
    from trellis.api.config.types import Topology
    from trellis.instruments.clock import Clock
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome
    from trellis.topology.desired import Plan
    from trellis.topology.status import Written

T = TypeVar("T", bound=Object)

MANAGED = Key("", MANAGED_NAME)
# A kind that was just defined is read within this, in the common case; else it is told, and looked
# at again after as long.
READ_SECONDS = 5.0


class Caches:
    """What is read, each only by the one name that matters."""

    def __init__(self) -> None:
        own, kai = (kind.resource.full_name for kind in (ClusterTopology, KaiTopology))
        self.topologies = _named(ClusterTopology, MANAGED_NAME)
        self.kai = _named(KaiTopology, MANAGED_NAME, optional=True)
        self.own_definition = _named(Definition, own)
        self.kai_definition = _named(Definition, kai)


def clustertopology(configured: Topology, clock: Clock) -> Controller[ClusterTopology]:
    """The controller that keeps `grove-topology` and what KAI knows of it.

    The definition of its kind wakes it too: so it is made when there is none to wake anybody.
    """
    caches = Caches()
    wakes = (caches.kai, caches.own_definition, caches.kai_definition)
    return Controller(
        name="clustertopology",
        cache=caches.topologies,
        reconcile=Reconciler(configured, clock, caches).reconcile,
        # What is switched off needs to hear of nothing but what it has to remove.
        woken_by=tuple(Wakes(cache, _managed) for cache in wakes) if configured.enabled else (),
        workers=1,
    )


class Reconciler:
    def __init__(self, configured: Topology, clock: Clock, caches: Caches) -> None:
        self._configured = configured
        self._caches = caches
        self._clock = clock
        self._children = Children(cache=caches.kai, compare=by_fields())

    async def reconcile(self, key: Key, io: IO) -> Outcome:
        if key != MANAGED:
            return DONE
        found = await self._kept(io)
        if found is None:
            return DONE
        state = await self._observe(found)
        planned = plan(state)
        written = await self._export(io, found, planned)
        stands = after(written, planned.standing)
        seen = Pass(found.metadata.generation, self._clock.now())
        told = notes(found, stands, written)
        await io.write_status(self._caches.topologies, found, status(found, stands, seen), told)
        if error := trouble(written):
            raise error
        return Again(READ_SECONDS) if state.kai is Kai.UNREAD else DONE

    async def _kept(self, io: IO) -> ClusterTopology | None:
        """The topology, once it is as configured: what is not, is written, and heard of later."""
        topologies, configured = self._caches.topologies, self._configured
        if configured.enabled and not configured.levels:
            # They are in bindings that users write, and nothing is to be made here.
            found = topologies.get(MANAGED)
            return found if found is not None and not found.metadata.deleting else None
        return await io.keep(topologies, MANAGED, managed(configured))

    async def _observe(self, found: ClusterTopology) -> State:
        kai = self._caches.kai
        definition = self._caches.kai_definition.get(Key("", KaiTopology.resource.full_name))
        if not serves(definition, KaiTopology.resource.version):
            return State(topology=found, kai=Kai.ABSENT)
        with suppress(TimeoutError):
            async with asyncio.timeout(READ_SECONDS):
                await kai.until_synced()
        if not kai.synced:
            return State(topology=found, kai=Kai.UNREAD)
        return State(topology=found, kai=Kai.READ, holder=kai.get(found.metadata.key))

    async def _export(self, io: IO, found: ClusterTopology, planned: Plan) -> Written:
        try:
            return await io.converge(found, self._children, planned.have, planned.want)
        except KubeError as error:
            return error


def _managed(_: Object) -> tuple[Key, ...]:
    return (MANAGED,)


def _named(kind: type[T], name: str, *, optional: bool = False) -> Cache[T]:
    """A cache of the one object of that name."""
    selection = Selection(fields=f"metadata.name={name}")
    return Cache(kind.resource, kind, scope=Scope(selection=selection, optional=optional))
