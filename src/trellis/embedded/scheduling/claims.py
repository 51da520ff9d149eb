# SPDX-License-Identifier: Apache-2.0
"""The claims of all pods, and which devices they hold. No I/O.

What is about to be written, and what was written and is not told yet, counts as if it were there.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.api.core.resourceclaim import CONSUMERS_LIMIT
from trellis.api.meta import Key
from trellis.runtime.cache import as_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.scheduling.dra import Allocation, Claim
    from trellis.embedded.scheduling.pods import ScheduledPod

DeviceId = tuple[str, str, str]
"""Driver, pool, device."""


class Claims:
    def __init__(self) -> None:
        self.taken: Counter[DeviceId] = Counter()
        """How many claims hold a device, not counting access for administration."""
        self._known: dict[Key, Claim] = {}
        self._promised: dict[str, Allocation] = {}
        self._held: dict[str, tuple[DeviceId, ...]] = {}

    def get(self, key: Key) -> Claim | None:
        return self._known.get(key)

    def put(self, claim: Claim) -> None:
        """As told by the cluster, or as it answered to a write: the newer one is kept."""
        key = claim.metadata.key
        known = self._known.get(key)
        if known is not None and known.metadata.uid != claim.metadata.uid:
            self._hold(known.metadata.uid, None)
        elif known is not None and _version(known) > _version(claim):
            return
        self._known[key] = claim
        self._refresh(claim)

    def remove(self, claim: Claim) -> None:
        known = self._known.get(claim.metadata.key)
        if known is not None and known.metadata.uid == claim.metadata.uid:
            del self._known[claim.metadata.key]
        self._promised.pop(claim.metadata.uid, None)
        self._hold(claim.metadata.uid, None)

    def promise(self, claim: Claim, allocation: Allocation) -> None:
        """The allocation is being written."""
        self._promised[claim.metadata.uid] = allocation
        self._refresh(claim)

    def settle(self, claim: Claim) -> None:
        """It is written, or will not be: what is known of the claim counts again."""
        self._promised.pop(claim.metadata.uid, None)
        self._refresh(self._known.get(claim.metadata.key, claim))

    def is_promised(self, claim: Claim) -> bool:
        return claim.metadata.uid in self._promised

    def _refresh(self, claim: Claim) -> None:
        uid = claim.metadata.uid
        self._hold(uid, claim.status.allocation or self._promised.get(uid))

    def _hold(self, uid: str, allocation: Allocation | None) -> None:
        for device in self._held.pop(uid, ()):
            self.taken[device] -= 1
            if not self.taken[device]:
                del self.taken[device]
        if allocation is not None:
            held = self._held[uid] = tuple(
                (one.driver, one.pool, one.device)
                for one in allocation.devices.results
                if not one.admin_access
            )
            self.taken.update(held)


def _version(claim: Claim) -> int:
    return as_number(claim.metadata.resource_version)


@dataclass(frozen=True, slots=True)
class Unclaimed:
    """The pod cannot be placed yet. `silent`: nothing is wrong, what it needs is being made."""

    why: str
    silent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """The claims of a pod by whether they have devices yet."""

    allocated: list[Claim] = field(default_factory=list)
    open: list[Claim] = field(default_factory=list)


def claimed(pod: ScheduledPod, claims: Claims) -> Claimed | Unclaimed:
    """Whether the pod's claims are there, and how they are."""
    found = Claimed()
    for name, is_own in _names(pod):
        claim = claims.get(Key(pod.metadata.namespace, name)) if name else None
        if claim is None:
            return Unclaimed(f"ResourceClaim {name or ''} not created yet", silent=True)
        if why := _not_yet(claim, pod if is_own else None):
            return Unclaimed(why, silent=True)
        if claims.is_promised(claim):
            return Unclaimed(f"{claim.metadata.key} is being allocated", silent=True)
        if claim.status.allocation is None:
            found.open.append(claim)
        elif not is_reserved(claim, pod) and len(claim.status.reserved_for) >= CONSUMERS_LIMIT:
            return Unclaimed("resourceclaim in use")
        else:
            found.allocated.append(claim)
    return found


def names(pod: ScheduledPod) -> tuple[Key, ...]:
    """The claims of the pod, as far as they have names."""
    found = (Key(pod.metadata.namespace, name) for name, _ in _names(pod) if name)
    return tuple(dict.fromkeys(found))


def is_reserved(claim: Claim, pod: ScheduledPod) -> bool:
    return any(one.uid == pod.metadata.uid for one in claim.status.reserved_for)


def _names(pod: ScheduledPod) -> Iterator[tuple[str | None, bool]]:
    """The name of each claim, None while it is not made, and whether it was made for this pod."""
    made = {one.name: one.resource_claim_name for one in pod.status.resource_claim_statuses}
    for claim in pod.spec.resource_claims:
        if claim.resource_claim_name is not None:
            yield claim.resource_claim_name, False
        elif claim.name not in made:
            yield None, True
        elif (name := made[claim.name]) is not None:
            # One that is told without a name was not needed.
            yield name, True


def _not_yet(claim: Claim, owner: ScheduledPod | None) -> str:
    """Why the claim cannot be used, if so; `owner`: the pod that it must have been made for."""
    if claim.metadata.deleting:
        return f"ResourceClaim {claim.metadata.key} is being deleted"
    controller = claim.metadata.controller
    if owner is None or (controller is not None and controller.uid == owner.metadata.uid):
        return ""
    return f"ResourceClaim {claim.metadata.key} was not created for Pod {owner.metadata.key}"
