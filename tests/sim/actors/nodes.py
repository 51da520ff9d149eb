# SPDX-License-Identifier: Apache-2.0
"""Nodes and their scheduler, as far as pods are concerned: what may start is bound, and then runs.

How far pods of a clique come can be told, and a node can fall silent: then its pods neither run
nor go away.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from tests.sim.actors.errands import Errands
from tests.sim.chronicle import Place, image, is_leaving, is_ready, label
from tests.sim.ground import NODES
from trellis.api.labels import HOSTNAME, POD_CLIQUE
from trellis.embedded.simulation.loop import VirtualClock
from trellis.embedded.stamps import stamp

if TYPE_CHECKING:
    from random import Random

    from tests.sim.chronicle import Body, Chronicle, Commit
    from tests.sim.hand import Hand


class Fate(StrEnum):
    """How far the pods of a clique come."""

    PENDING = "pending"
    BOUND = "bound"
    UNREADY = "unready"
    READY = "ready"


class Nodes:
    def __init__(self, kubelet: Hand, scheduler: Hand, chronicle: Chronicle, rng: Random) -> None:
        self._kubelet = kubelet
        self._scheduler = scheduler
        self._chronicle = chronicle
        self._rng = rng
        self._errands: Errands[Place] = Errands(self._look)
        self._fates: dict[tuple[str, str], Fate] = {}
        """By PodClique and image; none: whatever they have."""
        self._silent: dict[str, None] = {}
        chronicle.hearers.append(self._heard)

    def stop(self) -> None:
        self._errands.stop()

    def decree(self, clique: str, fate: Fate, with_image: str = "") -> None:
        """From now on, pods of the PodClique of that name come so far; and if ready ones must
        not be, they are not any more."""
        self._fates[clique, with_image] = fate
        self._look_at_all()

    def silence(self, node: str) -> None:
        self._silent[node] = None

    def revive(self, node: str) -> None:
        self._silent.pop(node, None)
        self._look_at_all()

    def heal(self) -> None:
        """All is well again, everywhere."""
        self._fates.clear()
        self._silent.clear()
        self._look_at_all()

    def _look_at_all(self) -> None:
        for place in list(self._chronicle.objects["pods"]):
            self._errands.later(place, self._delay())

    def _heard(self, commit: Commit) -> None:
        if commit.place.plural == "pods" and commit.new is not None:
            self._errands.later(commit.place, self._delay())

    def _delay(self) -> float:
        return 0.01 + self._rng.random() * 0.2

    async def _look(self, place: Place) -> None:
        pod = self._chronicle.objects["pods"].get(place)
        if pod is None or pod["status"].get("phase") in ("Failed", "Succeeded"):
            if pod is not None and is_leaving(pod):
                await self._end(place, pod)
            return
        if is_leaving(pod):
            await self._end(place, pod)
            return
        clique, found = label(pod, POD_CLIQUE), image(pod["spec"])
        fate = self._fates.get((clique, found), self._fates.get((clique, ""), Fate.READY))
        node = pod["spec"].get("nodeName", "")
        if not node:
            if fate is not Fate.PENDING and not pod["spec"].get("schedulingGates"):
                await self._bind(place, pod)
        elif node not in self._silent:
            await self._run(place, pod, fate)

    async def _end(self, place: Place, pod: Body) -> None:
        node = pod["spec"].get("nodeName", "")
        if node in self._silent:
            return
        uid = {"preconditions": {"uid": pod["metadata"]["uid"]}, "gracePeriodSeconds": 0}
        await self._kubelet.ask("DELETE", path(place), uid)

    async def _bind(self, place: Place, pod: Body) -> None:
        chosen = pod["spec"].get("nodeSelector", {}).get(HOSTNAME)
        able = [node for node in NODES if node not in self._silent]
        if chosen is None and not able:
            return
        node = chosen or able[self._rng.randrange(len(able))]
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": place.name, "uid": pod["metadata"]["uid"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        await self._scheduler.ask("POST", f"{path(place)}/binding", body)

    async def _run(self, place: Place, pod: Body, fate: Fate) -> None:
        if fate in (Fate.PENDING, Fate.BOUND):
            return
        ready = fate is Fate.READY
        if pod["status"].get("phase") == "Running" and is_ready(pod) == ready:
            return
        await self.tell(place, pod, "Running", ready=ready)

    async def tell(self, place: Place, pod: Body, phase: str, *, ready: bool) -> None:
        """As a kubelet would report."""
        now = stamp(VirtualClock().now())
        condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": now}
        kept = [one for one in pod["status"].get("conditions", ()) if one["type"] != "Ready"]
        running = phase == "Running"
        container = {
            "name": pod["spec"]["containers"][0]["name"],
            "image": "none",
            "imageID": "none",
            "restartCount": 0,
            "ready": ready,
            "started": running,
        }
        status = {
            "phase": phase,
            "conditions": [*kept, condition],
            "containerStatuses": [container] if running else [],
        }
        body = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
        await self._kubelet.ask("PATCH", f"{path(place)}/status", body)


def path(place: Place) -> str:
    return f"/api/v1/namespaces/{place.namespace}/{place.plural}/{place.name}"
