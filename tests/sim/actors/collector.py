# SPDX-License-Identifier: Apache-2.0
"""The garbage collector: what none of its owners is there for any more goes.

Quicker than the embedded cluster's own, which watches every kind there is; one story in a few runs
with that one instead.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.sim.actors.errands import Errands
from tests.sim.chronicle import is_leaving
from tests.sim.ground import ADMIN_TOKEN
from tests.sim.hand import Caller, calling
from tests.sim.paths import path_of
from trellis.embedded.controllers.run import COLLECTOR, MANAGER, controllers
from trellis.embedded.simulation.loop import VirtualClock
from trellis.kube.client import Client
from trellis.runtime.env import Env

if TYPE_CHECKING:
    from random import Random

    from tests.sim.chronicle import Body, Chronicle, Commit, Place
    from tests.sim.hand import Hand
    from trellis.embedded.core.cluster import Cluster

FOREGROUND = "foregroundDeletion"


class Collector:
    def __init__(self, hand: Hand, chronicle: Chronicle, rng: Random) -> None:
        self._hand = hand
        self._chronicle = chronicle
        self._rng = rng
        self._errands: Errands[Place] = Errands(self._look)
        chronicle.hearers.append(self._heard)

    def stop(self) -> None:
        self._errands.stop()

    def _heard(self, commit: Commit) -> None:
        body = commit.body
        owners = body["metadata"].get("ownerReferences", ())
        if commit.new is None:
            for place in list(self._chronicle.dependents.get(commit.uid, ())):
                self._soon(place)
            for owner in owners:
                self._look_at_owner(owner["uid"])
        elif (is_leaving(body) and FOREGROUND in body["metadata"].get("finalizers", ())) or (
            owners and commit.old is None
        ):
            self._soon(commit.place)

    def _look_at_owner(self, uid: str) -> None:
        owner = self._chronicle.by_uid(uid)
        if owner is not None and FOREGROUND in owner["metadata"].get("finalizers", ()):
            self._soon(self._chronicle.uids[uid])

    def _soon(self, place: Place) -> None:
        self._errands.later(place, 0.02 + self._rng.random() * 0.5)

    async def _look(self, place: Place) -> None:
        body = self._chronicle.objects[place.plural].get(place)
        if body is None:
            return
        if is_leaving(body):
            if FOREGROUND in body["metadata"].get("finalizers", ()):
                await self._foreground(place, body)
            return
        owners = [one["uid"] for one in body["metadata"].get("ownerReferences", ())]
        if owners and all(self._chronicle.by_uid(uid) is None for uid in owners):
            await self._delete(place, body)

    async def _foreground(self, place: Place, body: Body) -> None:
        left = list(self._chronicle.dependents.get(body["metadata"]["uid"], ()))
        for dependent in left:
            found = self._chronicle.objects[dependent.plural].get(dependent)
            if found is not None and not is_leaving(found):
                await self._delete(dependent, found)
        if not left:
            finalizers = [one for one in body["metadata"]["finalizers"] if one != FOREGROUND]
            version = body["metadata"]["resourceVersion"]
            patch = {"metadata": {"finalizers": finalizers, "resourceVersion": version}}
            answer = await self._hand.ask("PATCH", path_of(place), patch)
            if answer.status == 409:
                self._soon(place)

    async def _delete(self, place: Place, body: Body) -> None:
        metadata = body["metadata"]
        options = {
            "preconditions": {
                "uid": metadata["uid"],
                "resourceVersion": metadata["resourceVersion"],
            },
            "propagationPolicy": "Background",
        }
        answer = await self._hand.ask("DELETE", path_of(place), options)
        if answer.status == 409:
            self._soon(place)


class EmbeddedCollector:
    """The embedded cluster's own, with all its watches, and its controller of Jobs beside it."""

    def __init__(self, cluster: Cluster, rng: Random) -> None:
        env = Env(clock=VirtualClock(), rng=rng)
        client = Client(cluster.transport(ADMIN_TOKEN), env.clock, env.rng, manager=MANAGER)
        with calling(Caller("collector")):
            self._task = asyncio.ensure_future(
                controllers(client, env, asyncio.Event(), which=(COLLECTOR, "job"))
            )

    def stop(self) -> None:
        self._task.cancel()
