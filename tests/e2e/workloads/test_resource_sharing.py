# SPDX-License-Identifier: Apache-2.0
"""Grove's scenario RS1: claims that pods share, on every level, through every way of scaling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.e2e.workloads.builders import a_clique, a_group, a_set
from tests.e2e.workloads.world import (
    CLAIMS,
    CLIQUES,
    GROUPS,
    PATIENCE_SECONDS,
    PODS,
    SETS,
    clique_of,
    name_of,
)
from tests.support.api import PATCHES, Request
from tests.support.namespaces import fresh_namespace
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from tests.e2e.workloads.world import Json, World

ALL, PER = "AllReplicas", "PerReplica"
# No node has such a device: claims are made and referred to all the same.
DEVICES = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "none"}}]}}


def share(name: str, scope: str, **more: Any) -> Json:
    return {"name": name, "scope": scope, **more}


def rs_test(shared: str) -> Json:
    """A claim on every level, for all and for each, with and without a filter."""
    own = ("set", "solo", "sized", "pod", "sg", "sg-each", "sg-b", "b")
    worker_a = a_clique(
        "worker-a",
        1,
        1,
        resourceSharing=[share("pod", PER), share("far", ALL, namespace=shared)],
    )
    worker_b = a_clique("worker-b", 1, 1, resourceSharing=[share("b", ALL)])
    group = a_group(
        "sga",
        "worker-b",
        replicas=2,
        least=2,
        resourceSharing=[
            share("sg", ALL),
            share("sg-each", PER),
            share("sg-b", ALL, filter={"childCliqueNames": ["worker-b"]}),
        ],
    )
    return a_set(
        "rs",
        worker_a,
        worker_b,
        podCliqueScalingGroups=[group],
        resourceClaimTemplates=[{"name": one, "templateSpec": {"spec": DEVICES}} for one in own],
        resourceSharing=[
            share("set", ALL),
            share("near", PER),
            share("solo", PER, filter={"childCliqueNames": ["worker-a"]}),
            share("sized", ALL, filter={"childScalingGroupNames": ["sga"]}),
        ],
    )


def of_replica(replica: int, group: int, pods: int = 1) -> set[str]:
    """The claims of one replica of the set, by their exact names."""
    rs = f"rs-{replica}"
    return {
        f"{rs}-near",
        f"{rs}-solo",
        *(f"{rs}-worker-a-{index}-pod" for index in range(pods)),
        f"{rs}-worker-a-all-far",
        f"{rs}-sga-all-sg",
        f"{rs}-sga-all-sg-b",
        *(f"{rs}-sga-{index}-sg-each" for index in range(group)),
        *(f"{rs}-sga-{index}-worker-b-all-b" for index in range(group)),
    }


WHOLE = {"rs-all-set", "rs-all-sized"}


async def until_claims(world: World, count: int, expected: set[str]) -> None:
    assert len(expected) == count, "as many as Grove's scenario counts"

    async def look() -> bool:
        return await world.names(CLAIMS) == expected

    await eventually(look, f"{count} claims", PATIENCE_SECONDS)


async def referred(world: World, count: int) -> dict[str, set[str]]:
    """What the pods of each PodClique refer to, once there are so many pods."""

    async def look() -> list[Json]:
        pods = await world.pods()
        return pods if len(pods) == count else []

    found: dict[str, set[str]] = {}
    for pod in await eventually(look, f"{count} pods"):
        claims = {one["resourceClaimName"] for one in pod["spec"]["resourceClaims"]}
        found.setdefault(clique_of(pod), set()).update(claims)
        (container,) = pod["spec"]["containers"]
        assert {one["name"] for one in container["resources"]["claims"]} == claims
    return found


def expected_of_a(replica: int, pods: int = 1) -> set[str]:
    rs = f"rs-{replica}"
    own = {f"{rs}-worker-a-{index}-pod" for index in range(pods)}
    return {"rs-all-set", f"{rs}-near", f"{rs}-solo", f"{rs}-worker-a-all-far", *own}


def expected_of_b(replica: int, index: int) -> set[str]:
    rs = f"rs-{replica}"
    return {
        "rs-all-set",
        "rs-all-sized",
        f"{rs}-near",
        f"{rs}-sga-all-sg",
        f"{rs}-sga-all-sg-b",
        f"{rs}-sga-{index}-sg-each",
        f"{rs}-sga-{index}-worker-b-all-b",
    }


def expected_references(replica: int, group: int, pods: int = 1) -> dict[str, set[str]]:
    members = {
        f"rs-{replica}-sga-{index}-worker-b": expected_of_b(replica, index)
        for index in range(group)
    }
    return {f"rs-{replica}-worker-a": expected_of_a(replica, pods), **members}


def owner_of(claim: Json) -> tuple[str, str]:
    (owner,) = (one for one in claim["metadata"]["ownerReferences"] if one.get("controller"))
    return owner["kind"], owner["name"]


async def make_template(world: World, namespace: str, name: str) -> None:
    path = f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaimtemplates"
    body = {"metadata": {"name": name}, "spec": {"spec": DEVICES}}
    await world.api.do("POST", path, body)


async def test_rs1_claims_follow_every_level(world: World) -> None:
    async with fresh_namespace(world.api) as shared:
        await make_template(world, shared, "far")
        await make_template(world, world.namespace, "near")
        await world.make(SETS, rs_test(shared))
        await until_claims(world, 12, WHOLE | of_replica(0, 2))
        assert await referred(world, 3) == expected_references(0, 2)
        await check_owners_and_labels(world)

        await world.scale(GROUPS, "rs-0-sga", 1)
        await until_claims(world, 10, WHOLE | of_replica(0, 1))
        assert await referred(world, 2) == expected_references(0, 1)
        await world.scale(GROUPS, "rs-0-sga", 3)
        await until_claims(world, 14, WHOLE | of_replica(0, 3))
        assert await referred(world, 4) == expected_references(0, 3)

        await world.scale(CLIQUES, "rs-0-worker-a", 2)
        await until_claims(world, 15, WHOLE | of_replica(0, 3, pods=2))
        assert await referred(world, 5) == expected_references(0, 3, pods=2)
        await world.scale(CLIQUES, "rs-0-worker-a", 1)
        await until_claims(world, 14, WHOLE | of_replica(0, 3))

        await world.scale(SETS, "rs", 2)
        await until_claims(world, 24, WHOLE | of_replica(0, 3) | of_replica(1, 2))
        assert await referred(world, 7) == expected_references(0, 3) | expected_references(1, 2)
        await world.scale(SETS, "rs", 1)
        await until_claims(world, 14, WHOLE | of_replica(0, 3))

        await check_immutable(world)
        await world.delete(SETS, "rs")
        await until_claims(world, 0, set())


async def check_owners_and_labels(world: World) -> None:
    owners = {name_of(one): owner_of(one) for one in await world.ours(CLAIMS)}
    assert owners["rs-all-set"] == owners["rs-0-near"] == ("PodCliqueSet", "rs")
    assert owners["rs-0-sga-0-sg-each"] == ("PodCliqueScalingGroup", "rs-0-sga")
    assert owners["rs-0-worker-a-0-pod"] == ("PodClique", "rs-0-worker-a")
    assert owners["rs-0-sga-1-worker-b-all-b"] == ("PodClique", "rs-0-sga-1-worker-b")
    for claim in await world.ours(CLAIMS):
        labels = claim["metadata"]["labels"]
        assert labels["app.kubernetes.io/part-of"] == "rs"
        assert labels["app.kubernetes.io/component"] == "resource-claim"


async def check_immutable(world: World) -> None:
    patch: Json = {"spec": {"template": {"resourceSharing": []}}}
    request = Request(
        method="PATCH",
        path=world.path(SETS, "rs"),
        body=patch,
        headers={"Content-Type": PATCHES["merge"]},
    )
    answer = await world.api.send(request)
    assert answer.status in (403, 422)
    assert "immutable" in answer.body["message"]


async def test_a_template_that_comes_late_is_waited_for(world: World) -> None:
    late = a_clique("worker", 1, resourceSharing=[share("late", ALL)])
    await world.make(SETS, a_set("rs", late))

    async def told() -> bool:
        statuses = [one.get("status", {}) for one in await world.all(CLIQUES)]
        conditions = [one for status in statuses for one in status.get("conditions", [])]
        return any("late" in one["message"] for one in conditions)

    await eventually(told, "the missing template to be named")
    assert not await world.all(PODS)
    await make_template(world, world.namespace, "late")
    await until_claims(world, 1, {"rs-0-worker-all-late"})
    assert await referred(world, 1) == {"rs-0-worker": {"rs-0-worker-all-late"}}
