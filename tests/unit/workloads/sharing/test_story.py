# SPDX-License-Identifier: Apache-2.0
"""Shared claims through the life of a set, with all controllers at work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.virtual import virtual
from tests.unit.workloads.kubelets import kubelets
from tests.unit.workloads.sharing.sets import a_sharing_body, a_spec
from tests.unit.workloads.stage import a_stage
from trellis.api.core.pod import Pod
from trellis.api.core.resourceclaim import ResourceClaim, ResourceClaimTemplate
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.meta import Resource
from trellis.workloads.podclique.reconciler import controller as podclique
from trellis.workloads.podcliqueset.reconciler import controllers as podcliqueset
from trellis.workloads.podgang.reconciler import controller as podgang
from trellis.workloads.scalinggroup.reconciler import controller as podcliquescalinggroup

if TYPE_CHECKING:
    from tests.unit.workloads.stage import Stage

Json = dict[str, Any]

NAMESPACES = Resource("", "v1", "Namespace", "namespaces", namespaced=False)
CONTROLLERS = (podcliqueset, podcliquescalinggroup, podgang, podclique)
OF_SET = ["rs-all-int-1", "rs-all-int-3"]


def of_replica(replica: int, group: int, pods: int = 1) -> list[str]:
    """The claims of one replica of the set, by the replicas of its group and its pods."""
    above = f"rs-{replica}"
    return [
        f"{above}-ext",
        f"{above}-int-2",
        f"{above}-alone-all-far",
        *(f"{above}-alone-{pod}-int-4" for pod in range(pods)),
        f"{above}-pd-all-int-2",
        f"{above}-pd-all-int-6",
        *(f"{above}-pd-{index}-int-3" for index in range(group)),
        *(f"{above}-pd-{index}-worker-all-int-5" for index in range(group)),
    ]


def used(in_replica: str, *of_set: str) -> list[str]:
    return sorted([*of_set, *(f"rs-0-{name}" for name in in_replica.split())])


async def templates(stage: Stage) -> None:
    await stage.make(NAMESPACES, {"metadata": {"name": "other"}})
    near = {"metadata": {"name": "ext"}, "spec": a_spec("near")}
    await stage.make(ResourceClaimTemplate, near)
    far = {"metadata": {"name": "far"}, "spec": a_spec("far")}
    await stage.client.of(ResourceClaimTemplate.resource, dict, "other").create(
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", **far}
    )


async def claimed(stage: Stage) -> dict[str, list[str]]:
    """What each pod uses, by its PodClique. Every container of it says the same."""
    found = {}
    for pod in await stage.all(Pod):
        used = [one["resourceClaimName"] for one in pod["spec"].get("resourceClaims", [])]
        for container in pod["spec"]["containers"]:
            assert [one["name"] for one in container["resources"]["claims"]] == used
        found[pod["metadata"]["labels"]["grove.io/podclique"]] = sorted(used)
    return found


@virtual
async def test_claims_follow_whatever_is_scaled_and_go_with_the_set() -> None:
    stage = await a_stage()
    await templates(stage)
    await stage.make(PodCliqueSet, a_sharing_body())

    async def has(*expected: list[str]) -> None:
        await stage.settle(30)
        wanted = sorted(name for names in (OF_SET, *expected) for name in names)
        assert await stage.names(ResourceClaim) == wanted

    async def scale(kind: type[Any], name: str, count: int) -> None:
        await stage.patch(kind, name, {"spec": {"replicas": count}})

    async with stage.collector(), kubelets(stage), stage.operator(*CONTROLLERS):
        await has(of_replica(0, group=2))
        assert await claimed(stage) == {
            "rs-0-alone": used("ext int-2 alone-0-int-4 alone-all-far", "rs-all-int-1"),
            **{
                f"rs-0-pd-{index}-helper": used(f"ext pd-all-int-2 pd-{index}-int-3", *OF_SET)
                for index in (0, 1)
            },
            **{
                f"rs-0-pd-{index}-worker": used(
                    f"ext pd-all-int-2 pd-{index}-int-3 pd-all-int-6 pd-{index}-worker-all-int-5",
                    *OF_SET,
                )
                for index in (0, 1)
            },
        }
        await scale(PodCliqueScalingGroup, "rs-0-pd", 1)
        await has(of_replica(0, group=1))
        await scale(PodCliqueScalingGroup, "rs-0-pd", 3)
        await has(of_replica(0, group=3))
        await scale(PodClique, "rs-0-alone", 2)
        await has(of_replica(0, group=3, pods=2))
        await scale(PodClique, "rs-0-alone", 1)
        await has(of_replica(0, group=3))
        await scale(PodCliqueSet, "rs", 2)
        await has(of_replica(0, group=3), of_replica(1, group=2))
        await scale(PodCliqueSet, "rs", 1)
        await has(of_replica(0, group=3))
        stage.forget()
        await stage.settle(60)
        assert stage.writes() == []
        await stage.delete(PodCliqueSet, "rs")
        await stage.settle(30)
        assert await stage.names(ResourceClaim) == []
        assert await stage.names(Pod) == []


@virtual
async def test_no_pod_uses_a_claim_of_somebody_else_under_our_name() -> None:
    """Of the set, or of a scaling group: whoever holds the name could choose devices for others."""
    stage = await a_stage()
    await templates(stage)
    for name in ("rs-all-int-1", "rs-0-pd-all-int-2"):
        await stage.make(ResourceClaim, {"metadata": {"name": name}, "spec": a_spec("theirs")})
    await stage.make(PodCliqueSet, a_sharing_body())

    async with stage.collector(), kubelets(stage), stage.operator(*CONTROLLERS):
        await stage.settle(60)
        theirs = {"rs-all-int-1", "rs-0-pd-all-int-2"}
        assert all(theirs.isdisjoint(names) for names in (await claimed(stage)).values())
        assert (await stage.conditions(PodCliqueSet, "rs"))["Stalled"] == ("True", "NameConflict")
        waiting = await stage.message(PodClique, "rs-0-pd-0-worker", "Ready")
        assert waiting.startswith("ResourceClaim rs-")
        for name in sorted(theirs):
            await stage.delete(ResourceClaim, name)
        await stage.settle(60)
        assert (await stage.conditions(PodCliqueSet, "rs"))["Ready"][0] == "True"


@virtual
async def test_claims_come_when_their_template_does() -> None:
    stage = await a_stage()
    await stage.make(PodCliqueSet, a_sharing_body())

    async with stage.collector(), kubelets(stage), stage.operator(*CONTROLLERS):
        await stage.settle(30)
        late = {name for name in of_replica(0, group=2) if name.endswith(("ext", "far"))}
        assert late.isdisjoint(await stage.names(ResourceClaim))
        conditions = await stage.conditions(PodCliqueSet, "rs")
        assert conditions["Stalled"] == ("True", "ClaimTemplateMissing")
        alone = await stage.conditions(PodClique, "rs-0-alone")
        assert alone["Stalled"] == ("True", "ClaimTemplateMissing")

        await templates(stage)
        await stage.settle(30)
        assert late <= set(await stage.names(ResourceClaim))
        conditions = await stage.conditions(PodCliqueSet, "rs")
        assert (conditions["Ready"][0], conditions["Stalled"][0]) == ("True", "False")
