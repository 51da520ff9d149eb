# SPDX-License-Identifier: Apache-2.0
"""Sets that KAI is to place: what it finds, and when. The test binds pods as KAI would."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.workloads.builders import a_clique, a_pod_spec, a_set
from tests.e2e.workloads.witness import watching
from tests.e2e.workloads.world import (
    GANGS,
    POD_GROUPS,
    PODS,
    SETS,
    clique_of,
    is_true,
    name_of,
    uid_of,
)
from tests.support.definitions import served
from tests.support.nodes import NODES
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.e2e.workloads.witness import Witness
    from tests.e2e.workloads.world import Json, World

QUEUE = "kai.scheduler/queue"
SUBGROUP = "kai.scheduler/subgroup-name"
SKIPS = {"kai.scheduler/skip-podgrouper": "true"}
GATE = "grove.io/podgang-pending-creation"
GANG, LEADER, WORKER = "llm-0", "llm-0-leader", "llm-0-worker"
_COUNT = {"type": "integer", "format": "int32"}
_NAME = {"type": "string"}
_SUBGROUP = {"name": _NAME, "parent": _NAME, "minMember": _COUNT, "minSubGroup": _COUNT}
_SPEC = {
    "queue": _NAME,
    "priorityClassName": _NAME,
    "minMember": {**_COUNT, "minimum": 0},
    "minSubGroup": _COUNT,
    "subGroups": {
        "type": "array",
        "items": {"type": "object", "required": ["name"], "properties": _SUBGROUP},
    },
    "schedulingBackoff": _COUNT,
}
_SCHEMA = {"type": "object", "properties": {"spec": {"type": "object", "properties": _SPEC}}}
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "podgroups.scheduling.run.ai"},
    "spec": {
        "group": "scheduling.run.ai",
        "scope": "Namespaced",
        "names": {"plural": "podgroups", "singular": "podgroup", "kind": "PodGroup"},
        "versions": [
            {
                "name": "v2alpha2",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": _SCHEMA},
            }
        ],
    },
}


@pytest.fixture
async def pod_groups(world: World) -> AsyncIterator[None]:
    """KAI's own kind, of a release that knows groups of groups."""
    async with served(world.api, DEFINITION, world.path(POD_GROUPS)):
        yield


def for_kai(name: str = "llm", **queues: str) -> Json:
    """`queues`: by the set or by the name of a clique, the queue that it names."""
    spec = a_pod_spec(schedulerName="kai-scheduler")
    cliques = [a_clique("leader", 1, podSpec=spec), a_clique("worker", 3, 2, podSpec=spec)]
    made = a_set(name, *cliques)
    for one in (made["metadata"], *cliques):
        queue = queues.get("set" if one is made["metadata"] else one["name"])
        if queue is not None:
            one["labels"] = {QUEUE: queue}
    return made


def is_let_go(pod: Json) -> bool:
    return GATE not in [one["name"] for one in pod["spec"].get("schedulingGates", [])]


def version_of(found: Json) -> int:
    return int(found["metadata"]["resourceVersion"])


def when_let_go(pods: Witness) -> int:
    """The version at which the first pod was without our gate."""
    seen = (one.object for one in pods.events if one.kind != "DELETED")
    return min(version_of(pod) for pod in seen if is_let_go(pod))


async def until_let_go(world: World, count: int) -> list[Json]:
    return await _until_all(world, count, is_let_go, "pods without our gate")


async def until_held(world: World, count: int) -> list[Json]:
    return await _until_all(world, count, lambda pod: not is_let_go(pod), "pods behind our gate")


async def _until_all(
    world: World, count: int, holds: Callable[[Json], bool], what: str
) -> list[Json]:
    found: list[Json] = []

    async def look() -> bool:
        found[:] = await world.pods()
        return len(found) == count and all(map(holds, found))

    await eventually(look, f"{count} {what}", 60)
    return found


async def place(world: World, pods: list[Json]) -> None:
    """As KAI's binder does."""
    nodes = (await world.api.do("GET", NODES))["items"]
    for pod in pods:
        target = {"apiVersion": "v1", "kind": "Node", "name": name_of(nodes[0])}
        binding = {"metadata": {"name": name_of(pod)}, "target": target}
        body = {"apiVersion": "v1", "kind": "Binding", **binding}
        await world.api.do("POST", world.path(PODS, name_of(pod), "binding"), body)


def listed(gang: Json) -> set[str]:
    groups = gang["spec"]["podgroups"]
    return {one["name"] for group in groups for one in group["podReferences"]}


async def test_kai_reads_a_gang_that_lists_its_pods_before_they_are_let_go(world: World) -> None:
    async with watching(world, GANGS) as gangs, watching(world, PODS) as pods:
        await world.make(SETS, for_kai(set="team-a"))
        found = await until_let_go(world, 4)
        await place(world, found)
        await world.until_ready(4)
        await world.until_up("llm")
    assert all(pod["metadata"]["labels"][SUBGROUP] == clique_of(pod) for pod in found)
    assert not any("nodeSelector" in pod["spec"] for pod in found)

    first = when_let_go(pods)
    before = [one.object for one in gangs.events if version_of(one.object) < first]
    names = {name_of(pod) for pod in found}
    assert listed(before[-1]) == names
    made = {one.name: version_of(one.object) for one in pods.events[::-1]}
    for gang in before:
        latest = max((made[name] for name in listed(gang)), default=0)
        assert latest < version_of(gang), "KAI fails on pods to come"
    assert before[-1]["metadata"]["labels"][QUEUE] == "team-a"


@pytest.mark.usefixtures("pod_groups")
async def test_kai_is_given_a_pod_group_before_pods_are_let_go(world: World) -> None:
    async with watching(world, POD_GROUPS) as groups, watching(world, PODS) as pods:
        await world.make(SETS, for_kai(worker="team-b"))
        found = await until_let_go(world, 4)
        await place(world, found)
        await world.until_ready(4)
    group = await world.get(POD_GROUPS, GANG)
    assert group["spec"]["queue"] == "team-b"
    assert group["spec"]["minMember"] == 3
    assert group["spec"]["subGroups"] == [
        {"name": LEADER, "minMember": 1},
        {"name": WORKER, "minMember": 2},
    ]
    for pod in found:
        noted = pod["metadata"]["annotations"]
        assert {**SKIPS, "pod-group-name": GANG}.items() <= noted.items()
    assert min(version_of(one.object) for one in groups.events) < when_let_go(pods)


@pytest.mark.usefixtures("pod_groups")
async def test_what_kai_makes_its_own_stays_and_what_is_ours_comes_back(world: World) -> None:
    await world.make(SETS, for_kai(set="team-a"))
    await until_let_go(world, 4)
    theirs = {
        "metadata": {"annotations": {"example.com/mark": "mine"}, "labels": {QUEUE: "moved"}},
        "spec": {"queue": "moved", "schedulingBackoff": 1},
    }
    await world.patch(POD_GROUPS, GANG, theirs)
    await world.patch(SETS, "llm", {"metadata": {"annotations": {"example.com/note": "hello"}}})

    def noted(found: Json) -> bool:
        return bool(found["metadata"]["annotations"]["example.com/note"] == "hello")

    group = await world.until(POD_GROUPS, GANG, noted, "the note of the set")
    assert group["metadata"]["annotations"]["example.com/mark"] == "mine"
    assert (group["spec"]["queue"], group["spec"]["schedulingBackoff"]) == ("moved", 1)
    assert group["metadata"]["labels"][QUEUE] == "moved"

    await world.delete(POD_GROUPS, GANG)
    again = await world.until(POD_GROUPS, GANG, lambda one: uid_of(one) != uid_of(group), "anew")
    assert again["spec"]["minMember"] == 3
    await world.delete(SETS, "llm")
    await eventually(partial(_has_no, world, POD_GROUPS), "no PodGroup left", 60)


@pytest.mark.usefixtures("pod_groups")
async def test_a_group_that_somebody_else_holds_keeps_pods_back_and_the_gang_says_so(
    world: World,
) -> None:
    foreign = {
        "apiVersion": "scheduling.run.ai/v2alpha2",
        "kind": "PodGroup",
        "metadata": {"name": GANG},
        "spec": {"queue": "others"},
    }
    await world.make(POD_GROUPS, foreign)
    await world.make(SETS, for_kai(set="team-a"))

    def tells(found: Json) -> bool:
        return any("PodGroup" in one["message"] for one in found["status"]["conditions"])

    await until_held(world, 4)
    await world.until(GANGS, GANG, tells, "what holds it up")
    await until_held(world, 4)
    await world.delete(POD_GROUPS, GANG)
    await place(world, await until_let_go(world, 4))
    await world.until(SETS, "llm", partial(is_true, kind="Ready"), "to be ready")


@pytest.mark.parametrize(
    ("queues", "field", "words"),
    [
        ({}, f"metadata.labels[{QUEUE}]", "label the set with"),
        ({"set": "a", "worker": "b"}, QUEUE, "queue"),
        ({"leader": "a", "worker": "b"}, QUEUE, "queue"),
    ],
    ids=["none", "clique-against-set", "clique-against-clique"],
)
async def test_a_set_without_one_queue_is_refused(
    world: World, queues: dict[str, str], field: str, words: str
) -> None:
    answer = await world.refused(SETS, for_kai(**queues))
    said = answer.body["message"]
    assert field in said
    assert words in said


async def _has_no(world: World, kind: str) -> bool:
    return not await world.all(kind)
