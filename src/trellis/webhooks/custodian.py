# SPDX-License-Identifier: Apache-2.0
"""The shell around `rotation`: reads what is, takes the step that was decided, and looks again.

Any number may run at once. Every write is guarded by what was read before it, and the bundles are
read before the ledger: whoever publishes has written the ledger first, so that a bundle that still
is what we read can never be newer than the ledger we decide by.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn, Protocol

import structlog

from trellis.webhooks import custody
from trellis.webhooks.identity import fingerprints
from trellis.webhooks.rotation import (
    POLICY,
    MakeAuthority,
    Policy,
    Publish,
    Record,
    Rest,
    SignLeaf,
    Situation,
    next_step,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.instruments.clock import Clock
    from trellis.webhooks.certificates import Subject
    from trellis.webhooks.custody import Custody
    from trellis.webhooks.identity import Identity
    from trellis.webhooks.metrics import Metrics

PERIOD_SECONDS = 30.0
# From nothing to rest takes six; more means that others write, or that writes do not last.
_STEPS = 20

log = structlog.get_logger("webhooks")


class Unsettled(Exception):
    """Step after step was taken, and there was always another one."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The data of the Secret (empty where there is none yet), and which version of it that is."""

    data: Mapping[str, bytes] = field(repr=False)
    version: str


class Store(Protocol):
    """Where keys and ledger are kept."""

    async def read(self) -> Stored: ...

    async def swap(self, seen: Stored, data: Mapping[str, bytes]) -> bool:
        """Replaces what was seen; False if it is no longer there, and nothing was written."""


@dataclass(frozen=True, slots=True)
class Published:
    """The bundle (PEM) of each webhook configuration, and which version of them all that is."""

    bundles: tuple[bytes, ...]
    version: str


class Publisher(Protocol):
    """The webhook configurations that name our server."""

    async def read(self) -> Published: ...

    async def publish(self, seen: Published, bundle: bytes) -> bool:
        """Gives all of them this bundle, each only if it is as it was seen; False if not all."""


@dataclass(frozen=True, slots=True)
class StoredIdentity:
    """What a server serves with, out of the store; it needs no right but to read it."""

    store: Store

    async def read(self) -> Identity:
        return custody.decode((await self.store.read()).data).identity()


class Custodian:
    """Keeps authorities, leaf and bundles as the policy wants them, for one subject."""

    def __init__(
        self,
        store: Store,
        publisher: Publisher,
        *,
        subject: Subject,
        clock: Clock,
        policy: Policy = POLICY,
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._subject = subject
        self._clock = clock
        self._policy = policy

    async def converge(self) -> Rest:
        """Takes every step that is due; returns when to look again at the latest."""
        for _ in range(_STEPS):
            published = await self._publisher.read()
            stored = await self._store.read()
            held = custody.decode(stored.data)
            step = next_step(self._situation(held, published), self._policy)
            if isinstance(step, Rest):
                return step
            log.info("a certificate step", step=type(step).__name__)
            if isinstance(step, Publish):
                await self._publisher.publish(published, held.bundle(step.authorities))
            else:
                await self._store.swap(stored, custody.encode(self._after(step, held)))
        raise Unsettled(f"certificates did not come to rest in {_STEPS} steps")

    async def run(self, metrics: Metrics, period: float = PERIOD_SECONDS) -> NoReturn:
        """Converges for ever: often, since a bundle may be emptied by whoever applies manifests."""
        while True:
            try:
                rest = await self.converge()
            except Exception as error:
                metrics.certificate_failures.inc()
                log.error(
                    "certificates cannot be rotated", problem=f"{type(error).__name__}: {error}"
                )
                await self._clock.sleep(period)
            else:
                due = (rest.until - self._clock.now()).total_seconds()
                await self._clock.sleep(min(period, max(due, 0.0)))

    def _situation(self, held: Custody, published: Published) -> Situation:
        return Situation(
            ledger=held.ledger,
            bundles=tuple(fingerprints(bundle) for bundle in published.bundles),
            hosts=self._subject.hosts,
            now=self._clock.now(),
        )

    def _after(self, step: Record | MakeAuthority | SignLeaf, held: Custody) -> Custody:
        now = self._clock.now()
        match step:
            case Record(ledger):
                return held.recorded(ledger)
            case MakeAuthority():
                return held.with_authority(step, now)
            case SignLeaf():
                return held.with_leaf(step, self._subject, now)
