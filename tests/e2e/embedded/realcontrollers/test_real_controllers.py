# SPDX-License-Identifier: Apache-2.0
"""The controllers and the scheduler of Kubernetes do their work on an API server that is ours."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.embedded.realcontrollers.components import real_controllers
from tests.support.cluster import OURS
from tests.support.namespaces import fresh_namespace
from tests.support.waiting import eventually
from trellis.lab.build import built
from trellis.lab.errors import LabError
from trellis.lab.source import source

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.api import Api

PATIENCE = 60.0
CONTAINERS = [{"name": "main", "image": "registry.example/a:1"}]


@pytest.fixture(scope="module", name="real")
async def _real(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Api]:
    if request.config.getoption("--cluster") not in OURS:
        pytest.skip("starts a cluster of its own, and this run is on another")
    try:
        binary = built(source(request.config.getoption("--kubernetes")))
    except LabError as error:
        pytest.fail(str(error), pytrace=False)
    async with real_controllers(binary, tmp_path_factory.mktemp("real")) as api:
        yield api


@pytest.fixture(name="where")
async def _where(real: Api) -> AsyncIterator[str]:
    async with fresh_namespace(real) as name:
        yield name


async def found(api: Api, path: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await api.do("GET", path))["items"]
    return items


async def test_a_deployment_makes_pods_that_run_and_that_go_with_it(real: Api, where: str) -> None:
    apps, pods = f"/apis/apps/v1/namespaces/{where}", f"/api/v1/namespaces/{where}/pods"
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": CONTAINERS}}
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    made = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
    await real.do("POST", f"{apps}/deployments", {**made, "spec": spec})

    async def available() -> bool:
        status = (await real.do("GET", f"{apps}/deployments/web")).get("status", {})
        return bool(status.get("availableReplicas") == 3)

    await eventually(available, "three pods to be available", PATIENCE)
    assert {pod["metadata"]["ownerReferences"][0]["kind"] for pod in await found(real, pods)} == {
        "ReplicaSet"
    }
    foreground = {"propagationPolicy": "Foreground"}
    await real.do("DELETE", f"{apps}/deployments/web", foreground)
    kept = (await real.do("GET", f"{apps}/deployments/web"))["metadata"]
    assert kept["finalizers"] == ["foregroundDeletion"]

    async def gone() -> bool:
        paths = (f"{apps}/deployments", f"{apps}/replicasets", pods)
        return not [item for path in paths for item in await found(real, path)]

    await eventually(gone, "everything to be gone", PATIENCE)


async def test_a_job_completes(real: Api, where: str) -> None:
    jobs = f"/apis/batch/v1/namespaces/{where}/jobs"
    annotations = {"sim.trellis.dev/run-seconds": "0.2"}
    pod = {"restartPolicy": "Never", "containers": CONTAINERS}
    template = {"metadata": {"annotations": annotations}, "spec": pod}
    spec = {"completions": 2, "parallelism": 2, "completionMode": "Indexed", "template": template}
    made = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once"}, "spec": spec}
    await real.do("POST", jobs, made)

    async def complete() -> bool:
        status = (await real.do("GET", f"{jobs}/once")).get("status", {})
        conditions = {one["type"]: one["status"] for one in status.get("conditions", ())}
        return conditions.get("Complete") == "True"

    await eventually(complete, "the job to complete", PATIENCE)
    status = (await real.do("GET", f"{jobs}/once"))["status"]
    assert (status["succeeded"], status["completedIndexes"]) == (2, "0,1")


async def test_a_claim_of_a_template_is_allocated_by_cel_and_bound(real: Api, where: str) -> None:
    dra = f"/apis/resource.k8s.io/v1/namespaces/{where}"
    name = f"class-{where}"
    driver = {"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}
    kind = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass"}
    classes = "/apis/resource.k8s.io/v1/deviceclasses"
    body = {**kind, "metadata": {"name": name}, "spec": {"selectors": [driver]}}
    await real.do("POST", classes, body)
    try:
        memory = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('40Gi')) > 0"
        exactly = {"deviceClassName": name, "selectors": [{"cel": {"expression": memory}}]}
        devices = {"requests": [{"name": "gpu", "exactly": {**exactly, "count": 2}}]}
        template = {"metadata": {"name": "gpus"}, "spec": {"spec": {"devices": devices}}}
        await real.do("POST", f"{dra}/resourceclaimtemplates", template)
        spec = {
            "containers": [{**CONTAINERS[0], "resources": {"claims": [{"name": "gpus"}]}}],
            "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "gpus"}],
        }
        pods = f"/api/v1/namespaces/{where}/pods"
        await real.do("POST", pods, {"metadata": {"name": "trainer"}, "spec": spec})
        running = partial(_running, real, f"{pods}/trainer")
        await eventually(running, "the pod to run", PATIENCE)
        (claim,) = await found(real, f"{dra}/resourceclaims")
        results = claim["status"]["allocation"]["devices"]["results"]
        assert len({result["device"] for result in results}) == 2
        assert claim["status"]["reservedFor"][0]["name"] == "trainer"
        await real.do("DELETE", f"{pods}/trainer", {"gracePeriodSeconds": 0})
    finally:
        await real.do("DELETE", f"{classes}/{name}")


async def _running(api: Api, path: str) -> bool:
    return bool((await api.do("GET", path))["status"]["phase"] == "Running")
