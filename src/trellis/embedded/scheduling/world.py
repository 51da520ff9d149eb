# SPDX-License-Identifier: Apache-2.0
"""Everything that a decision looks at, kept up to date change by change. No I/O.

A pod that was given a node counts there from that moment on, whatever the cluster has told so far.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from trellis.embedded.scheduling.claims import Claims
from trellis.embedded.scheduling.devices.inventory import Inventory
from trellis.embedded.scheduling.rooms import Outside, Room

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from trellis.embedded.scheduling.dra import DeviceClass
    from trellis.embedded.scheduling.nodes import Namespace, ScheduledNode
    from trellis.embedded.scheduling.wishes import Shape, Wish


class World:
    def __init__(self) -> None:
        self.version = 0
        """Raised with every change that a decision could see."""
        self.claims = Claims()
        self.inventory = Inventory()
        self.classes: dict[str, DeviceClass] = {}
        self.outsides: Counter[Outside] = Counter()
        """How many nodes look so from outside: there are few kinds, however many nodes."""
        self._rooms: dict[str, Room] = {}
        self._order: list[Room] = []
        self._hosts: dict[str, dict[str, Room]] = {}
        self._where: dict[str, Room] = {}
        self._nominated: dict[str, Room] = {}
        # Pods that care whom they are with, apart: most do not.
        self._shunning: dict[str, Wish] = {}
        self._outgoing: dict[str, Wish] = {}
        self._namespaces: dict[str, Namespace] = {}

    def rooms(self) -> list[Room]:
        """The nodes that there are, in the order in which they came. Not to be changed."""
        return self._order

    def room(self, name: str) -> Room | None:
        found = self._rooms.get(name)
        return found if found is not None and found.present else None

    def rooms_for(self, shape: Shape) -> Iterable[Room] | None:
        """The few rooms that a pinned shape can be in; None for all that are not pinned."""
        if shape.names is not None:
            found = [self.room(name) for name in sorted(shape.names)]
            return [room for room in found if room is not None]
        if shape.hosts is not None:
            hosts = (self._hosts.get(host, {}).values() for host in sorted(shape.hosts))
            return [room for rooms in hosts for room in rooms]
        return None

    def placed(self) -> Iterator[tuple[Wish, Room]]:
        """Every pod that has a node."""
        for room in self._order:
            for wish in room.pods.values():
                yield wish, room

    def shunning(self) -> Iterator[tuple[Wish, Room]]:
        """Those that keep others away."""
        return ((wish, self._where[uid]) for uid, wish in self._shunning.items())

    def outgoing(self) -> Iterator[tuple[Wish, Room]]:
        """Those that care whom they are with."""
        return ((wish, self._where[uid]) for uid, wish in self._outgoing.items())

    @property
    def peaceful(self) -> bool:
        """Whether no pod keeps others away."""
        return not self._shunning

    def labels_of_namespace(self, name: str) -> Mapping[str, str]:
        found = self._namespaces.get(name)
        return found.metadata.labels if found is not None else {}

    def node_of(self, uid: str) -> str:
        """The node that a pod has been given, or an empty name."""
        return self._where[uid].name if uid in self._where else ""

    def wish_on(self, uid: str, node: str) -> Wish | None:
        """The pod as it is known, if it has that node."""
        room = self._where.get(uid)
        return room.pods[uid] if room is not None and room.name == node else None

    def put_node(self, node: ScheduledNode) -> Room:
        room = self._room(node.metadata.name)
        if room.present:
            self._unlist(room)
        else:
            self._order.append(room)
        room.furnish(node)
        self.outsides[room.outside] += 1
        self._hosts.setdefault(room.host, {})[room.name] = room
        self.inventory.forget(room.name)
        self.version += 1
        return room

    def remove_node(self, name: str) -> Room:
        room = self._rooms[name]
        self._unlist(room)
        self._order.remove(room)
        room.vanish()
        self.inventory.forget(name)
        self._tidy(room)
        self.version += 1
        return room

    def place(self, wish: Wish, node: str) -> Room:
        """The pod has that node; what was known of it before is replaced."""
        self.displace(wish.uid)
        room = self._where[wish.uid] = self._room(node)
        room.add(wish)
        if wish.terms.forbidden:
            self._shunning[wish.uid] = wish
        if wish.terms.required or wish.terms.liked:
            self._outgoing[wish.uid] = wish
        self.version += 1
        return room

    def renew(self, wish: Wish) -> None:
        """The pod has changed, but in nothing that it takes or asks for."""
        room = self._where.get(wish.uid)
        if room is not None:
            room.pods[wish.uid] = wish
            for some in (self._shunning, self._outgoing):
                if wish.uid in some:
                    some[wish.uid] = wish

    def displace(self, uid: str) -> Room | None:
        """The pod takes nothing any more; returns the room that it leaves, or was to have."""
        kept = self.nominate_no_more(uid)
        room = self._where.pop(uid, None)
        if room is not None:
            room.remove(uid)
            self._shunning.pop(uid, None)
            self._outgoing.pop(uid, None)
            self._tidy(room)
            self.version += 1
        return room or kept

    def nominate(self, wish: Wish, node: str) -> None:
        """The pod is to have a place on that node as soon as others have left."""
        self.nominate_no_more(wish.uid)
        room = self._nominated[wish.uid] = self._room(node)
        room.nominate(wish)
        self.version += 1

    def nominate_no_more(self, uid: str) -> Room | None:
        room = self._nominated.pop(uid, None)
        if room is not None:
            room.forget(uid)
            self._tidy(room)
            self.version += 1
        return room

    def nominee_of(self, uid: str) -> Room | None:
        """The room that the pod is to have, if it is still there."""
        room = self._nominated.get(uid)
        return room if room is not None and room.present else None

    def put_namespace(self, namespace: Namespace) -> None:
        self._namespaces[namespace.metadata.name] = namespace
        self.version += 1

    def remove_namespace(self, name: str) -> None:
        self._namespaces.pop(name, None)

    def _room(self, name: str) -> Room:
        found = self._rooms.get(name)
        if found is None:
            found = self._rooms[name] = Room(name)
        return found

    def _unlist(self, room: Room) -> None:
        self.outsides[room.outside] -= 1
        if not self.outsides[room.outside]:
            del self.outsides[room.outside]
        hosts = self._hosts[room.host]
        del hosts[room.name]
        if not hosts:
            del self._hosts[room.host]

    def _tidy(self, room: Room) -> None:
        if not room.present and not room.pods and not room.nominated:
            self._rooms.pop(room.name, None)
