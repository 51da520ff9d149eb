# SPDX-License-Identifier: Apache-2.0
"""What comes back by itself: pods that fail, children that somebody deletes, edits that reach all
of them; and what is never touched."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.embedded.nodes.simulation import a_client
from tests.e2e.workloads.builders import (
    IN_ORDER,
    SHORT_DELAY,
    a_clique,
    a_group,
    a_pod_spec,
    a_set,
    workload2,
)
from tests.e2e.workloads.world import (
    CLIQUES,
    GANGS,
    GROUPS,
    PODS,
    SERVICES,
    SETS,
    clique_of,
    condition,
    is_ready,
    is_true,
    name_of,
    uid_of,
)
from tests.support.waiting import eventually
from trellis.api.meta import Key
from trellis.embedded.nodes import injecting
from trellis.embedded.nodes.faults import PodFault

if TYPE_CHECKING:
    from tests.e2e.workloads.world import Json, World

AUTOSCALERS = "horizontalpodautoscalers"
POD_INDEX = "grove.io/podclique-pod-index"
SCALING: Json = {
    "minReplicas": 1,
    "maxReplicas": 4,
    "metrics": [
        {
            "type": "Resource",
            "resource": {
                "name": "cpu",
                "target": {"type": "Utilization", "averageUtilization": 80},
            },
        }
    ],
}


def index_of(pod: Json) -> str:
    return str(pod["metadata"]["labels"][POD_INDEX])


async def until_replaced(world: World, lost: Json, count: int) -> Json:
    """The one that has its index now."""

    async def look() -> list[Json]:
        pods = await world.pods()
        there = uid_of(lost) not in {uid_of(pod) for pod in pods}
        return pods if there and len(pods) == count and all(map(is_ready, pods)) else []

    pods = await eventually(look, f"{name_of(lost)} to be replaced")
    (found,) = (
        pod for pod in pods if (clique_of(pod), index_of(pod)) == (clique_of(lost), index_of(lost))
    )
    return found


async def test_an_evicted_pod_is_replaced(world: World) -> None:
    await world.make(SETS, a_set("heal", a_clique("w", 2, 1)))
    lost, _ = await world.until_ready(2)
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name_of(lost), "namespace": world.namespace},
    }
    await world.api.do("POST", world.path(PODS, name_of(lost), "eviction"), eviction)
    found = await until_replaced(world, lost, 2)
    assert found["spec"]["hostname"] == lost["spec"]["hostname"]


def slow(**annotations: str) -> Json:
    """A set whose pods take their time to end."""
    spec = a_pod_spec(terminationGracePeriodSeconds=30)
    delay = {"sim.trellis.dev/stop-delay": "4s", **annotations}
    return a_set("heal", a_clique("w", 1, podSpec=spec, annotations=delay))


async def test_a_pod_that_hangs_is_replaced_before_it_is_gone(world: World) -> None:
    await world.make(SETS, slow())
    (lost,) = await world.until_ready(1)
    await world.kill([lost])
    found = await until_replaced(world, lost, 1)
    assert uid_of(lost) in {uid_of(pod) for pod in await world.all(PODS)}, "it still hangs"
    assert found["spec"]["hostname"] == lost["spec"]["hostname"]
    assert name_of(found) != name_of(lost)


async def test_the_host_name_stands_for_both_until_the_old_one_is_gone(world: World) -> None:
    """So is published by the Service, which also has pods that are not ready yet."""
    if world.cluster.embedded is not None:
        pytest.skip("the embedded cluster has no EndpointSlices, and no DNS that would read them")
    await world.make(SETS, slow())
    (lost,) = await world.until_ready(1)
    await world.kill([lost])
    await until_replaced(world, lost, 1)

    async def published(count: int) -> bool:
        slices = await world.all("endpointslices", "kubernetes.io/service-name=heal-0")
        found = [one for two in slices for one in two["endpoints"]]
        ready = [one for one in found if one["conditions"]["ready"]]
        return [one["hostname"] for one in ready] == ["heal-0-w-0"] * count

    await eventually(partial(published, 2), "both addresses")
    await world.until_gone([lost])
    await eventually(partial(published, 1), "one address")


async def test_a_replacement_waits_for_the_departure_where_that_is_asked(world: World) -> None:
    await world.make(SETS, slow(**{"trellis.dev/replace-after-departure": "true"}))
    (lost,) = await world.until_ready(1)
    await world.kill([lost])

    async def replaced() -> bool:
        there = {uid_of(pod) for pod in await world.all(PODS)}
        assert len(there) <= 1, "two pods of one index at once"
        return bool(there) and uid_of(lost) not in there

    await eventually(replaced, "the replacement")
    await world.until_ready(1)


async def test_a_failed_pod_is_replaced(world: World) -> None:
    """Upstream counts it as there for ever."""
    spec = a_pod_spec(restartPolicy="Never")
    await world.make(SETS, a_set("heal", a_clique("w", 2, 1, podSpec=spec)))
    lost, _ = await world.until_ready(2)
    async with a_client(world.cluster) as client:
        fault = PodFault(at=client.clock.now(), exit_code=1, reason="Error")
        await injecting.strike_pod(client, Key(world.namespace, name_of(lost)), fault)
    await until_replaced(world, lost, 2)


async def test_a_pod_that_ended_well_is_not_started_again(world: World) -> None:
    spec = a_pod_spec(restartPolicy="Never")
    done = a_clique(
        "job", 2, 1, podSpec=spec, annotations={"sim.trellis.dev/run-seconds": "main=1"}
    )
    await world.make(SETS, a_set("heal", done))

    async def ended() -> list[Json]:
        pods = await world.all(PODS)
        return pods if [one["status"].get("phase") for one in pods] == ["Succeeded"] * 2 else []

    pods = await eventually(ended, "the end of both")
    await world.scale(CLIQUES, "heal-0-job", 3)

    async def third() -> list[Json]:
        found = await world.all(PODS)
        return found if len(found) == 3 else []

    found = await eventually(third, "a third one")
    assert {uid_of(pod) for pod in pods} < {uid_of(pod) for pod in found}
    assert sorted(map(index_of, found)) == ["0", "1", "2"]


def everything() -> Json:
    cliques = (
        a_clique("a", 1, 1, autoScalingConfig=SCALING),
        a_clique("b", 1, 1),
        a_clique("c", 1, 1),
    )
    group = a_group("sg", "b", "c", replicas=2, least=1, scaleConfig=SCALING)
    return a_set("heal", *cliques, podCliqueScalingGroups=[group], cliqueStartupType=IN_ORDER)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(SERVICES, "heal-0", id="service"),
        pytest.param(AUTOSCALERS, "heal-0-a", id="autoscaler of a clique"),
        pytest.param(AUTOSCALERS, "heal-0-sg", id="autoscaler of a group"),
        pytest.param("roles", "grove.io:pcs:heal", id="role"),
        pytest.param("rolebindings", "grove.io:pcs:heal", id="role binding"),
        pytest.param(GANGS, "heal-0", id="base gang"),
        pytest.param(GANGS, "heal-0-sg-0", id="scaled gang"),
        pytest.param(CLIQUES, "heal-0-a", id="clique"),
        pytest.param(CLIQUES, "heal-0-sg-0-b", id="clique of a group"),
        pytest.param(GROUPS, "heal-0-sg", id="group"),
    ],
)
async def test_a_deleted_child_comes_back(world: World, kind: str, name: str) -> None:
    await world.make(SETS, everything())
    await world.until_ready(5)
    lost = uid_of(await world.until(kind, name, bool, "to be made"))
    await world.delete(kind, name)
    await world.until(kind, name, lambda found: uid_of(found) != lost, "another one")
    await world.until_ready(5)
    await world.until_up("heal")


async def test_a_gang_that_comes_back_keeps_its_pods(world: World) -> None:
    await world.make(SETS, everything())
    pods = await world.until_ready(5)
    await world.delete(GANGS, "heal-0")

    def relisted(found: Json) -> bool:
        listed = [one["name"] for two in found["spec"]["podgroups"] for one in two["podReferences"]]
        ours = [name_of(pod) for pod in pods if "sg-1" not in clique_of(pod)]
        return sorted(listed) == sorted(ours)

    await world.until(GANGS, "heal-0", relisted, "the same pods in it")
    assert {uid_of(pod) for pod in pods} == await world.uids()


@pytest.mark.parametrize("part", ["labels", "annotations"])
async def test_an_edit_of_metadata_alone_reaches_the_gangs(world: World, part: str) -> None:
    await world.make(SETS, workload2())
    await world.until_ready(10)
    queue = {"kai.scheduler/queue": "other"}
    await world.patch(SETS, "wl", {"metadata": {part: queue}})
    for gang in ("wl-0", "wl-0-sg-x-0"):
        edited = lambda found: queue.items() <= found["metadata"].get(part, {}).items()  # noqa: E731
        await world.until(GANGS, gang, edited, "the queue")


async def test_what_others_put_on_a_gang_stays(world: World) -> None:
    await world.make(SETS, workload2())
    pods = await world.until_ready(10)
    foreign = {
        "type": "example.com/Seen",
        "status": "True",
        "reason": "Seen",
        "message": "by somebody else",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    mark = {"metadata": {"annotations": {"example.com/mark": "mine"}}}
    await world.patch(GANGS, "wl-0", mark)
    ready = await world.until(GANGS, "wl-0", partial(is_true, kind="Ready"), "to be ready")
    present = ready["status"]["conditions"]
    await world.patch(GANGS, "wl-0", {"status": {"conditions": [*present, foreign]}}, "status")
    lost = next(pod for pod in pods if clique_of(pod) == "wl-0-pc-a")
    await world.kill([lost])
    await until_replaced(world, lost, 10)
    gang = await world.until(GANGS, "wl-0", partial(is_true, kind="Ready"), "ready again")
    assert condition(gang, "example.com/Seen") == foreign
    assert gang["metadata"]["annotations"]["example.com/mark"] == "mine"


async def test_an_object_of_somebody_else_is_not_touched(world: World) -> None:
    mine = {
        "metadata": {"name": "heal-0"},
        "spec": {"ports": [{"port": 80}], "selector": {"app": "mine"}},
    }
    before = await world.make(SERVICES, mine)
    await world.make(SETS, a_set("heal", a_clique("w")))

    def told(found: Json) -> bool:
        return any(
            one["reason"] == "NameConflict" for one in found.get("status", {}).get("conditions", [])
        )

    await world.until(SETS, "heal", told, "the conflict to be told")
    after = await world.get(SERVICES, "heal-0")
    assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
    await world.delete(SERVICES, "heal-0")
    ours = lambda found: found["spec"].get("clusterIP") == "None"  # noqa: E731
    await world.until(SERVICES, "heal-0", ours, "our own one")
    await world.until(SETS, "heal", lambda found: not told(found), "no conflict any more")


async def test_a_breach_of_one_replica_is_no_business_of_the_next(world: World) -> None:
    body = a_set("heal", a_clique("w", 2, 2), replicas=2, terminationDelay=SHORT_DELAY)
    await world.make(SETS, body)
    pods = await world.until_ready(4)
    await world.until_up("heal")
    zero = [pod for pod in pods if clique_of(pod) == "heal-0-w"]
    await world.cordon()
    await world.kill(zero[:1])
    await world.until_gone(zero)
    others = {uid_of(pod) for pod in pods} - {uid_of(pod) for pod in zero}
    assert others <= await world.uids()


def gates_of(pod: Json) -> list[Any]:
    return [one["name"] for one in pod["spec"].get("schedulingGates", [])]


async def test_gates_of_users_are_theirs_to_lift(world: World) -> None:
    spec = a_pod_spec(schedulingGates=[{"name": "example.com/quota"}])
    await world.make(SETS, a_set("heal", a_clique("w", 1, podSpec=spec)))

    async def only_theirs() -> list[Json]:
        pods = await world.pods()
        return pods if [gates_of(pod) for pod in pods] == [["example.com/quota"]] else []

    (pod,) = await eventually(only_theirs, "our own gate to be lifted")
    await world.patch(PODS, name_of(pod), {"spec": {"schedulingGates": []}})
    await world.until_ready(1)
