# SPDX-License-Identifier: Apache-2.0
"""Gangs that Grove made, and pods that name them: taken over without one pod being touched."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from tests.support.virtual import virtual
from tests.unit.workloads.podgang.troupe import Troupe, a_troupe
from tests.unit.workloads.sets import a_clique, a_set_body
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.labels import POD_GANG
from trellis.api.meta import owner
from trellis.api.scheduler.podgang import PodGang
from trellis.workloads.podclique.reconciler import controller as podcliques
from trellis.workloads.podgang.reconciler import controller as podgangs

W = "one-0-w"
OLD = [f"{W}-x2zb9", f"{W}-q7rfd"]
EPOCH = "one-0-7f3c"


async def a_set_of_groves(gang: str, *listed: str, replicas: int = 2) -> Troupe:
    """A set whose pods Grove made under names of its own, for a gang of that name."""
    troupe = await a_troupe(a_set_body("one", a_clique("w", replicas)))
    await troupe.make_alone()
    await troupe.stage.patch(PodClique, W, {"metadata": {"labels": {POD_GANG: gang}}})
    await make_groves_gang(troupe, gang, *listed)
    for index, name in enumerate(OLD):
        await troupe.make_pod(W, name, index)
        free: dict[str, Any] = {"spec": {"schedulingGates": None}, "metadata": {"finalizers": None}}
        await troupe.stage.patch(Pod, name, free)
        await troupe.stage.bind(name)
        await troupe.stage.ready(name)
    return troupe


async def make_groves_gang(troupe: Troupe, name: str, *listed: str) -> None:
    references = [{"namespace": "default", "name": each} for each in listed]
    group = {"name": W, "podReferences": references, "minReplicas": 2}
    labels = {
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": "one",
        "app.kubernetes.io/component": "podgang",
    }
    metadata = {
        "name": name,
        "labels": labels,
        "ownerReferences": [json.loads(msgspec.json.encode(owner(troupe.set)))],
    }
    await troupe.stage.make(PodGang, {"metadata": metadata, "spec": {"podgroups": [group]}})


async def uids(troupe: Troupe) -> dict[str, str]:
    found = [pod["metadata"] for pod in await troupe.stage.all(Pod)]
    return {one["name"]: one["uid"] for one in found if "deletionTimestamp" not in one}


@virtual
async def test_a_gang_of_groves_is_taken_over_with_all_pods_that_live() -> None:
    troupe = await a_set_of_groves("one-0", OLD[0])
    before = await uids(troupe)
    async with troupe.stage.operator(podgangs, podcliques):
        await troupe.stage.settle()
        assert await uids(troupe) == before
        assert (await troupe.listed("one-0"))[W] == OLD
        changes = [one for one in troupe.stage.writes() if not one.endswith("/status")]
        assert changes == ["PATCH podgangs/one-0"], "the list and our label in one write"
        assert await troupe.phase("one-0") == "Running"


@virtual
async def test_an_index_that_grove_left_empty_is_filled_and_nothing_else_is_touched() -> None:
    troupe = await a_set_of_groves("one-0", *OLD, replicas=3)
    before = await uids(troupe)
    async with troupe.stage.operator(podgangs, podcliques):
        await troupe.stage.settle()
        after = await uids(troupe)
        assert before.items() <= after.items()
        assert len(after) == 3


@virtual
async def test_a_pod_that_was_taken_over_is_replaced_like_any_other() -> None:
    troupe = await a_set_of_groves("one-0", *OLD)
    async with troupe.stage.operator(podgangs, podcliques):
        await troupe.stage.delete(Pod, OLD[0], grace=0)
        await troupe.stage.settle()
        listed = (await troupe.listed("one-0"))[W]
        assert listed[1] == OLD[1]
        assert sorted(await uids(troupe)) == sorted(listed)


@virtual
async def test_a_gang_of_another_name_stays_until_no_pod_names_it_any_more() -> None:
    troupe = await a_set_of_groves(EPOCH, *OLD)
    before = await uids(troupe)
    async with troupe.stage.operator(podgangs, podcliques):
        assert await troupe.stage.names(PodGang) == [EPOCH]
        # As whoever keeps PodCliques writes it.
        relabel = {"metadata": {"labels": {POD_GANG: "one-0"}}}
        await troupe.stage.patch(PodClique, W, relabel)
        await troupe.stage.settle()
        assert await troupe.stage.names(PodGang) == ["one-0", EPOCH]
        assert (await troupe.listed("one-0"))[W] == OLD
        assert await uids(troupe) == before
        for name in OLD:
            assert EPOCH in await troupe.stage.names(PodGang)
            await troupe.stage.delete(Pod, name, grace=0)
            await troupe.stage.settle()
        assert await troupe.stage.names(PodGang) == ["one-0"]
        assert not set(OLD) & set(await uids(troupe))


@virtual
async def test_a_gang_that_no_pod_names_and_no_set_wants_goes() -> None:
    troupe = await a_set_of_groves("one-0", *OLD)
    await make_groves_gang(troupe, "one-0-gone")
    async with troupe.stage.operator(podgangs):
        assert await troupe.stage.names(PodGang) == ["one-0"]
