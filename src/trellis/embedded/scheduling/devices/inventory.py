# SPDX-License-Identifier: Apache-2.0
"""The devices of all slices, by the nodes that they can be used from. No I/O.

Of a pool only the newest generation counts, and only when all of its slices are there: until then
its driver is still publishing it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from trellis.embedded.scheduling.matching import node_matcher

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.embedded.scheduling.claims import DeviceId
    from trellis.embedded.scheduling.dra import Device, Slice, SliceSpec
    from trellis.embedded.scheduling.matching import NodeMatcher
    from trellis.embedded.scheduling.pods import NodeSelector
    from trellis.embedded.scheduling.rooms import Room

PoolId = tuple[str, str]


class Candidate:
    """A device that may be given; what was found out about it is remembered."""

    def __init__(self, slice_: Slice, device: Device) -> None:
        self.slice = slice_
        self.device = device
        spec = slice_.spec
        self.id: DeviceId = (spec.driver, spec.pool.name, device.name)
        self.verdicts: dict[str, bool] = {}
        """By the expression of a selector."""

    @cached_property
    def value(self) -> dict[str, Any]:
        """The device as a selector sees it."""
        # Loaded when the first device is to be judged: many clusters have none.
        from trellis import cel  # noqa: PLC0415

        return cel.device(self.id[0], to_builtins(self.device))

    @property
    def node_name(self) -> str | None:
        return self._placed.node_name

    @property
    def node_selector(self) -> NodeSelector | None:
        return self._placed.node_selector

    def is_on(self, room: Room) -> bool:
        placed = self._placed
        if placed.node_name:
            return placed.node_name == room.name
        if placed.all_nodes:
            return True
        return self._selects is not None and self._selects(room.name, room.labels)

    @cached_property
    def _selects(self) -> NodeMatcher | None:
        selector = self._placed.node_selector
        return node_matcher(selector) if selector is not None else None

    @property
    def _placed(self) -> Device | SliceSpec:
        spec = self.slice.spec
        return self.device if spec.per_device_node_selection else spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """What can be used from one node. `unsettled`: which pool is being published or is invalid."""

    candidates: tuple[Candidate, ...] = ()
    unsettled: str = ""


@dataclass(slots=True)
class Inventory:
    _pools: dict[PoolId, dict[str, Slice]] = field(default_factory=dict)
    _candidates: dict[str, tuple[Candidate, ...]] = field(default_factory=dict)
    """Of each slice that was asked for, by its name: fleets have many that nobody asks for."""
    _local: dict[str, dict[PoolId, None]] = field(default_factory=dict)
    """The pools with slices for that node alone."""
    _shared: dict[PoolId, int] = field(default_factory=dict)
    """The pools with slices for more than one node, and how many."""
    _stocks: dict[str, Stock] = field(default_factory=dict)

    def put(self, slice_: Slice) -> None:
        name, pool = slice_.metadata.name, _pool_id(slice_)
        self._candidates.pop(name, None)
        known = self._pools.setdefault(pool, {})
        if name not in known:
            self._file(slice_, 1)
        known[name] = slice_
        self._changed(pool)

    def remove(self, slice_: Slice) -> None:
        name, pool = slice_.metadata.name, _pool_id(slice_)
        self._changed(pool)
        self._candidates.pop(name, None)
        del self._pools[pool][name]
        self._file(slice_, -1)
        if not self._pools[pool]:
            del self._pools[pool]

    def forget(self, node: str) -> None:
        """The node has changed: which devices can be used from it is to be found out anew."""
        self._stocks.pop(node, None)

    def stock(self, room: Room) -> Stock:
        found = self._stocks.get(room.name)
        if found is None:
            found = self._stocks[room.name] = self._gather(room)
        return found

    def _gather(self, room: Room) -> Stock:
        candidates: list[Candidate] = []
        unsettled = ""
        for pool in sorted({*self._local.get(room.name, ()), *self._shared}):
            newest = _newest(self._pools[pool].values())
            here = [one for slice_ in newest for one in self._of(slice_) if one.is_on(room)]
            if not here:
                continue
            if len(newest) != newest[0].spec.pool.resource_slice_count:
                unsettled = f"resource pool {'/'.join(pool)} is currently being updated"
            elif len({one.id for one in here}) != len(here):
                unsettled = f"resource pool {'/'.join(pool)} is currently invalid"
            else:
                candidates += here
        return Stock(candidates=tuple(candidates), unsettled=unsettled)

    def _of(self, slice_: Slice) -> tuple[Candidate, ...]:
        found = self._candidates.get(slice_.metadata.name)
        if found is None:
            found = tuple(Candidate(slice_, one) for one in slice_.spec.devices)
            self._candidates[slice_.metadata.name] = found
        return found

    def _file(self, slice_: Slice, sign: int) -> None:
        pool, node = _pool_id(slice_), slice_.spec.node_name
        if not node:
            self._shared[pool] = self._shared.get(pool, 0) + sign
            if not self._shared[pool]:
                del self._shared[pool]
        elif sign > 0:
            self._local.setdefault(node, {})[pool] = None
        elif all(one.spec.node_name != node for one in self._pools[pool].values()):
            del self._local[node][pool]
            if not self._local[node]:
                del self._local[node]

    def _changed(self, pool: PoolId) -> None:
        if pool in self._shared:
            self._stocks.clear()
        for slice_ in self._pools[pool].values():
            self._stocks.pop(slice_.spec.node_name or "", None)


def _pool_id(slice_: Slice) -> PoolId:
    return slice_.spec.driver, slice_.spec.pool.name


def _newest(slices: Iterable[Slice]) -> list[Slice]:
    found = sorted(slices, key=lambda one: one.metadata.name)
    generation = max(one.spec.pool.generation for one in found)
    return [one for one in found if one.spec.pool.generation == generation]
