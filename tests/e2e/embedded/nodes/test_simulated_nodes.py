# SPDX-License-Identifier: Apache-2.0
"""The simulated nodes under the real control plane: its scheduler, its controllers, its kubectl."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tests.e2e.embedded.nodes.simulation import a_client, simulated
from tests.support.nodes import NODES
from tests.support.waiting import eventually
from trellis.embedded.nodes import injecting
from trellis.embedded.nodes.faults import NodeFault
from trellis.embedded.nodes.tending import Graces

if TYPE_CHECKING:
    from tests.support.api import Api
    from tests.support.cluster import Cluster

SLICES = "/apis/resource.k8s.io/v1/resourceslices"
FIRST = "tiny-r001-n01"


def a_template(*, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"labels": {"app": "story"}, "annotations": annotations or {}},
        "spec": {"containers": [{"name": "main", "image": "image"}], **spec},
    }


async def ready_nodes(api: Api) -> list[str]:
    items = (await api.do("GET", NODES))["items"]
    return [
        node["metadata"]["name"]
        for node in items
        if not node["spec"].get("taints")
        and any(
            one["type"] == "Ready" and one["status"] == "True"
            for one in node["status"]["conditions"]
        )
    ]


async def phase(api: Api, path: str) -> str:
    return str((await api.do("GET", path))["status"].get("phase"))


async def is_in(api: Api, path: str, *phases: str) -> bool:
    return await phase(api, path) in phases


async def test_two_hundred_nodes_come_and_go(cluster: Cluster, api: Api) -> None:
    async with simulated(cluster, "dgx-1k", 200):
        assert len(await ready_nodes(api)) == 200
        assert len((await api.do("GET", SLICES))["items"]) == 200
        printed = await cluster.kubectl("describe", "node", "dgx-r001-n01")
        assert "nvidia.com/gpu:     8" in printed
        assert "Kubelet Version:            v1.36.3" in printed
    assert (await api.do("GET", NODES))["items"] == []
    assert (await api.do("GET", SLICES))["items"] == []
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    assert (await api.do("GET", leases))["items"] == []


async def test_a_deployment_becomes_available_and_goes(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    deployments = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    spec = {
        "replicas": 12,
        "selector": {"matchLabels": {"app": "story"}},
        "template": a_template(annotations={"sim.trellis.dev/ready-delay": "0.2"}),
    }
    async with simulated(cluster, "tiny"):
        await api.do("POST", deployments, {"metadata": {"name": "story"}, "spec": spec})

        async def available() -> bool:
            status = (await api.do("GET", f"{deployments}/story"))["status"]
            return bool(status.get("availableReplicas") == 12)

        await eventually(available, "all twelve available")
        await api.do("DELETE", f"{deployments}/story")
        pods = f"/api/v1/namespaces/{namespace}/pods"

        async def none_left() -> bool:
            return not (await api.do("GET", pods))["items"]

        await eventually(none_left, "the pods gone")


async def test_a_job_succeeds_after_a_failure(cluster: Cluster, api: Api, namespace: str) -> None:
    jobs = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    annotations = {
        "sim.trellis.dev/run-seconds": "0.3",
        "sim.trellis.dev/crash-after": "0.1",
        "sim.trellis.dev/crash-times": "1",
    }
    template = a_template(annotations=annotations, restartPolicy="OnFailure")
    async with simulated(cluster, "tiny"):
        body = {"metadata": {"name": "story"}, "spec": {"completions": 3, "template": template}}
        await api.do("POST", jobs, body)

        async def complete() -> bool:
            status = (await api.do("GET", f"{jobs}/story"))["status"]
            return bool(status.get("succeeded") == 3)

        await eventually(complete, "three successes")
        pods = (await api.do("GET", f"/api/v1/namespaces/{namespace}/pods"))["items"]
        counts = [pod["status"]["containerStatuses"][0]["restartCount"] for pod in pods]
        assert counts == [1, 1, 1]


async def test_a_claim_from_a_template_is_allocated_from_our_slices(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    selector = {"cel": {"expression": SELECTOR}}
    request = {
        "name": "gpu",
        "exactly": {"deviceClassName": "sim-story", "selectors": [selector], "count": 2},
    }
    classes = "/apis/resource.k8s.io/v1/deviceclasses"
    ours = {"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}
    await api.do(
        "POST", classes, {"metadata": {"name": "sim-story"}, "spec": {"selectors": [ours]}}
    )
    templates = f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaimtemplates"
    claim = {"spec": {"devices": {"requests": [request]}}}
    await api.do("POST", templates, {"metadata": {"name": "two"}, "spec": claim})
    pods = f"/api/v1/namespaces/{namespace}/pods"
    wish = [{"name": "gpu", "resourceClaimTemplateName": "two"}]
    try:
        async with simulated(cluster, "tiny"):
            for number in range(9):
                template = a_template(resourceClaims=wish)
                await api.do("POST", pods, {**template, "metadata": {"name": f"story-{number}"}})

            async def running() -> int:
                items = (await api.do("GET", pods))["items"]
                return sum(pod["status"].get("phase") == "Running" for pod in items)

            async def eight() -> bool:
                return await running() == 8

            # Sixteen cards in all: the ninth pair is not there.
            await eventually(eight, "eight pods with two cards each")
    finally:
        await api.do("DELETE", f"{classes}/sim-story")


SELECTOR = (
    "device.attributes['gpu.nvidia.com'].architecture == 'Ampere'"
    " && device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('40Gi')) > 0"
    " && device.attributes['gpu.nvidia.com'].driverVersion.isGreaterThan(semver('550.0.0'))"
)


async def test_a_silent_node_is_unknown_its_pods_unready_and_both_recover(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"

    async def condition(path: str, type_: str) -> str:
        conditions = (await api.do("GET", path))["status"].get("conditions", [])
        return next((str(one["status"]) for one in conditions if one["type"] == type_), "")

    async def holds(path: str, status: str) -> bool:
        return await condition(path, "Ready") == status

    graces = Graces(unheard=0.5, untaint=0.5)
    async with simulated(cluster, "tiny", 1, graces=graces), a_client(cluster) as client:
        await api.do("POST", pods, {**a_template(), "metadata": {"name": "story"}})
        pod, node = f"{pods}/story", f"{NODES}/{FIRST}"
        await eventually(partial(holds, pod, "True"), "the pod ready")
        await injecting.strike_node(client, FIRST, NodeFault(vanish=True))
        await eventually(partial(holds, node, "Unknown"), "the node unknown")
        await eventually(partial(holds, pod, "False"), "the pod unready")
        await injecting.heal_node(client, FIRST)
        await eventually(partial(holds, node, "True"), "the node ready")
        await eventually(partial(holds, pod, "True"), "the pod ready again")

        async def free() -> bool:
            return FIRST in await ready_nodes(api)

        await eventually(free, "the taints gone")
