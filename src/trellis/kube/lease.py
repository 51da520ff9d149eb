# SPDX-License-Identifier: Apache-2.0
"""Who holds a lease, decided as client-go decides it. Pure.

The times in a lease are for people to read. Whether it has run out is judged by how long *we* have
seen it unchanged, so that clocks which disagree do no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from trellis.api.meta import Resource, to_micro_time

if TYPE_CHECKING:
    from datetime import datetime

LEASES = Resource("coordination.k8s.io", "v1", "Lease", "leases")


class LeaseMeta(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class LeaseSpec(msgspec.Struct, frozen=True, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class Lease(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    api_version: str = "coordination.k8s.io/v1"
    kind: str = "Lease"
    metadata: LeaseMeta
    spec: LeaseSpec = LeaseSpec()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bid:
    """Who asks for a lease, and for how long at a time."""

    identity: str
    duration: int = 15


@dataclass(frozen=True, slots=True)
class Observation:
    """A lease as we saw it, and since when it has looked so, by our monotonic clock."""

    lease: Lease
    since: float

    def runs_out(self) -> float:
        return self.since + (self.lease.spec.lease_duration_seconds or 0)

    def free(self, now: float) -> bool:
        return not self.lease.spec.holder_identity or now >= self.runs_out()


def observe(before: Observation | None, lease: Lease, now: float) -> Observation:
    """Only what changes is news: a renewal begins the holder's time anew."""
    if before is not None and before.lease.spec == lease.spec:
        return Observation(lease, before.since)
    return Observation(lease, now)


def bid(seen: Observation | None, asker: Bid, now: float, stamp: datetime) -> LeaseSpec | None:
    """What to write to hold the lease from now on; None if another holds it.

    That nothing was seen means that there is no lease yet.
    """
    if seen is None:
        return _spec(asker, stamp, acquired=to_micro_time(stamp), transitions=0)
    spec = seen.lease.spec
    transitions = spec.lease_transitions or 0
    if spec.holder_identity == asker.identity:
        acquired = spec.acquire_time or to_micro_time(stamp)
        return _spec(asker, stamp, acquired=acquired, transitions=transitions)
    if not seen.free(now):
        return None
    return _spec(asker, stamp, acquired=to_micro_time(stamp), transitions=transitions + 1)


def released(seen: Observation, stamp: datetime) -> LeaseSpec:
    """What to write so that the next may begin at once."""
    return LeaseSpec(
        holder_identity="",
        lease_duration_seconds=1,
        acquire_time=to_micro_time(stamp),
        renew_time=to_micro_time(stamp),
        lease_transitions=seen.lease.spec.lease_transitions or 0,
    )


def _spec(asker: Bid, stamp: datetime, *, acquired: str, transitions: int) -> LeaseSpec:
    return LeaseSpec(
        holder_identity=asker.identity,
        lease_duration_seconds=asker.duration,
        acquire_time=acquired,
        renew_time=to_micro_time(stamp),
        lease_transitions=transitions,
    )
