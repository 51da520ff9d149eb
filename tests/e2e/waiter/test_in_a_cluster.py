# SPDX-License-Identifier: Apache-2.0
"""The waiter in pods, as the operator puts it there, on nodes that run it; no operator at work."""

from __future__ import annotations

import asyncio
import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.e2e.embedded.nodes.simulation import simulated
from tests.support.api import Request
from tests.support.cluster import OURS, Cluster, cluster
from tests.support.namespaces import fresh_namespace
from tests.support.waiting import eventually
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.meta import encode
from trellis.lab.errors import LabError
from trellis.workloads import waiting
from trellis.workloads.outline import Parent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.api import Api

CRDS = Path(__file__).parents[3] / "deploy" / "crds"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
STRICT = "pod-security.kubernetes.io/enforce"
CONTAINER = {
    "name": "main",
    "image": "image",
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
}


@pytest.fixture(scope="module")
async def ground(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    """A cluster of these tests alone, with our definitions and nobody who acts on them."""
    target = request.config.getoption("--cluster")
    if target not in OURS:
        pytest.skip("a cluster of somebody's own may have real nodes")
    try:
        async with cluster(target, request.config.getoption("--kubernetes")) as found:
            await found.kubectl("apply", "-f", str(CRDS))
            await found.until_established()
            yield found
    except LabError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture
async def space(ground: Cluster) -> AsyncIterator[str]:
    """A namespace that takes only pods of the strictest kind."""
    async with fresh_namespace(ground.api) as name:
        labels = {"metadata": {"labels": {STRICT: "restricted"}}}
        await ground.api.do("PATCH", f"/api/v1/namespaces/{name}", labels, patch="merge")
        yield name


def cliques(namespace: str, name: str = "") -> str:
    root = f"/apis/grove.io/v1alpha1/namespaces/{namespace}/podcliques"
    return f"{root}/{name}" if name else root


async def make_clique(api: Api, namespace: str, name: str, replicas: int = 2) -> None:
    spec = {"roleName": name, "replicas": replicas, "podSpec": {"containers": [CONTAINER]}}
    body = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodClique",
        "metadata": {"name": name},
        "spec": spec,
    }
    await api.do("POST", cliques(namespace), body)


async def report(api: Api, namespace: str, name: str, ready: int) -> None:
    counts = dict.fromkeys(
        ("replicas", "updatedReplicas", "scheduleGatedReplicas", "scheduledReplicas"), 0
    )
    status = {"status": counts | {"readyReplicas": ready}}
    await api.do("PATCH", f"{cliques(namespace, name)}/status", status, patch="merge")


async def allow(api: Api, namespace: str, *names: str) -> None:
    """The rights that the operator would give, made by the same functions."""
    body = {
        "metadata": {"name": "llm", "namespace": namespace, "uid": "00000000-0000"},
        "spec": {"replicas": 1, "template": {"cliques": []}},
    }
    owning = msgspec.convert(body, PodCliqueSet)
    for kind, made in (
        ("roles", waiting.role(owning, names)),
        ("rolebindings", waiting.binding(owning, ["default"])),
    ):
        plain = json.loads(encode(made))
        # There is no such set, and the garbage collector would find that out.
        del plain["metadata"]["ownerReferences"]
        await api.do("POST", f"{RBAC}/namespaces/{namespace}/{kind}", plain)


def a_pod(*parents: Parent, **spec: Any) -> dict[str, Any]:
    plain = {"containers": [CONTAINER], **spec}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "child"},
        "spec": waiting.with_waiter(plain, parents, "registry.example/trellis:0.1.0"),
    }


async def make_pod(api: Api, namespace: str, body: dict[str, Any]) -> str:
    await api.do("POST", f"/api/v1/namespaces/{namespace}/pods", body)
    return f"/api/v1/namespaces/{namespace}/pods/child"


async def waiter_runs(api: Api, pod: str) -> bool:
    statuses = (await api.do("GET", pod))["status"].get("initContainerStatuses", [])
    return any("running" in one.get("state", {}) for one in statuses)


async def runs(api: Api, pod: str) -> bool:
    return bool((await api.do("GET", pod))["status"].get("phase") == "Running")


@pytest.mark.parametrize("automount", [True, False])
async def test_a_pod_starts_when_its_parent_is_ready_and_not_before(
    ground: Cluster, space: str, automount: bool
) -> None:
    api = ground.api
    await make_clique(api, space, "llm-0-leader")
    await allow(api, space, "llm-0-leader")
    async with simulated(ground, "tiny", 1):
        body = a_pod(Parent("llm-0-leader", 2), automountServiceAccountToken=automount)
        pod = await make_pod(api, space, body)
        await eventually(partial(waiter_runs, api, pod), "the waiter")
        await report(api, space, "llm-0-leader", 1)
        assert not await runs(api, pod)
        await report(api, space, "llm-0-leader", 2)
        await eventually(partial(runs, api, pod), "the pod")


async def test_without_the_waiter_nobody_waits(ground: Cluster, space: str) -> None:
    """What the other tests see is the waiter's doing, not that of a slow machine."""
    await make_clique(ground.api, space, "llm-0-leader")
    await allow(ground.api, space, "llm-0-leader")
    async with simulated(ground, "tiny", 1, waiters={}):
        pod = await make_pod(ground.api, space, a_pod(Parent("llm-0-leader", 2)))
        await eventually(partial(runs, ground.api, pod), "the pod")


async def test_rights_that_come_late_are_waited_for(ground: Cluster, space: str) -> None:
    api = ground.api
    await make_clique(api, space, "llm-0-leader")
    await report(api, space, "llm-0-leader", 2)
    async with simulated(ground, "tiny", 1):
        pod = await make_pod(api, space, a_pod(Parent("llm-0-leader", 2)))
        await eventually(partial(waiter_runs, api, pod), "the waiter")
        assert not await runs(api, pod)
        await allow(api, space, "llm-0-leader")
        await eventually(partial(runs, api, pod), "the pod")


async def test_its_account_may_read_its_parents_and_nothing_else(
    ground: Cluster, space: str
) -> None:
    for name in ("llm-0-leader", "llm-0-secret"):
        await make_clique(ground.api, space, name)
    await allow(ground.api, space, "llm-0-leader")
    token = (await ground.kubectl("create", "token", "default", "-n", space)).strip()
    account = ground.api.with_token(token)

    async def status(path: str) -> int:
        return (await account.send(Request(method="GET", path=path))).status

    async def allowed() -> bool:
        return await status(cliques(space, "llm-0-leader")) == 200

    await eventually(allowed, "the rights")
    by_name = f"{cliques(space)}?fieldSelector=metadata.name%3D"
    assert await status(f"{by_name}llm-0-leader") == 200
    assert await status(f"{by_name}llm-0-leader&watch=1&timeoutSeconds=1") == 200
    assert await status(f"{by_name}llm-0-secret") == 403
    assert await status(cliques(space)) == 403
    assert await status(f"/api/v1/namespaces/{space}/pods") == 403


async def test_the_token_is_in_no_other_container(ground: Cluster, space: str) -> None:
    body = a_pod(Parent("llm-0-leader", 1), automountServiceAccountToken=False)
    path = await make_pod(ground.api, space, body)
    spec = (await ground.api.do("GET", path))["spec"]
    mounts = [
        (one["name"], mount["mountPath"])
        for one in (*spec["initContainers"], *spec["containers"])
        for mount in one.get("volumeMounts", [])
    ]
    assert mounts == [(waiting.WAITER, waiting.MOUNT_PATH)]


async def test_a_mounted_account_is_not_mounted_twice(ground: Cluster, space: str) -> None:
    path = await make_pod(ground.api, space, a_pod(Parent("llm-0-leader", 1)))
    spec = (await ground.api.do("GET", path))["spec"]
    (waiter,) = spec["initContainers"]
    assert [one["mountPath"] for one in waiter["volumeMounts"]] == [waiting.MOUNT_PATH]


async def test_the_program_itself_works_against_this_server(
    ground: Cluster, space: str, tmp_path: Path
) -> None:
    """As in its image: the command, a folder with an account, and two variables."""
    await make_clique(ground.api, space, "llm-0-leader")
    await allow(ground.api, space, "llm-0-leader")
    token = (await ground.kubectl("create", "token", "default", "-n", space)).strip()
    root = f"/api/v1/namespaces/{space}/configmaps/kube-root-ca.crt"
    authority = (await ground.api.do("GET", root))["data"]["ca.crt"]
    for name, content in (("token", token), ("namespace", space), ("ca.crt", authority)):
        (tmp_path / name).write_text(content)
    host, port = ground.api.server.removeprefix("https://").rsplit(":", 1)
    process = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("trellis"),
        "wait",
        "--podcliques=llm-0-leader:2",
        env={
            "KUBERNETES_SERVICE_HOST": host,
            "KUBERNETES_SERVICE_PORT": port,
            "TRELLIS_SERVICE_ACCOUNT": str(tmp_path),
        },
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    said = [(await process.stdout.readline()).decode()]
    await report(ground.api, space, "llm-0-leader", 2)
    rest, _ = await process.communicate()
    assert process.returncode == 0
    assert "".join([*said, rest.decode()]).splitlines()[-3:] == [
        "llm-0-leader: waiting, 0 of 2 pods ready",
        "llm-0-leader: 2 of 2 pods ready",
        "all that this pod starts after is ready",
    ]
