# SPDX-License-Identifier: Apache-2.0
"""A lease in the cluster: acquired, renewed and released by guarded writes.

When to try, how long to go on and what to do when it is lost is the caller's: this is one attempt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.kube.errors import AlreadyExists, Conflict, NotFound
from trellis.kube.lease import LEASES, Bid, Lease, LeaseMeta, Observation, bid, observe, released
from trellis.kube.verbs import merge_patch

if TYPE_CHECKING:
    from trellis.kube.client import Client
    from trellis.kube.lease import LeaseSpec

# A renewal that hangs must leave time for another before the lease runs out.
TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class Standing:
    """Who holds the lease after an attempt, and until when by our monotonic clock at the least."""

    held: bool
    holder: str
    until: float


class LeaseLock:
    """One lease, one bidder. Give it a client of its own: a renewal must not queue behind work."""

    def __init__(self, client: Client, namespace: str, name: str, asker: Bid) -> None:
        self._leases = client.of(LEASES, Lease, namespace, timeout=TIMEOUT)
        self._clock = client.clock
        self._meta = LeaseMeta(name=name, namespace=namespace)
        self._asker = asker
        self._seen: Observation | None = None

    async def attempt(self) -> Standing:
        """Takes or renews the lease if it can be had. Raises when the server cannot be asked."""
        began = self._clock.monotonic()
        await self._look()
        wanted = bid(self._seen, self._asker, self._clock.monotonic(), self._clock.now())
        if wanted is None or not await self._write(wanted):
            return self._of_another()
        # From before it was sent: whoever watches us counts from later.
        return Standing(True, self._asker.identity, began + self._asker.duration)

    async def release(self) -> None:
        """Gives the lease up if we hold it, so that the next need not wait for it to run out."""
        await self._look()
        if self._seen and self._seen.lease.spec.holder_identity == self._asker.identity:
            await self._write(released(self._seen, self._clock.now()))

    async def _look(self) -> None:
        try:
            lease = await self._leases.get(self._meta.name)
        except NotFound:
            self._seen = None
        else:
            self._seen = observe(self._seen, lease, self._clock.monotonic())

    async def _write(self, spec: LeaseSpec) -> bool:
        """False if somebody else was faster."""
        try:
            if self._seen is None:
                lease = await self._leases.create(Lease(metadata=self._meta, spec=spec))
            else:
                version = self._seen.lease.metadata.resource_version
                change = {"metadata": {"resourceVersion": version}, "spec": spec}
                lease = await self._leases.patch(self._meta.name, merge_patch(change))
        except (AlreadyExists, Conflict, NotFound):
            return False
        self._seen = observe(self._seen, lease, self._clock.monotonic())
        return True

    def _of_another(self) -> Standing:
        if self._seen is None:
            return Standing(False, "", self._clock.monotonic())
        return Standing(False, self._seen.lease.spec.holder_identity or "", self._seen.runs_out())
