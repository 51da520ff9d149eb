# SPDX-License-Identifier: Apache-2.0
"""Who of several instances works: the one that holds a lease, for as long as it can renew it.

It saves work and is no guard: two leaders at once are harmless, because every write is guarded.
Renewal runs on the loop that does the work, on purpose: an instance whose loop hangs must lose.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.instruments.logs import logger
from trellis.kube.client import Client
from trellis.kube.errors import KubeError
from trellis.kube.lease import Bid
from trellis.kube.lock import LeaseLock, Standing
from trellis.runtime.writes import LeadershipLost

if TYPE_CHECKING:
    from trellis.runtime.env import Env

RELEASE_SECONDS = 3.0

_log = logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """In seconds. A leader that could not renew for `renew` gives up before `lease` runs out."""

    lease: int = 15
    renew: float = 10.0
    retry: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseName:
    """The lease that decides, and the name under which we bid for it: no other may use it."""

    namespace: str
    name: str
    identity: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class Election:
    def __init__(
        self, client: Client, lease: LeaseName, env: Env, timing: Timing | None = None
    ) -> None:
        self._timing = timing or Timing()
        self._lease = lease
        self._clock = env.clock
        self._rng = env.rng
        # A client of its own: a renewal must not queue behind the work of a thousand pods.
        own = Client(client.transport, env.clock, env.rng, manager=client.manager)
        bid = Bid(identity=lease.identity, duration=self._timing.lease)
        self._lock = LeaseLock(own, lease.namespace, lease.name, bid)
        self._renewed = float("-inf")
        self._holder = ""
        self._asking = False
        self._troubled = False
        labels = {"lease": (str(lease),)}
        env.meter.gauge("trellis_leader", "Whether we hold the lease.", labels).labels(
            str(lease)
        ).set_function(lambda: float(self.leading()))

    def leading(self) -> bool:
        """Whether we may write: false as soon as another could take over."""
        return self._clock.monotonic() < self._renewed + self._timing.lease

    def may_hold(self) -> bool:
        """Whether the lease may be ours: also when an attempt at it was cut off."""
        return self._asking or self.leading()

    async def win(self) -> None:
        """Waits until the lease is ours."""
        while True:
            standing = await self._attempt(self._timing.renew)
            if self.leading():
                _log.info("leading", lease=str(self._lease))
                return
            await self._clock.sleep(self._pause(standing))

    async def keep(self) -> None:
        """Renews for ever; raises when the lease was taken or could not be renewed in time."""
        while True:
            await self._clock.sleep(self._timing.retry)
            left = self._renewed + self._timing.renew - self._clock.monotonic()
            standing = await self._attempt(left) if left > 0 else None
            holder = standing.holder if standing is not None else ""
            if holder not in ("", self._lease.identity):
                raise LeadershipLost(f"the lease {self._lease} was taken by {holder!r}")
            if self._clock.monotonic() >= self._renewed + self._timing.renew:
                late = f"could not be renewed for {self._timing.renew:.0f} s"
                raise LeadershipLost(f"the lease {self._lease} {late}")

    async def release(self) -> None:
        """Lets the next one begin at once. To be called when nothing of ours writes any more."""
        self._renewed = float("-inf")
        try:
            async with asyncio.timeout(RELEASE_SECONDS):
                await self._lock.release()
        except (KubeError, TimeoutError) as error:
            # Then it runs out by itself.
            _log.warning("lease not released", lease=str(self._lease), error=_said(error))
        else:
            _log.info("lease released", lease=str(self._lease))

    async def _attempt(self, limit: float) -> Standing | None:
        """None when the server could not be asked in time."""
        self._asking = True
        try:
            async with asyncio.timeout(limit):
                standing = await self._lock.attempt()
        except (KubeError, TimeoutError) as error:
            # The same trouble again and again is one line.
            said = _log.debug if self._troubled else _log.warning
            said("lease not asked for", lease=str(self._lease), error=_said(error))
            self._troubled = True
            return None
        self._asking = self._troubled = False
        if standing.held:
            self._renewed = standing.until - self._timing.lease
        elif standing.holder != self._holder:
            _log.info("standing by", lease=str(self._lease), leader=standing.holder)
        self._holder = standing.holder
        return standing

    def _pause(self, standing: Standing | None) -> float:
        """Until the next attempt: sooner when the holder's time is up before that."""
        pause = self._timing.retry * (0.9 + self._rng.random() / 5)
        if standing is None or not standing.holder:
            return pause
        return min(pause, max(0.0, standing.until - self._clock.monotonic()))


def _said(error: Exception) -> str:
    return str(error) or "no answer in time"
