# SPDX-License-Identifier: Apache-2.0
"""What the cluster tells becomes the world and the queue: one listener a kind. No I/O."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import structs

from trellis.embedded.scheduling.dra import Claim, DeviceClass, Slice
from trellis.embedded.scheduling.nodes import Namespace, ScheduledNode
from trellis.embedded.scheduling.pending import Pending
from trellis.embedded.scheduling.pods import ScheduledPod
from trellis.embedded.scheduling.wishes import Wishes
from trellis.runtime.cache import Cache

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.embedded.scheduling.decide import Decider
    from trellis.embedded.scheduling.rooms import Room


class Caches:
    """Everything that is read. Pods come last: what they refer to is known by then."""

    def __init__(self) -> None:
        self.nodes = Cache(ScheduledNode.resource, ScheduledNode)
        self.namespaces = Cache(Namespace.resource, Namespace)
        self.classes = Cache(DeviceClass.resource, DeviceClass)
        self.slices = Cache(Slice.resource, Slice)
        self.claims = Cache(Claim.resource, Claim)
        self.pods = Cache(ScheduledPod.resource, ScheduledPod)

    def all(self) -> tuple[Cache[Any], ...]:
        return (self.nodes, self.namespaces, self.classes, self.slices, self.claims, self.pods)


class Keeper:
    """`name` is the scheduler that pods ask for by it; `on_news` is called after every change."""

    def __init__(self, decider: Decider, name: str, on_news: Callable[[], None]) -> None:
        self.pending = Pending()
        self._decider = decider
        self._world = decider.world
        self._name = name
        self._wishes = Wishes()
        self._on_news = on_news
        self._more_devices = False

    def listen(self, caches: Caches) -> None:
        caches.nodes.subscribe(self._node)
        caches.namespaces.subscribe(self._namespace)
        caches.classes.subscribe(self._class)
        caches.slices.subscribe(self._slice)
        caches.claims.subscribe(self._claim)
        caches.pods.subscribe(self._pod)

    def freed(self, room: Room | None) -> None:
        """There is more room than before: some that wait may be helped."""
        if room is not None:
            self.pending.wake_for(room, self._decider.would_do)
            self._on_news()

    def claim_changed(self, claim: Claim) -> None:
        self._world.version += 1
        self.pending.wake_sharers(claim.metadata.key)
        self._on_news()

    def catch_up(self) -> bool:
        """Wakes those who want devices, if there may be more of them: not once for every slice.

        Returns whether there was a reason to.
        """
        more, self._more_devices = self._more_devices, False
        if more:
            self.pending.wake_claimants()
        return more

    def _devices_changed(self) -> None:
        self._world.version += 1
        self._more_devices = True
        self._on_news()

    def _node(self, old: ScheduledNode | None, new: ScheduledNode | None, *, fresh: bool) -> None:
        del fresh
        if new is not None:
            if old is None or _shown(old) != _shown(new):
                self.freed(self._world.put_node(new))
        elif old is not None:
            # Who was to have a place there has to look for another.
            self.freed(self._world.remove_node(old.metadata.name))

    def _namespace(self, old: Namespace | None, new: Namespace | None, *, fresh: bool) -> None:
        del fresh
        if new is not None:
            self._world.put_namespace(new)
        elif old is not None:
            self._world.remove_namespace(old.metadata.name)
        self.pending.wake_sociable()
        self._on_news()

    def _class(self, old: DeviceClass | None, new: DeviceClass | None, *, fresh: bool) -> None:
        del fresh
        if new is not None:
            self._world.classes[new.metadata.name] = new
        elif old is not None:
            del self._world.classes[old.metadata.name]
        self._devices_changed()

    def _slice(self, old: Slice | None, new: Slice | None, *, fresh: bool) -> None:
        del fresh
        if old is not None:
            self._world.inventory.remove(old)
        if new is not None:
            self._world.inventory.put(new)
        self._devices_changed()

    def _claim(self, old: Claim | None, new: Claim | None, *, fresh: bool) -> None:
        del fresh
        if new is not None:
            self._world.claims.put(new)
            self.claim_changed(new)
        elif old is not None:
            self._world.claims.remove(old)
            self.claim_changed(old)
        if old is not None and old.status.allocation and not (new and new.status.allocation):
            self._devices_changed()

    def _pod(self, old: ScheduledPod | None, new: ScheduledPod | None, *, fresh: bool) -> None:
        del fresh
        if new is None or new.is_over:
            self._leave(new or old)
        elif new.spec.node_name:
            self._bound(old, new)
        elif new.spec.scheduler_name == self._name and not self._world.node_of(new.metadata.uid):
            self._unbound(old, new)
        self._on_news()

    def _leave(self, pod: ScheduledPod | None) -> None:
        uid = pod.metadata.uid if pod is not None else ""
        self.pending.forget(uid)
        room = self._world.displace(uid)
        if room is not None:
            self.freed(room)
            self.pending.wake_sociable()

    def _bound(self, old: ScheduledPod | None, new: ScheduledPod) -> None:
        uid = new.metadata.uid
        self.pending.forget(uid)
        known = self._world.wish_on(uid, new.spec.node_name)
        if known is not None and _asks_alike(known.pod, new):
            self._world.renew(replace(known, pod=new))
            return
        self._world.place(self._wishes.of(new), new.spec.node_name)
        self.pending.wake_sociable()
        if old is not None and old.spec.node_name:
            # A pod that was made smaller leaves room.
            self.freed(self._world.room(new.spec.node_name))

    def _unbound(self, old: ScheduledPod | None, new: ScheduledPod) -> None:
        uid, nominee = new.metadata.uid, new.status.nominated_node_name
        if new.spec.scheduling_gates or new.metadata.deleting:
            self.pending.forget(uid)
            self.freed(self._world.nominate_no_more(uid))
            return
        known = self.pending.get(uid)
        if known is not None and _asks_alike(known.pod, new):
            self.pending.renew(replace(known, pod=new))
            return
        wish = self._wishes.of(new)
        self.pending.add(wish)
        if old is None and nominee:
            # Decided before this scheduler was started.
            self._world.nominate(wish, nominee)


def _asks_alike(one: ScheduledPod, other: ScheduledPod) -> bool:
    """Whether nothing differs that a decision depends on. The node is another question."""
    return (
        structs.replace(one.spec, node_name=other.spec.node_name) == other.spec
        and one.metadata.labels == other.metadata.labels
        and one.metadata.deleting == other.metadata.deleting
        and one.status.resource_claim_statuses == other.status.resource_claim_statuses
    )


def _shown(node: ScheduledNode) -> tuple[object, ...]:
    return node.metadata.labels, node.spec, node.status
