# SPDX-License-Identifier: Apache-2.0
"""Grove's scale scenarios, and what must hold after each of them; and deletion of all of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.e2e.workloads.builders import IN_ORDER, a_clique, a_group, a_set, clique_of, workload2
from tests.e2e.workloads.world import (
    CHILDREN,
    CLIQUES,
    GANGS,
    GROUPS,
    PATIENCE_SECONDS,
    PODS,
    SERVICES,
    SETS,
    is_true,
    name_of,
    uid_of,
)
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from tests.e2e.workloads.world import Json, World

REPLICA_INDEX = "grove.io/podcliqueset-replica-index"
SIZE = 2


def expert(replicas: int) -> Json:
    return a_set("scale", a_clique("expert-worker", SIZE, SIZE), replicas=replicas)


async def until_settled(world: World, replicas: int) -> None:
    """The final checks of Grove's scale tests, and that of Services, which they leave out."""
    await world.until_ready(replicas * SIZE)
    for kind in (CLIQUES, GANGS, SERVICES):
        await world.until_count(kind, replicas)
    for kind in CHILDREN:
        for found in await world.ours(kind):
            metadata = found["metadata"]
            assert "deletionTimestamp" not in metadata, f"{kind} {metadata['name']} lingers"
            index = metadata["labels"].get(REPLICA_INDEX)
            assert index is None or int(index) < replicas, f"{kind} {metadata['name']} is left"

    def converged(found: Json) -> bool:
        status = found.get("status", {})
        return bool(
            status.get("observedGeneration") == found["metadata"]["generation"]
            and status.get("replicas", 0) == status.get("availableReplicas", 0) == replicas
            and not status.get("lastErrors")
            and is_true(found, "Ready")
        )

    await world.until(SETS, "scale", converged, f"a status with {replicas} available")
    for clique in await world.ours(CLIQUES):
        status = clique["status"]
        counts = (status["replicas"], status["readyReplicas"], status["scheduledReplicas"])
        assert counts == (SIZE, SIZE, SIZE)
        assert not status.get("lastErrors")
        assert status["observedGeneration"] == clique["metadata"]["generation"]


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([5], id="a few at once"),
        pytest.param([0, 10], id="from nothing"),
        pytest.param([5, 10], id="out"),
        pytest.param([10, 5], id="in"),
        pytest.param([5, 0], id="to nothing"),
        pytest.param([3, 6, 3, 6, 3], id="out and in again and again"),
    ],
)
async def test_sets_scale(world: World, steps: list[int]) -> None:
    first, *more = steps
    await world.make(SETS, expert(first))
    await until_settled(world, first)
    for replicas in more:
        await world.scale(SETS, "scale", replicas)
        await until_settled(world, replicas)


async def test_steps_are_not_waited_for(world: World) -> None:
    """Only the last number counts, however fast they come."""
    await world.make(SETS, expert(1))
    for replicas in (8, 0, 6, 2, 4):
        await world.scale(SETS, "scale", replicas)
    await until_settled(world, 4)


async def test_a_clique_is_scaled_by_itself(world: World) -> None:
    await world.make(SETS, expert(1))
    await world.until_ready(SIZE)
    for replicas in (5, 3):
        await world.scale(CLIQUES, "scale-0-expert-worker", replicas)
        pods = await world.until_ready(replicas)
        indices = sorted(
            int(one["metadata"]["labels"]["grove.io/podclique-pod-index"]) for one in pods
        )
        assert len(set(indices)) == replicas


async def test_indices_in_a_group_have_no_gaps_whichever_clique_is_scaled(world: World) -> None:
    group = a_group("g", "lead", "work", replicas=1)
    cliques = (a_clique("lead", 2, 1), a_clique("work", 3, 1))
    await world.make(SETS, a_set("scale", *cliques, podCliqueScalingGroups=[group]))
    pods = await world.until_ready(5)
    workers = {uid_of(pod) for pod in pods if "-work-" in name_of(pod)}

    async def indices(count: int) -> None:
        async def look() -> bool:
            labels = [one["metadata"]["labels"] for one in await world.pods()]
            found = [int(one["grove.io/podcliquescalinggroup-pod-index"]) for one in labels]
            return sorted(found) == list(range(count))

        await eventually(look, f"the indices 0 to {count - 1}", PATIENCE_SECONDS)

    await indices(5)
    for replicas in (1, 4):
        await world.scale(CLIQUES, "scale-0-g-0-lead", replicas)
        await indices(replicas + 3)
    assert workers <= {uid_of(pod) for pod in await world.until_ready(7)}


async def test_a_clique_at_zero_starts_again(world: World) -> None:
    """Zero is no breach, and the gang goes on without it."""
    body = a_set("zero", a_clique("a", 2, 1), a_clique("b", 1, 1))
    await world.make(SETS, body)
    await world.until_ready(3)
    await world.scale(CLIQUES, "zero-0-b", 0)
    await world.until_ready(2)

    def without(found: Json) -> bool:
        return [one["name"] for one in found["spec"]["podgroups"]] == ["zero-0-a"]

    await world.until(GANGS, "zero-0", without, "no group for what is not there")
    clique = await world.get(CLIQUES, "zero-0-b")
    assert not is_true(clique, "MinAvailableBreached")
    await world.scale(CLIQUES, "zero-0-b", 1)
    await world.until_ready(3)


async def test_a_group_is_scaled_by_its_highest_replicas(world: World) -> None:
    await world.make(SETS, workload2())
    before = await world.until_ready(10)
    await world.scale(GROUPS, "wl-0-sg-x", 4)
    await world.until_ready(18)
    gangs = await world.names(GANGS)
    assert gangs == {"wl-0", "wl-0-sg-x-0", "wl-0-sg-x-1", "wl-0-sg-x-2"}
    await world.scale(GROUPS, "wl-0-sg-x", 2)
    after = await world.until_ready(10)
    assert {name_of(one) for one in after} == {name_of(one) for one in before}
    await world.until_count(GANGS, 2)


async def test_a_group_below_its_minimum_and_back(world: World) -> None:
    await world.make(SETS, workload2())
    await world.until_ready(10)
    await world.scale(GROUPS, "wl-0-sg-x", 0)
    await world.until_ready(2)
    await world.scale(GROUPS, "wl-0-sg-x", 1)
    await world.until_ready(6)


async def test_a_group_goes_on_with_fewer_than_its_minimum_and_grows_again(world: World) -> None:
    """What is left of the base gang is held together; the rest comes back when it is asked for."""
    group = a_group("sg", "w", replicas=3, least=2)
    cliques = (a_clique("a"), a_clique("w", 2))
    await world.make(SETS, a_set("few", *cliques, podCliqueScalingGroups=[group]))
    before = await world.until_ready(7)
    assert await world.names(GANGS) == {"few-0", "few-0-sg-0"}

    await world.scale(GROUPS, "few-0-sg", 1)
    left = await world.until_ready(3)
    assert {uid_of(pod) for pod in left} <= {uid_of(pod) for pod in before}
    await world.until_count(GANGS, 1)

    def shrunk(found: Json) -> bool:
        return [one["name"] for one in found["spec"]["podgroups"]] == ["few-0-a", "few-0-sg-0-w"]

    await world.until(GANGS, "few-0", shrunk, "only what is left")
    assert await world.names(CLIQUES) == {"few-0-a", "few-0-sg-0-w"}
    await world.until(SETS, "few", partial(is_true, kind="Ready"), "to be ready all the same")
    assert not is_true(await world.get(GROUPS, "few-0-sg"), "MinAvailableBreached")

    await world.scale(GROUPS, "few-0-sg", 3)
    after = await world.until_ready(7)
    assert {uid_of(pod) for pod in left} <= {uid_of(pod) for pod in after}
    await world.until_count(GANGS, 2)
    whole = [one["name"] for one in (await world.get(GANGS, "few-0"))["spec"]["podgroups"]]
    assert whole == ["few-0-a", "few-0-sg-0-w", "few-0-sg-1-w"]


@pytest.mark.parametrize(
    ("kind", "name", "replicas", "warning"),
    [
        pytest.param("pclq", "warn-0-a", 1, "1 is below minAvailable, 2", id="a clique below it"),
        pytest.param("pcsg", "warn-0-sg", 1, "1 is below minAvailable, 2", id="a group below it"),
        pytest.param("pcsg", "warn-0-sg", 0, "scaled to zero", id="a group at zero"),
        pytest.param("pcsg", "warn-0-sg", 2, "", id="a group that keeps it"),
    ],
)
async def test_kubectl_shows_that_a_minimum_is_given_up(
    world: World, kind: str, name: str, replicas: int, warning: str
) -> None:
    group = a_group("sg", "w", replicas=3, least=2)
    body = a_set("warn", a_clique("a", 3, 2), a_clique("w"), podCliqueScalingGroups=[group])
    await world.make(SETS, body)
    await world.until_ready(6)
    said = await world.cluster.kubectl(
        "scale", kind, name, "-n", world.namespace, f"--replicas={replicas}"
    )
    shown = [line for line in said.splitlines() if line.startswith("Warning:")]
    assert [warning in line for line in shown] == ([True] if warning else [])
    assert f"{name} scaled" in said


async def test_nothing_is_left_of_a_set_that_is_deleted(world: World) -> None:
    """Grove's CascadeDelete, with everything that a set can have."""
    body = workload2("gone", cliqueStartupType=IN_ORDER)
    metrics = [
        {
            "type": "Resource",
            "resource": {
                "name": "cpu",
                "target": {"type": "Utilization", "averageUtilization": 80},
            },
        }
    ]
    limits = {"minReplicas": 2, "maxReplicas": 4, "metrics": metrics}
    clique_of(body, "pc-a")["spec"]["autoScalingConfig"] = limits
    body["spec"]["template"]["podCliqueScalingGroups"][0]["scaleConfig"] = limits
    body["spec"]["replicas"] = 2
    await world.make(SETS, body)
    await world.until_ready(20)
    made = {kind for kind in CHILDREN if await world.ours(kind)}
    assert made >= {CLIQUES, GROUPS, GANGS, PODS, SERVICES, "horizontalpodautoscalers", "roles"}
    await world.delete(SETS, "gone")

    async def nothing() -> bool:
        return not [kind for kind in (SETS, *CHILDREN) if await world.ours(kind)]

    await eventually(nothing, "the end of all of it", patience=60)
    assert not await world.all(SETS)


async def test_a_group_of_its_own_size_in_every_replica(world: World) -> None:
    """What one replica of the set is scaled to is no business of the next."""
    group = a_group("sg", "w", replicas=1, least=1)
    await world.make(SETS, a_set("own", a_clique("w"), podCliqueScalingGroups=[group], replicas=2))
    await world.until_ready(2)
    await world.scale(GROUPS, "own-1-sg", 3)
    await world.until_ready(4)
    assert {name_of(one) for one in await world.ours(CLIQUES)} == {
        "own-0-sg-0-w",
        "own-1-sg-0-w",
        "own-1-sg-1-w",
        "own-1-sg-2-w",
    }
