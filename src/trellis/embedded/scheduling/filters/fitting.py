# SPDX-License-Identifier: Apache-2.0
"""Whether a single node will do for a shape, whatever runs on the others. Pure.

In the order of the real scheduler: the first that refuses is the one that is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.core.node import Taint
from trellis.embedded.scheduling.filters.refusals import (
    CORDONED,
    NOT_SELECTED,
    PORTS_TAKEN,
    TAINTED,
    TOO_MANY_PODS,
    Refusal,
    insufficient,
)
from trellis.embedded.scheduling.matching import tolerates, untolerated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trellis.embedded.scheduling.rooms import Outside, Room
    from trellis.embedded.scheduling.wishes import HostPort, Shape, Wish

_CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


def unfit(shape: Shape, room: Room, uid: str = "") -> Refusal | None:
    """Why the room will not do; `uid`: of the pod that asks: its own nomination does not count."""
    refused = kept_off(shape, room.outside)
    if refused is None and shape.selects and not shape.selects(room.name, room.labels):
        refused = NOT_SELECTED
    if refused is None and shape.ports and _are_taken(shape.ports, room.ports):
        refused = PORTS_TAKEN
    return refused or _too_small(shape, room, uid)


def kept_off(shape: Shape, outside: Outside) -> Refusal | None:
    """Why nodes that look so will not do."""
    unschedulable, taints = outside
    if unschedulable and not any(tolerates(one, _CORDON) for one in shape.tolerations):
        return CORDONED
    return TAINTED if taints and untolerated(taints, shape.tolerations) else None


def _are_taken(wanted: Sequence[HostPort], taken: dict[HostPort, int]) -> bool:
    def clashes(port: HostPort) -> bool:
        ip, protocol, number = port
        return any(
            count and protocol == its_protocol and number == its_number
            for (its_ip, its_protocol, its_number), count in taken.items()
            if not ip or not its_ip or ip == its_ip
        )

    return any(map(clashes, wanted))


def _too_small(shape: Shape, room: Room, uid: str) -> Refusal | None:
    promised = _promised(room, shape.priority, uid) if room.nominated else ()
    lacking = [
        name
        for name, amount in shape.requests
        if amount > room.has.get(name, 0) - room.used[name] - _sum(promised, name)
    ]
    crowded = len(room.pods) + len(promised) >= room.most_pods
    if not lacking and not crowded:
        return None
    # A node that would be too small when empty is not helped by anybody's leaving.
    by_pods = all(amount <= room.has.get(name, 0) for name, amount in shape.requests)
    reasons = (TOO_MANY_PODS,) if crowded else ()
    return Refusal((*reasons, *map(insufficient, lacking)), by_pods)


def _promised(room: Room, priority: int, uid: str) -> tuple[Wish, ...]:
    return tuple(
        one for one in room.nominated.values() if one.priority >= priority and one.uid != uid
    )


def _sum(wishes: Iterable[Wish], name: str) -> int:
    return sum(dict(wish.shape.requests).get(name, 0) for wish in wishes)
