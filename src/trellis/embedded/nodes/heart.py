# SPDX-License-Identifier: Apache-2.0
"""The leases by which nodes are known to be alive.

They are made once, and renewed as rarely as the cluster's node controller bears; where there is
none, never. A node that vanished renews nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from trellis.embedded.nodes import bodies
from trellis.embedded.nodes.announcing import Announcer, in_batches
from trellis.embedded.nodes.bodies import LEASE_NAMESPACE, LEASES
from trellis.instruments.logs import logger
from trellis.kube.errors import AlreadyExists, KubeError, NotFound
from trellis.kube.verbs import merge_patch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from trellis.embedded.nodes.expanding import NodePlan
    from trellis.embedded.nodes.faults import NodeState
    from trellis.instruments.clock import Clock
    from trellis.kube.collection import Collection

# A period is divided so that renewals come evenly.
_BEATS = 20

_log = logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heart:
    """`period`: seconds between renewals of one lease; None: they are only made."""

    announcer: Announcer
    clock: Clock
    state: Callable[[str], NodeState]
    period: float | None = None

    async def run(self) -> None:
        plans = self.announcer.plans
        await self._beat(plans, self._make)
        if self.period is None:
            return
        number = 0
        while True:
            await self.clock.sleep(self.period / _BEATS)
            number = (number + 1) % _BEATS
            await self._beat(plans[number::_BEATS], self._renew)

    async def _beat(
        self, plans: Sequence[NodePlan], act: Callable[[NodePlan], Awaitable[None]]
    ) -> None:
        alive = [plan for plan in plans if not self.state(plan.name).vanished]
        try:
            await in_batches([partial(act, plan) for plan in alive])
        except KubeError as error:
            # The next beat is soon, and the grace of a node is many of them.
            _log.warning("leases not renewed", error=str(error))

    async def _make(self, plan: NodePlan) -> None:
        now, uid = self.announcer.times.date(), self.announcer.uids[plan.name]
        try:
            await self._leases.create(bodies.lease(plan, uid, now))
        except AlreadyExists:
            await self._renew(plan)

    async def _renew(self, plan: NodePlan) -> None:
        now = self.announcer.times.date()
        try:
            await self._leases.patch(plan.name, merge_patch({"spec": bodies.renewal(now)}))
        except NotFound:
            await self._make(plan)

    @property
    def _leases(self) -> Collection[bytes]:
        return self.announcer.client.of(LEASES, bytes, LEASE_NAMESPACE)
