# SPDX-License-Identifier: Apache-2.0
"""What exactly is made: names, labels, variables, who gets whose template, what status says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.workloads.builders import (
    IN_ORDER,
    a_clique,
    a_group,
    a_pod_spec,
    a_set,
    workload1,
    workload2,
)
from tests.e2e.workloads.world import (
    CLIQUES,
    GANGS,
    GROUPS,
    SERVICES,
    SETS,
    clique_of,
    condition,
    is_true,
    name_of,
)
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from tests.e2e.workloads.world import Json, World


def image(name: str) -> dict[str, Any]:
    container = {"name": "main", "image": f"registry.example/{name}:1"}
    return {"podSpec": a_pod_spec(containers=[container])}


async def test_names_that_end_or_begin_alike_are_never_mixed_up(world: World) -> None:
    """Upstream matches by suffix, and its waiters by prefix."""
    names = ("worker", "gpu-worker", "worker-gpu", "a-worker")
    body = a_set(
        "mix", *(a_clique(one, 1, **image(one)) for one in names), cliqueStartupType=IN_ORDER
    )
    await world.make(SETS, body)
    for pod in await world.until_ready(4):
        clique = clique_of(pod).removeprefix("mix-0-")
        assert pod["spec"]["containers"][0]["image"] == f"registry.example/{clique}:1"
        before = names[names.index(clique) - 1] if clique != names[0] else ""
        arguments = [one["args"] for one in pod["spec"].get("initContainers", [])]
        assert arguments == ([[f"--podcliques=mix-0-{before}:1"]] if before else [])


async def test_a_set_may_be_called_default(world: World) -> None:
    """Upstream's service account of that name would be the namespace's own."""
    before = await world.get("serviceaccounts", "default")
    await world.make(SETS, a_set("default", a_clique("w", 2)))
    await world.until_ready(2)
    await world.until_up("default")
    after = await world.get("serviceaccounts", "default")
    assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param(a_set("bad", a_clique("a.b")), "cliques[0].name", id="a dot in a name"),
        pytest.param(
            a_set(
                "bad",
                a_clique("a", startsAfter=["b"]),
                cliqueStartupType="CliqueStartupTypeExplicit",
            ),
            "startsAfter",
            id="after nobody",
        ),
        pytest.param(
            a_set(
                "bad",
                a_clique("a", startsAfter=["b"]),
                a_clique("b", startsAfter=["a"]),
                cliqueStartupType="CliqueStartupTypeExplicit",
            ),
            "startsAfter",
            id="in a circle",
        ),
        pytest.param(a_set("bad", a_clique("a", 1, 2)), "minAvailable", id="more than all"),
    ],
)
async def test_what_cannot_work_is_refused_with_the_field(
    world: World, body: Json, said: str
) -> None:
    answer = await world.refused(SETS, body)
    assert said in answer.body["message"]


async def test_pods_know_their_place(world: World) -> None:
    await world.make(SETS, workload2())
    pods = await world.until_ready(10)
    pod = next(one for one in pods if name_of(one).startswith("wl-0-sg-x-1-pc-c-2-"))
    labels = pod["metadata"]["labels"]
    expected = {
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": "wl",
        "grove.io/podclique": "wl-0-sg-x-1-pc-c",
        "grove.io/podgang": "wl-0-sg-x-0",
        "grove.io/base-podgang": "wl-0",
        "grove.io/podcliqueset-replica-index": "0",
        "grove.io/podcliquescalinggroup": "wl-0-sg-x",
        "grove.io/podcliquescalinggroup-replica-index": "1",
        "grove.io/podclique-pod-index": "2",
        "grove.io/podcliquescalinggroup-pod-index": "3",
        "grove.io/pcs-name": "wl",
        "grove.io/pcs-replica-index": "0",
        "grove.io/pcsg-name": "sg-x",
        "grove.io/pcsg-replica-index": "1",
        "grove.io/clique-name": "pc-c",
    }
    assert expected.items() <= labels.items()
    assert pod["spec"]["hostname"] == "wl-0-sg-x-1-pc-c-2"
    assert pod["spec"]["subdomain"] == "wl-0"
    env = {one["name"]: one.get("value") for one in pod["spec"]["containers"][0]["env"]}
    assert env["GROVE_PCS_NAME"] == "wl"
    assert env["GROVE_PCLQ_NAME"] == "wl-0-sg-x-1-pc-c"
    assert env["GROVE_PCSG_TEMPLATE_NUM_PODS"] == "4"
    host = f"wl-0.{world.namespace}.svc.cluster.local"
    assert env["GROVE_HEADLESS_SERVICE"] == host
    assert {
        "GROVE_PCS_INDEX",
        "GROVE_PCLQ_POD_INDEX",
        "GROVE_PCSG_NAME",
        "GROVE_PCSG_INDEX",
    } <= set(env)
    assert "GROVE_PCSG_POD_INDEX" in env


async def test_gangs_hold_who_must_start_together(world: World) -> None:
    await world.make(SETS, workload1())
    pods = await world.until_ready(10)
    (gang,) = await world.ours(GANGS)
    groups = {one["name"]: one for one in gang["spec"]["podgroups"]}
    assert {name: one["minReplicas"] for name, one in groups.items()} == {
        "wl-0-pc-a": 2,
        "wl-0-sg-x-0-pc-b": 1,
        "wl-0-sg-x-0-pc-c": 3,
        "wl-0-sg-x-1-pc-b": 1,
        "wl-0-sg-x-1-pc-c": 3,
    }
    listed = {one["name"] for two in groups.values() for one in two["podReferences"]}
    assert listed == {name_of(pod) for pod in pods}


async def test_status_tells_the_truth_at_every_level(world: World) -> None:
    await world.make(SETS, workload2())
    await world.until_ready(10)

    def well(found: Json) -> bool:
        status = found["status"]
        return bool(
            status.get("observedGeneration") == found["metadata"]["generation"]
            and (status["replicas"], status["availableReplicas"]) == (1, 1)
            and is_true(found, "Ready")
            and not is_true(found, "Reconciling")
            and not is_true(found, "Stalled")
        )

    await world.until(SETS, "wl", well, "to be available")

    def both_run(found: Json) -> bool:
        gangs = {(one["name"], one["phase"]) for one in found["status"]["podGangStatuses"]}
        return gangs == {("wl-0", "Running"), ("wl-0-sg-x-0", "Running")}

    await world.until(SETS, "wl", both_run, "two gangs that run")
    group = await world.until(
        GROUPS, "wl-0-sg-x", lambda one: one["status"]["availableReplicas"] == 2, "both replicas"
    )
    assert group["status"]["scheduledReplicas"] == group["status"]["replicas"] == 2
    clique = await world.get(CLIQUES, "wl-0-pc-a")
    assert condition(clique, "PodCliqueScheduled")["reason"] == "SufficientScheduledPods"
    assert condition(clique, "MinAvailableBreached")["status"] == "False"
    for gang in await world.ours(GANGS):
        assert gang["status"]["phase"] == "Running"
        assert is_true(gang, "Scheduled")
        assert is_true(gang, "Ready")


async def test_a_scaled_gang_waits_for_its_base_gang(world: World) -> None:
    await world.cordon()
    await world.make(SETS, workload2())

    async def all_there() -> list[Json]:
        pods = await world.pods()
        base_free = [one for one in pods if not one["spec"].get("schedulingGates")]
        return pods if len(pods) == 10 and len(base_free) == 6 else []

    pods = await eventually(all_there, "ten pods, six of them free to go")
    held = {clique_of(pod) for pod in pods if pod["spec"].get("schedulingGates")}
    assert held == {"wl-0-sg-x-1-pc-b", "wl-0-sg-x-1-pc-c"}
    await world.uncordon()
    await world.until_ready(10)


async def test_a_service_for_each_replica_and_none_too_many(world: World) -> None:
    await world.make(SETS, a_set("svc", a_clique("w"), replicas=3))
    await world.until_ready(3)
    assert await world.names(SERVICES) == {"svc-0", "svc-1", "svc-2"}
    service = await world.get(SERVICES, "svc-1")
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"] is True
    assert service["spec"]["selector"]["grove.io/podcliqueset-replica-index"] == "1"
    await world.scale(SETS, "svc", 1)
    await world.until_count(SERVICES, 1)


async def test_a_missing_priority_class_is_told_and_waited_for(world: World) -> None:
    name = f"late-{world.namespace}"
    await world.make(SETS, a_set("urgent", a_clique("w"), priorityClassName=name))

    def told(found: Json) -> bool:
        conditions = found.get("status", {}).get("conditions", [])
        return any(name in one["message"] and one["status"] == "True" for one in conditions)

    await world.until(SETS, "urgent", told, "the missing class to be named")
    async with world.priority_class(name):
        (pod,) = await world.until_ready(1)
        assert pod["spec"]["priorityClassName"] == name
        (gang,) = await world.ours(GANGS)
        assert gang["spec"]["priorityClassName"] == name


async def test_columns_say_how_it_is(world: World) -> None:
    group = a_group("sg", "w", replicas=2, least=1)
    await world.make(SETS, a_set("cols", a_clique("w"), podCliqueScalingGroups=[group]))
    await world.until_ready(2)
    # Of a PodClique, upstream has the number of ready pods there.
    for kind, ready in (("pcs", "True"), ("pcsg", "True"), ("pg", "True"), ("pclq", "1")):

        async def told(kind: str = kind, ready: str = ready) -> bool:
            printed = await world.cluster.kubectl("get", kind, "-n", world.namespace)
            header, *rows = (line.split() for line in printed.splitlines())
            assert "REASON" in header
            column = header.index("READY")
            return bool(rows) and all(row[column] == ready for row in rows)

        await eventually(told, f"every {kind} to be told as ready")
