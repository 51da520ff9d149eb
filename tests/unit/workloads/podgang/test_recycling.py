# SPDX-License-Identifier: Apache-2.0
"""Gangs that are made anew, with the whole room at work: Grove's GT1 to GT6 on simulated nodes.

A node is cordoned by letting no pod of a kind have one.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tests.support.virtual import virtual
from tests.unit.workloads.kubelets import Fate, Kubelets, kubelets
from tests.unit.workloads.podgang.troupe import wl2_body
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from tests.unit.workloads.stage import Body, Stage, a_stage
from trellis.api.annotation import RECYCLED
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.labels import MANAGED_BY
from trellis.api.scheduler.podgang import PodGang
from trellis.workloads.podclique.reconciler import controller as podcliques
from trellis.workloads.podcliqueset.reconciler import controllers as podcliquesets
from trellis.workloads.podgang.confirming import LOOK_AGAIN_SECONDS
from trellis.workloads.podgang.reconciler import controller as podgangs
from trellis.workloads.scalinggroup.reconciler import controller as scalinggroups

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

DELAY = 10.0
GRACE = 15.0
EVERYBODY = (podcliquesets, scalinggroups, podgangs, podcliques)


def wl1_gt() -> Body:
    cliques = (a_clique("pc-a", 2), a_clique("pc-b", 1), a_clique("pc-c", 3))
    group = a_group("sg-x", "pc-b", "pc-c", replicas=2, least=2)
    return a_set_body("wl", *cliques, groups=(group,), terminationDelay="10s")


def wl2_gt() -> Body:
    return wl2_body("wl", terminationDelay="10s")


def wl5_gt() -> Body:
    cliques = (a_clique("pc-a", 2, 1), a_clique("pc-b", 1), a_clique("pc-c", 3))
    group = a_group("sg-x", "pc-b", "pc-c", replicas=2, least=1)
    return a_set_body("wl", *cliques, groups=(group,), terminationDelay="10s")


class Play:
    """A set that runs, its nodes, and who of its pods survives what."""

    def __init__(self, stage: Stage, nodes: Kubelets) -> None:
        self.stage = stage
        self._nodes = nodes
        self._cordoned: tuple[str, ...] = ()
        nodes.fate = self._fate

    def _fate(self, pod: Pod) -> Fate:
        kept_out = any(pod.metadata.name.startswith(each) for each in self._cordoned)
        return Fate.PENDING if kept_out else Fate.READY

    async def pods(self, clique: str = "wl-0-") -> dict[str, str]:
        """Uid by name, of those that are there to stay."""
        found = [one["metadata"] for one in await self.stage.all(Pod)]
        return {
            one["name"]: one["uid"]
            for one in found
            if one["name"].startswith(clique) and "deletionTimestamp" not in one
        }

    async def kill(self, clique: str, count: int) -> None:
        """Cordons the nodes of that clique and deletes so many of its pods."""
        self._cordoned = (*self._cordoned, clique)
        ready = [
            one["metadata"]["name"]
            for one in await self.stage.all(Pod)
            if one["metadata"]["name"].startswith(clique) and one["spec"].get("nodeName")
        ]
        for name in sorted(ready)[:count]:
            await self.stage.delete(Pod, name)
        await self.stage.settle(1)

    async def recover(self) -> None:
        self._cordoned = ()
        self._nodes.look()
        await self.stage.settle(20)

    async def expire(self) -> None:
        await self.stage.settle(DELAY + GRACE)

    async def ready(self) -> int:
        found = [one.get("status", {}).get("conditions", []) for one in await self.stage.all(Pod)]
        return sum(
            {"Ready": "True"}.items() <= {c["type"]: c["status"] for c in one}.items()
            for one in found
        )


@asynccontextmanager
async def a_play(body: Body) -> AsyncIterator[Play]:
    stage = await a_stage()
    async with kubelets(stage) as nodes, stage.operator(*EVERYBODY):
        play = Play(stage, nodes)
        await stage.make(PodCliqueSet, body)
        await stage.settle(10)
        yield play


@asynccontextmanager
async def an_unattended_play() -> AsyncIterator[tuple[Play, dict[str, str]]]:
    """Its operator went down just after a pod was killed. With the pods from before that."""
    stage = await a_stage()
    async with kubelets(stage) as nodes:
        play = Play(stage, nodes)
        async with stage.operator(*EVERYBODY):
            await stage.make(PodCliqueSet, wl1_gt())
            await stage.settle(10)
            before = await play.pods()
            await play.kill("wl-0-pc-a", 1)
        yield play, before


def survivors(before: dict[str, str], after: dict[str, str]) -> set[str]:
    uids = set(after.values())
    return {name for name, uid in before.items() if uid in uids}


async def _annotations(stage: Stage) -> Body:
    found: Body = (await stage.get(PodGang, "wl-0"))["metadata"].get("annotations", {})
    return found


async def events(stage: Stage, reason: str) -> list[str]:
    return [text for token, text in await stage.events("wl") if token == reason]


async def _since(stage: Stage, clique: str) -> str:
    """When it broke."""
    conditions = (await stage.get(PodClique, clique))["status"]["conditions"]
    (found,) = (one for one in conditions if one["type"] == "MinAvailableBreached")
    return str(found["lastTransitionTime"])


@virtual
async def test_gt1_a_clique_below_its_minimum_takes_the_whole_replica_with_it() -> None:
    async with a_play(wl1_gt()) as play:
        before = await play.pods()
        assert (len(before), await play.ready()) == (10, 10)
        await play.kill("wl-0-pc-a", 1)
        await play.stage.settle(DELAY - 3)
        assert len(survivors(before, await play.pods())) == 9, "there is still time to recover"
        await play.expire()
        assert survivors(before, await play.pods()) == set()
        (told,) = await events(play.stage, "PodCliqueSetReplicaDeleteSuccessful")
        assert "Replica 0 of the set is made anew: PodClique wl-0-pc-a lacked its minimum" in told
        await play.recover()
        assert await play.ready() == 10


@virtual
async def test_gt2_so_does_a_group_that_needs_all_its_replicas() -> None:
    async with a_play(wl1_gt()) as play:
        before = await play.pods()
        await play.kill("wl-0-sg-x-0-pc-c", 1)
        await play.expire()
        assert survivors(before, await play.pods()) == set()
        await play.recover()
        assert await play.ready() == 10


@virtual
async def test_gt3_the_last_pod_of_a_clique_that_needs_one_matters_and_the_first_does_not() -> None:
    async with a_play(wl2_gt()) as play:
        before = await play.pods()
        await play.kill("wl-0-pc-a", 1)
        await play.expire()
        assert len(survivors(before, await play.pods())) == 9
        await play.kill("wl-0-pc-a", 1)
        await play.expire()
        assert survivors(before, await play.pods()) == set()
        await play.recover()
        assert await play.ready() == 10


@virtual
async def test_gt4_a_replica_of_a_group_falls_alone_while_the_group_can_spare_it() -> None:
    async with a_play(wl2_gt()) as play:
        first = await play.pods()
        await play.kill("wl-0-sg-x-0-pc-c", 1)
        await play.expire()
        assert len(survivors(first, await play.pods())) == 9
        await play.kill("wl-0-sg-x-0-pc-c", 2)
        await play.expire()
        alive = survivors(first, await play.pods())
        assert {name for name in first if not name.startswith("wl-0-sg-x-0")} == alive
        assert len(await events(play.stage, "PodCliqueScalingGroupReplicaDeleteSuccessful")) == 1
        await play.kill("wl-0-sg-x-1-pc-c", 1)
        await play.expire()
        assert len(survivors(first, await play.pods("wl-0-pc-a"))) == 2
        await play.kill("wl-0-sg-x-1-pc-c", 2)
        await play.expire()
        assert survivors(first, await play.pods()) == set()
        await play.recover()
        assert await play.ready() == 10


@virtual
async def test_what_is_told_of_a_group_that_can_spare_no_more_comes_true() -> None:
    async with a_play(wl2_gt()) as play:
        stage, first, second = play.stage, "wl-0-sg-x-0-pc-c", "wl-0-sg-x-1-pc-c"
        await play.kill(first, 3)
        await stage.settle(5)
        await play.kill(second, 3)
        told = await stage.message(PodClique, first, "MinAvailableBreached")
        assert "if scaling group wl-0-sg-x has its minimum then, else when PodGang wl-0" in told
        broken = await _since(stage, second)
        assert broken != await _since(stage, first)
        foretold = await stage.message(PodGang, "wl-0", "Unhealthy")
        lacks = f"PodClique {first} lacks its minimum, and scaling group wl-0-sg-x does since"
        assert foretold.startswith(f"{lacks} {broken}; ")
        await play.expire()
        (anew,) = await events(stage, "PodCliqueSetReplicaDeleteSuccessful")
        lacked = f"PodClique {first} lacked its minimum, and scaling group wl-0-sg-x did from"
        assert f"{lacked} {broken} on" in anew
        deadline = foretold.rpartition(" ")[2]
        assert anew.endswith(deadline)


@virtual
async def test_gt5_only_the_replica_that_broke_is_made_anew() -> None:
    async with a_play(wl5_gt()) as play:
        before = await play.pods()
        await play.kill("wl-0-sg-x-0-pc-c", 3)
        await play.expire()
        alive = survivors(before, await play.pods())
        assert {name for name in before if not name.startswith("wl-0-sg-x-0")} == alive


@virtual
async def test_gt6_one_pod_of_a_scaled_gang_is_just_replaced() -> None:
    async with a_play(wl2_gt()) as play:
        before = await play.pods()
        (name, *_) = await play.pods("wl-0-sg-x-1-pc-c")
        await play.stage.delete(Pod, name)
        await play.expire()
        assert survivors(before, await play.pods()) == set(before) - {name}
        assert await play.ready() == 10


@virtual
async def test_a_scaled_replica_falls_alone_too() -> None:
    async with a_play(wl5_gt()) as play:
        before = await play.pods()
        await play.kill("wl-0-sg-x-1-pc-c", 1)
        told = await play.stage.message(PodGang, "wl-0-sg-x-0", "Unhealthy")
        assert "replica 1 of wl-0-sg-x is made anew at 2026-01-01T00:00:" in told
        await play.expire()
        alive = survivors(before, await play.pods())
        assert {name for name in before if not name.startswith("wl-0-sg-x-1")} == alive
        await play.recover()
        assert await play.ready() == 10


@virtual
async def test_what_recovers_in_time_is_left_alone() -> None:
    async with a_play(wl1_gt()) as play:
        before = await play.pods()
        await play.kill("wl-0-pc-a", 1)
        assert (await play.stage.conditions(PodGang, "wl-0"))["Unhealthy"][0] == "True"
        await play.recover()
        assert len(survivors(before, await play.pods())) == 9
        assert (await play.stage.conditions(PodGang, "wl-0"))["Unhealthy"][0] == "False"
        assert await events(play.stage, "PodCliqueSetReplicaDeleteSuccessful") == []


@virtual
async def test_what_was_never_up_again_is_not_made_anew_again() -> None:
    async with a_play(wl1_gt()) as play:
        await play.kill("wl-0-pc-a", 1)
        await play.expire()
        after = await play.pods()
        await play.stage.settle(600)
        assert await play.pods() == after
        assert len(await events(play.stage, "PodCliqueSetReplicaDeleteSuccessful")) == 1


@virtual
async def test_what_broke_again_after_it_was_up_is_made_anew_again() -> None:
    async with a_play(wl1_gt()) as play:
        for _ in range(2):
            before = await play.pods()
            await play.kill("wl-0-pc-a", 1)
            await play.expire()
            assert survivors(before, await play.pods()) == set()
            await play.recover()
            assert await play.ready() == 10
        assert len(await events(play.stage, "PodCliqueSetReplicaDeleteSuccessful")) == 2


@virtual
async def test_what_was_never_up_again_is_left_alone_though_its_gang_is_deleted() -> None:
    async with a_play(wl1_gt()) as play:
        await play.kill("wl-0-pc-a", 1)
        await play.expire()
        after = await play.pods()
        await play.stage.delete(PodGang, "wl-0")
        await play.stage.settle(600)
        assert await play.pods() == after
        assert RECYCLED in await _annotations(play.stage)


@virtual
async def test_so_it_is_where_the_operator_has_been_away_since() -> None:
    async with an_unattended_play() as (play, _):
        async with play.stage.operator(*EVERYBODY):
            await play.expire()
        after = await play.pods()
        await play.stage.delete(PodGang, "wl-0")
        async with play.stage.operator(*EVERYBODY):
            await play.expire()
            assert await play.pods() == after
            await play.recover()
            assert await play.ready() == 10
            assert await play.pods() == after


@virtual
async def test_a_recycled_replica_keeps_the_scale_it_had() -> None:
    async with a_play(wl2_gt()) as play:
        await play.stage.patch(PodCliqueScalingGroup, "wl-0-sg-x", {"spec": {"replicas": 3}})
        await play.stage.patch(PodClique, "wl-0-pc-a", {"spec": {"replicas": 4}})
        await play.stage.settle(10)
        before = await play.pods()
        assert len(before) == 16
        await play.kill("wl-0-pc-a", 4)
        await play.expire()
        await play.recover()
        assert (await play.ready(), survivors(before, await play.pods())) == (16, set())


@virtual
async def test_a_deadline_survives_a_restart_and_is_not_begun_again() -> None:
    async with an_unattended_play() as (play, before):
        await play.stage.settle(DELAY)
        assert len(survivors(before, await play.pods())) == 9
        async with play.stage.operator(*EVERYBODY):
            assert survivors(before, await play.pods()) == set(), (
                "the time was up while it was down"
            )


@virtual
async def test_what_recovered_while_the_operator_was_down_is_left_alone() -> None:
    async with an_unattended_play() as (play, _):
        before = await play.pods()
        await play.recover()
        assert await play.ready() == 10
        async with play.stage.operator(*EVERYBODY):
            await play.stage.settle(1)
            assert survivors(before, await play.pods()) == set(before)
            assert (await play.stage.conditions(PodGang, "wl-0"))["Unhealthy"][0] == "False"


@virtual
async def test_nothing_falls_on_hearsay_and_what_is_broken_on_the_server_too_does() -> None:
    async with an_unattended_play() as (play, _):
        stage = play.stage
        await play.recover()
        out_of_sight = await play.pods("wl-0-pc-a")
        for name in out_of_sight:
            await stage.patch(Pod, name, {"metadata": {"labels": {MANAGED_BY: None}}})
        # Those who would label them again are away, and so is whoever would take back the breach.
        async with stage.operator(podcliquesets, scalinggroups, podgangs):
            await play.expire()
            assert RECYCLED not in await _annotations(stage)
            await stage.delete(Pod, next(iter(out_of_sight)))
            await stage.settle(LOOK_AGAIN_SECONDS + 1)
            assert RECYCLED in await _annotations(stage)


@virtual
async def test_pods_from_before_are_told_of_while_they_are_still_leaving() -> None:
    async with a_play(wl1_gt()) as play:
        held: dict[str, Any] = {"metadata": {"finalizers": ["example.com/hold"]}}
        await play.stage.patch(Pod, next(iter(await play.pods("wl-0-sg-x-0-pc-b"))), held)
        await play.kill("wl-0-pc-a", 1)
        await play.expire()
        told = await play.stage.conditions(PodGang, "wl-0")
        assert told["DisruptionTarget"] == ("True", "TerminationDelayExpired")
        for pod in await play.stage.all(Pod):
            if "finalizers" in pod["metadata"]:
                free: dict[str, Any] = {"metadata": {"finalizers": None}}
                await play.stage.patch(Pod, pod["metadata"]["name"], free)
        await play.recover()
        told = await play.stage.conditions(PodGang, "wl-0")
        assert told["DisruptionTarget"] == ("False", "NotDisrupted")
