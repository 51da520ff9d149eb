# SPDX-License-Identifier: Apache-2.0
"""The kubelets of all nodes: one watch, one queue with timers, and a bounded number of writers.

A pod has no task of its own. What happens in it is decided by `life`; here it is looked at when it
changed or when something in it is due, and what differs is written in one patch.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.embedded.nodes import statuses
from trellis.embedded.nodes.addresses import Addresses, NoAddress
from trellis.embedded.nodes.behaviour import BadAnnotation, behaviours
from trellis.embedded.nodes.charges import Charge, finished, first_life, script
from trellis.embedded.nodes.claims import are_its_own, consumers
from trellis.embedded.nodes.pods import PODS, KubeletPod
from trellis.embedded.nodes.recovering import began, since
from trellis.embedded.nodes.waiters import prepared
from trellis.instruments.logs import logger
from trellis.kube.errors import Conflict, Invalid, KubeError, NotFound
from trellis.kube.verbs import Deletion, Selection, strategic_patch
from trellis.runtime.cache import Cache, Scope
from trellis.runtime.index import Index
from trellis.runtime.queue import WorkQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trellis.api.core.resourceclaim import ResourceClaim
    from trellis.api.meta import Key
    from trellis.embedded.nodes.expanding import NodePlan
    from trellis.embedded.nodes.faults import Blow, NodeState
    from trellis.embedded.nodes.times import Times
    from trellis.embedded.nodes.waiters import Waiter
    from trellis.kube.client import Client
    from trellis.runtime.env import Env

WORKERS = 32
BY_NODE: Index[KubeletPod] = Index("node", lambda pod: (pod.spec.node_name,))
_BOUND = Scope(selection=Selection(fields="spec.nodeName!="))

_log = logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where kubelets work. `state`: how a node is now. `waiters`: which init containers are run."""

    times: Times
    plans: Mapping[str, NodePlan]
    state: Callable[[str], NodeState]
    waiters: Mapping[str, Waiter]


class Kubelets:
    """`claims` is set before it runs, where the cluster serves claims."""

    def __init__(self, client: Client, env: Env, site: Site) -> None:
        self._client = client
        self._times = site.times
        self._plans = site.plans
        self._state = site.state
        self._waiters = site.waiters
        self.pods: Cache[KubeletPod] = Cache(PODS, KubeletPod, (BY_NODE,), _BOUND)
        self.claims: Cache[ResourceClaim] | None = None
        self.queue: WorkQueue[Key] = WorkQueue(env.clock, env.rng)
        self._charges: dict[Key, Charge] = {}
        self._refused: dict[Key, tuple[str, str]] = {}
        self._addresses = Addresses()

    async def run(self) -> None:
        """Until it is cancelled."""
        self.pods.subscribe(self._pod_changed)
        if self.claims is not None:
            self.claims.subscribe(self._claim_changed)
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(WORKERS):
                    group.create_task(self._work(), name=f"kubelet {number}")
        finally:
            self.queue.close()
            for charge in self._charges.values():
                _end_programs(charge)

    def wake(self, node: str) -> None:
        """Looks at every pod of a node, and writes what it finds again: the node was away."""
        for pod in self.pods.find(BY_NODE, node):
            charge = self._charges.get(pod.metadata.key)
            if charge is not None:
                charge.written = b""
            self.queue.add(pod.metadata.key)

    async def mark_unready(self, node: str) -> None:
        """What the node controller does to the pods of a node that is not heard of."""
        now = self._times.now()
        for pod in self.pods.find(BY_NODE, node):
            if finished(pod):
                continue
            charge = self._charges.get(pod.metadata.key)
            if charge is not None:
                charge.since[statuses.READY] = ("False", statuses.stamp(now))
            await self._patch(pod, {"conditions": statuses.unheard(now)})

    def strike(self, key: Key, container: str, blow: Blow) -> None:
        """A container that runs ends so, now."""
        charge = self._charges.get(key)
        if charge is not None:
            charge.strike(container, blow, self._times.now())
            self.queue.add(key)

    def _pod_changed(
        self,
        old: KubeletPod | None,
        new: KubeletPod | None,
        *,
        fresh: bool,  # noqa: ARG002
    ) -> None:
        pod = new or old
        if pod is not None and pod.spec.node_name in self._plans:
            self.queue.add(pod.metadata.key)

    def _claim_changed(
        self,
        old: ResourceClaim | None,  # noqa: ARG002
        new: ResourceClaim | None,
        *,
        fresh: bool,  # noqa: ARG002
    ) -> None:
        for key in consumers(new) if new is not None else ():
            if key not in self._charges and self.pods.get(key) is not None:
                self.queue.add(key)

    async def _work(self) -> None:
        while (key := await self.queue.take()) is not None:
            try:
                self.queue.succeed(key, await self._turn(key))
            except KubeError as error:
                delay = self.queue.fail(key)
                _log.warning("pod not written", pod=str(key), error=str(error), again_in=delay)
            except Exception:
                # One pod that cannot be made sense of must not stop the others.
                self.queue.fail(key)
                _log.exception("pod not simulated", pod=str(key))

    async def _turn(self, key: Key) -> float | None:
        """Looks at one pod; returns after how many seconds to look again."""
        pod = self.pods.get(key)
        known = self._charges.get(key)
        if known is not None and (pod is None or pod.metadata.uid != known.uid):
            self._forget(key, known)
            known = None
        if pod is None:
            self._refused.pop(key, None)
            return None
        node = pod.spec.node_name
        if node not in self._plans or self._state(node).vanished:
            return None
        charge = known or await self._take(pod)
        return await self._live(pod, charge) if charge is not None else None

    async def _live(self, pod: KubeletPod, charge: Charge) -> float | None:
        now, key = self._times.now(), pod.metadata.key
        problem = charge.live(pod, now)
        if problem is not None:
            _log.warning("fault not followed", pod=str(key), error=str(problem))
        if pod.metadata.deleting:
            _end_programs(charge)
            if charge.over:
                return await self._remove(pod, charge, now)
        await self._tell(pod, charge, now)
        if charge.over:
            self._release(charge)
        for container in charge.to_run():
            task = asyncio.create_task(self._run_program(key, charge, container))
            charge.running[container] = task
        return charge.due(now)

    async def _take(self, pod: KubeletPod) -> Charge | None:
        """A pod that is new here, if it can be started or must be ended."""
        if finished(pod):
            return None
        deleting = pod.metadata.deleting
        if not deleting and not are_its_own(pod, self._claim):
            return None
        plan, now = self._plans[pod.spec.node_name], self._times.now()
        try:
            asked = behaviours(pod, plan.seed)
            address = self._address(pod, plan)
        except (BadAnnotation, NoAddress) as error:
            await self._refuse(pod, str(error))
            return None
        play = script(pod, asked, self._waiters)
        delay = asked.start_delay + self._state(plan.name).slow_images
        charge = Charge(
            uid=pod.metadata.uid,
            plan=plan,
            place=statuses.Place(host_ip=plan.host_ip, pod_ip=address),
            script=play,
            life=first_life(pod, play, now, delay),
            since=since(pod),
        )
        if began(pod):
            charge.take_up(pod, now)
        self._charges[pod.metadata.key] = charge
        return charge

    async def _refuse(self, pod: KubeletPod, why: str) -> None:
        """A pod that cannot be started says so; one that is deleted goes all the same."""
        if pod.metadata.deleting:
            await self._delete(pod)
        elif self._refused.get(pod.metadata.key) != (pod.metadata.uid, why):
            await self._patch(pod, statuses.refused(pod, self._times.now(), why))
            self._refused[pod.metadata.key] = (pod.metadata.uid, why)

    async def _tell(self, pod: KubeletPod, charge: Charge, now: float) -> None:
        status = charge.status(pod, now)
        said = statuses.fingerprint(status)
        if said != charge.written:
            await self._patch(pod, status)
            charge.written = said

    async def _remove(self, pod: KubeletPod, charge: Charge, now: float) -> float | None:
        """Its end is written only where somebody holds it back to read that."""
        if pod.metadata.finalizers:
            await self._tell(pod, charge, now)
        elif left := charge.left_to_the_server(pod, now):
            return left
        if not charge.removed:
            await self._delete(pod)
            charge.removed = True
        return None

    async def _patch(self, pod: KubeletPod, status: Mapping[str, Any]) -> None:
        key, uid = pod.metadata.key, pod.metadata.uid
        body = {"metadata": {"uid": uid}, "status": status}
        pods = self._client.of(PODS, bytes, key.namespace)
        try:
            await pods.patch(key.name, strategic_patch(body), subresource="status")
        except NotFound:
            # The watch tells.
            return
        except Invalid as error:
            # So the server says that another pod has its name now.
            if not any(cause.field == "metadata.uid" for cause in error.causes):
                raise

    async def _delete(self, pod: KubeletPod) -> None:
        pods = self._client.of(PODS, bytes, pod.metadata.namespace)
        try:
            await pods.delete(pod.metadata.name, Deletion(uid=pod.metadata.uid, grace_seconds=0))
        except (NotFound, Conflict):
            return

    async def _run_program(self, key: Key, charge: Charge, container: str) -> None:
        try:
            start = await prepared(self._client, key, container)
            exit_code = await self._waiters[container](start)
        except Exception:
            _log.exception("program failed", pod=str(key), container=container)
            exit_code = 1
        charge.running.pop(container, None)
        charge.told(container, exit_code, self._times.now())
        self.queue.add(key)

    def _claim(self, key: Key) -> ResourceClaim | None:
        return self.claims.get(key) if self.claims is not None else None

    def _address(self, pod: KubeletPod, plan: NodePlan) -> str:
        if pod.spec.host_network:
            return plan.host_ip
        if pod.status.pod_ip:
            return self._addresses.keep(plan, pod.status.pod_ip)
        return self._addresses.give(plan)

    def _forget(self, key: Key, charge: Charge) -> None:
        del self._charges[key]
        self._release(charge)
        _end_programs(charge)

    def _release(self, charge: Charge) -> None:
        if not charge.released:
            self._addresses.take_back(charge.plan, charge.place.pod_ip)
            charge.released = True


def _end_programs(charge: Charge) -> None:
    for task in charge.running.values():
        task.cancel()
