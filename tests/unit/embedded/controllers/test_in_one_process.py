# SPDX-License-Identifier: Apache-2.0
"""All controllers on an embedded API server, without sockets and in virtual time."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.virtual import VirtualClock, dice, virtual
from trellis.api.meta import Resource
from trellis.embedded.controllers.means import Options
from trellis.embedded.controllers.run import ALL, MANAGER, UnknownController, controllers
from trellis.embedded.core.cluster import ADMIN, Cluster, Settings
from trellis.embedded.core.transport import InProcess
from trellis.kube.client import Client
from trellis.kube.errors import NotFound
from trellis.kube.verbs import Deletion, merge_patch
from trellis.runtime.env import Env

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trellis.embedded.exchange import Answer, Ask

JOBS = Resource("batch", "v1", "Job", "jobs")
PODS = Resource("", "v1", "Pod", "pods")
MAPS = Resource("", "v1", "ConfigMap", "configmaps")
NAMESPACES = Resource("", "v1", "Namespace", "namespaces", namespaced=False)
DEPLOYMENTS = Resource("apps", "v1", "Deployment", "deployments")
SETS = Resource("apps", "v1", "ReplicaSet", "replicasets")
DAEMONS = Resource("apps", "v1", "DaemonSet", "daemonsets")
NODES = Resource("", "v1", "Node", "nodes", namespaced=False)
EVENTS = Resource("", "v1", "Event", "events")
DEFINITIONS = Resource(
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    namespaced=False,
)
WIDGETS = Resource("example.com", "v1", "Widget", "widgets")
POD = {"spec": {"restartPolicy": "Never", "containers": [{"name": "app", "image": "x"}]}}


@dataclass(slots=True)
class World:
    client: Client
    clock: VirtualClock
    asked: Counter[str] = field(default_factory=Counter)
    """Requests of the controllers, by method."""

    async def make(self, resource: Resource, name: str, namespace: str = "", **more: Any) -> Any:
        metadata = {"name": name, **more.pop("metadata", {})}
        head = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
        where = (namespace or "default") if resource.namespaced else ""
        of = self.client.of(resource, dict[str, Any], where)
        return await of.create({**head, **more})

    async def list(self, resource: Resource, namespace: str = "default") -> list[dict[str, Any]]:
        where = namespace if resource.namespaced else ""
        return (await self.client.of(resource, dict[str, Any], where).list()).objects

    async def get(self, resource: Resource, name: str, namespace: str = "default") -> Any:
        where = namespace if resource.namespaced else ""
        return await self.client.of(resource, dict[str, Any], where).get(name)

    async def end(self, pod: dict[str, Any], phase: str) -> None:
        await self.tell(PODS, pod["metadata"]["name"], {"phase": phase})

    async def tell(self, resource: Resource, name: str, status: dict[str, Any]) -> None:
        where = "default" if resource.namespaced else ""
        of = self.client.of(resource, dict[str, Any], where)
        await of.patch(name, merge_patch({"status": status}), subresource="status")

    async def delete(self, resource: Resource, name: str, policy: Any = "Background") -> None:
        where = "default" if resource.namespaced else ""
        await self.client.of(resource, dict[str, Any], where).delete(
            name, Deletion(propagation=policy)
        )


@asynccontextmanager
async def world(**options: Any) -> AsyncIterator[World]:
    clock, rng = VirtualClock(), dice(1)
    cluster = Cluster(Settings(clock=clock, rng=rng, tokens={"admin": ADMIN}))
    await cluster.start()
    found = World(Client(cluster.transport("admin"), clock, rng), clock)

    async def counted(ask: Ask) -> Answer:
        found.asked[ask.method] += 1
        return await cluster.handle(ask)

    client = Client(InProcess(counted, "admin"), clock, rng, manager=MANAGER)
    stop = asyncio.Event()
    chosen = Options(root_ca="PEM", catalogue=cluster.registry, **options)
    running = asyncio.create_task(controllers(client, Env(clock=clock, rng=rng), stop, chosen))
    await clock.sleep(1)
    yield found
    stop.set()
    await running
    await cluster.close()


async def _told(found: World, kind: str) -> list[tuple[str, str, str]]:
    """What people were told of objects of that kind, and by whom, in its order."""
    about = [one for one in await found.list(EVENTS) if one["involvedObject"]["kind"] == kind]
    return [
        (one["reportingComponent"], one["reason"], one["message"])
        for one in sorted(about, key=lambda one: str(one["eventTime"]))
    ]


async def _gone(found: World, resource: Resource, name: str, namespace: str = "default") -> bool:
    try:
        await found.get(resource, name, namespace)
    except NotFound:
        return True
    return False


@virtual
async def test_a_settled_cluster_is_left_alone() -> None:
    async with world() as found:
        await found.make(JOBS, "j", spec={"template": POD})
        await found.make(MAPS, "m")
        await found.clock.sleep(5)
        found.asked.clear()
        await found.clock.sleep(600)
        assert set(found.asked) == {"GET"}
        # Watches are opened anew, and nothing else is asked.
        assert found.asked["GET"] < 600 * 3


@virtual
async def test_a_job_retries_after_its_pause_and_completes() -> None:
    async with world() as found:
        await found.make(JOBS, "j", spec={"template": POD, "backoffLimit": 2})
        await found.clock.sleep(0.1)
        (pod,) = await found.list(PODS)
        await found.end(pod, "Failed")
        await found.clock.sleep(5)
        assert len(await found.list(PODS)) == 1
        await found.clock.sleep(10)
        second = next(one for one in await found.list(PODS) if one["status"]["phase"] == "Pending")
        await found.end(second, "Succeeded")
        await found.clock.sleep(0.1)
        status = (await found.get(JOBS, "j"))["status"]
        assert (status["succeeded"], status["failed"]) == (1, 1)
        assert [one["type"] for one in status["conditions"]] == ["SuccessCriteriaMet", "Complete"]
        assert not any("finalizers" in one["metadata"] for one in await found.list(PODS))


@virtual
async def test_a_job_goes_with_its_pods_when_its_time_to_live_is_over() -> None:
    async with world() as found:
        spec = {"template": POD, "ttlSecondsAfterFinished": 60}
        await found.make(JOBS, "j", spec=spec)
        await found.clock.sleep(0.1)
        await found.end((await found.list(PODS))[0], "Succeeded")
        await found.clock.sleep(30)
        assert not await _gone(found, JOBS, "j")
        await found.clock.sleep(32)
        assert await _gone(found, JOBS, "j")
        assert await found.list(PODS) == []


@virtual
async def test_a_large_indexed_job_is_counted_to_the_last_pod() -> None:
    async with world() as found:
        spec = {
            "template": POD,
            "completionMode": "Indexed",
            "completions": 60,
            "parallelism": 60,
        }
        await found.make(JOBS, "j", spec=spec)
        await found.clock.sleep(1)
        pods = await found.list(PODS)
        assert len(pods) == 60
        for pod in pods:
            await found.end(pod, "Succeeded")
        await found.clock.sleep(5)
        status = (await found.get(JOBS, "j"))["status"]
        assert (status["succeeded"], status["completedIndexes"]) == (60, "0-59")
        assert status["conditions"][-1]["type"] == "Complete"


@virtual
async def test_dependents_go_within_milliseconds() -> None:
    async with world() as found:
        owner = await found.make(MAPS, "a")
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}
        owned = {"ownerReferences": [{**reference, "uid": owner["metadata"]["uid"]}]}
        await found.make(MAPS, "b", metadata=owned)
        await found.clock.sleep(0.1)
        await found.delete(MAPS, "a")
        await found.clock.sleep(0.02)
        assert await _gone(found, MAPS, "b")


@virtual
async def test_a_kind_that_is_defined_later_is_collected_too() -> None:
    async with world() as found:
        schema = {"openAPIV3Schema": {"type": "object"}}
        spec = {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        }
        await found.make(DEFINITIONS, "widgets.example.com", spec=spec)
        await found.clock.sleep(0.1)
        owner = await found.make(WIDGETS, "a")
        reference = {"apiVersion": "example.com/v1", "kind": "Widget", "name": "a"}
        owned = {"ownerReferences": [{**reference, "uid": owner["metadata"]["uid"]}]}
        await found.make(WIDGETS, "b", metadata=owned)
        await found.make(MAPS, "c", metadata=owned)
        await found.clock.sleep(0.1)
        await found.delete(WIDGETS, "a")
        await found.clock.sleep(0.1)
        assert await _gone(found, WIDGETS, "b")
        assert await _gone(found, MAPS, "c")


@virtual
async def test_a_namespace_has_what_every_namespace_has_and_goes_with_it() -> None:
    async with world() as found:
        await found.make(NAMESPACES, "n")
        await found.make(JOBS, "j", namespace="n", spec={"template": POD})
        await found.clock.sleep(0.1)
        assert (await found.get(MAPS, "kube-root-ca.crt", "n"))["data"] == {"ca.crt": "PEM"}
        assert len(await found.list(PODS, "n")) == 1
        await found.delete(NAMESPACES, "n")
        await found.clock.sleep(0.5)
        assert await _gone(found, NAMESPACES, "n")
        assert await found.list(PODS, "n") == []


@virtual
async def test_a_deployment_rolls_from_one_template_to_the_next() -> None:
    async with world() as found:
        labels = {"app": "a"}
        template = {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "app", "image": "x"}]},
        }
        spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
        await found.make(DEPLOYMENTS, "d", spec=spec)
        await _until_rolled_out(found)
        first = {pod["metadata"]["name"] for pod in await found.list(PODS)}
        of = found.client.of(DEPLOYMENTS, dict[str, Any], "default")
        change = {"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}}
        await of.patch("d", merge_patch(change))
        await _until_rolled_out(found)
        second = {pod["metadata"]["name"] for pod in await found.list(PODS)}
        assert len(second) == 2
        assert not first & second


@virtual
async def test_what_a_deployment_left_behind_is_the_next_ones_and_goes_with_it() -> None:
    async with world() as found:
        labels = {"app": "a"}
        template = {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "app", "image": "x"}]},
        }
        spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
        await found.make(DEPLOYMENTS, "d", spec=spec)
        await _until_rolled_out(found)
        before = {pod["metadata"]["uid"] for pod in await found.list(PODS)}
        await found.delete(DEPLOYMENTS, "d", "Orphan")
        await found.clock.sleep(1)
        await found.make(DEPLOYMENTS, "d", spec=spec)
        await _until_rolled_out(found)
        assert {pod["metadata"]["uid"] for pod in await found.list(PODS)} == before
        await found.delete(DEPLOYMENTS, "d", "Foreground")
        await found.clock.sleep(1)
        assert await found.list(SETS) == await found.list(PODS) == []


async def _until_rolled_out(found: World) -> None:
    """Plays the kubelet until as many as are wanted are new and available."""
    for _ in range(20):
        await found.clock.sleep(0.1)
        for pod in await found.list(PODS):
            ready = [{"type": "Ready", "status": "True"}]
            await found.tell(
                PODS, pod["metadata"]["name"], {"phase": "Running", "conditions": ready}
            )
        await found.clock.sleep(0.1)
        deployment = await found.get(DEPLOYMENTS, "d")
        status = deployment["status"]
        done = all(
            status.get(name) == 2 for name in ("replicas", "updatedReplicas", "availableReplicas")
        )
        if done and status["observedGeneration"] == deployment["metadata"]["generation"]:
            return
    pytest.fail(f"not rolled out: {status}")


@virtual
async def test_a_daemon_follows_nodes_and_a_node_that_is_gone_loses_its_pods() -> None:
    async with world() as found:
        labels = {"app": "d"}
        spec = {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "app", "image": "x"}]},
            },
        }
        await found.make(DAEMONS, "d", spec=spec)
        await found.make(NODES, "n1")
        await found.tell(NODES, "n1", {"conditions": [{"type": "Ready", "status": "True"}]})
        await found.clock.sleep(0.1)
        assert "taints" not in (await found.get(NODES, "n1"))["spec"]
        (pod,) = await found.list(PODS)
        target = {"target": {"kind": "Node", "name": "n1"}, "metadata": {"name": "b"}}
        of = found.client.of(PODS, dict[str, Any], "default")
        name = pod["metadata"]["name"]
        await of.create_in(name, "binding", {**target, "metadata": {"name": name}})
        await found.delete(NODES, "n1")
        await found.clock.sleep(60)
        assert await found.list(PODS) == []


@virtual
async def test_a_controller_that_does_not_exist_is_named() -> None:
    clock = VirtualClock()
    client = Client(None, clock, dice(1))  # type: ignore[arg-type]
    env = Env(clock=clock, rng=dice(1))
    with pytest.raises(UnknownController, match="'cronjob' is not known"):
        await controllers(client, env, asyncio.Event(), which=("cronjob",))
    assert "garbage-collector" in ALL


@virtual
async def test_people_are_told_what_became_of_a_job() -> None:
    async with world() as found:
        await found.make(JOBS, "j", spec={"template": POD})
        await found.clock.sleep(1)
        (pod,) = await found.list(PODS)
        name = pod["metadata"]["name"]
        made = ("job-controller", "SuccessfulCreate", f"Created pod: {name}")
        assert await _told(found, "Job") == [made]
        await found.end(pod, "Succeeded")
        await found.clock.sleep(1)
        assert await _told(found, "Job") == [made, ("job-controller", "Completed", "Job completed")]
        assert all(one["type"] == "Normal" for one in await found.list(EVENTS))


@virtual
async def test_people_are_told_why_a_job_failed() -> None:
    async with world() as found:
        await found.make(JOBS, "j", spec={"template": POD, "backoffLimit": 0})
        await found.clock.sleep(1)
        (pod,) = await found.list(PODS)
        await found.end(pod, "Failed")
        await found.clock.sleep(1)
        limit = "Job has reached the specified backoff limit"
        assert (await _told(found, "Job"))[-1] == ("job-controller", "BackoffLimitExceeded", limit)
        kinds = {one["reason"]: one["type"] for one in await found.list(EVENTS)}
        assert kinds == {"SuccessfulCreate": "Normal", "BackoffLimitExceeded": "Warning"}


@virtual
async def test_people_are_told_how_a_deployment_is_scaled() -> None:
    async with world() as found:
        spec = {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "a"}},
            "template": {
                "metadata": {"labels": {"app": "a"}},
                "spec": {"containers": [{"name": "app", "image": "x"}]},
            },
        }
        await found.make(DEPLOYMENTS, "web", spec=spec)
        await found.clock.sleep(1)
        of = found.client.of(DEPLOYMENTS, dict[str, Any], "default")
        await of.patch("web", merge_patch({"spec": {"replicas": 1}}))
        await found.clock.sleep(1)
        (owned,) = await found.list(SETS)
        name = owned["metadata"]["name"]
        assert await _told(found, "Deployment") == [
            ("deployment-controller", "ScalingReplicaSet", f"Scaled {how}")
            for how in (
                f"up replica set {name} from 0 to 2",
                f"down replica set {name} from 2 to 1",
            )
        ]
        told = await _told(found, "ReplicaSet")
        reasons = [reason for _, reason, _ in told]
        assert reasons == ["SuccessfulCreate", "SuccessfulCreate", "SuccessfulDelete"]
        assert {who for who, _, _ in told} == {"replicaset-controller"}


@virtual
async def test_people_are_told_that_pods_cannot_be_made() -> None:
    async with world() as found:
        nobody = {**POD["spec"], "serviceAccountName": "nobody"}
        await found.make(JOBS, "j", spec={"template": {"spec": nobody}})
        await found.clock.sleep(1)
        ((_, reason, message),) = await _told(found, "Job")
        assert reason == "FailedCreate"
        assert message == (
            'Error creating: pods "j-" is forbidden: error looking up service account '
            'default/nobody: serviceaccount "nobody" not found'
        )


@virtual
async def test_people_are_told_of_a_daemon_that_ended() -> None:
    async with world() as found:
        await found.make(NODES, "n")
        await found.tell(NODES, "n", {"conditions": [{"type": "Ready", "status": "True"}]})
        template = {
            "metadata": {"labels": {"app": "d"}},
            "spec": {"containers": [{"name": "app", "image": "x"}]},
        }
        spec = {"selector": {"matchLabels": {"app": "d"}}, "template": template}
        await found.make(DAEMONS, "d", spec=spec)
        await found.clock.sleep(1)
        (pod,) = await found.list(PODS)
        await found.end(pod, "Failed")
        await found.clock.sleep(1)
        name = pod["metadata"]["name"]
        told = await _told(found, "DaemonSet")
        assert [reason for _, reason, _ in told[:3]] == [
            "SuccessfulCreate",
            "FailedDaemonPod",
            "SuccessfulDelete",
        ]
        where = f"default/{name} on node n"
        assert told[1][2] == f"Found failed daemon pod {where}, will try to kill it"


@virtual
async def test_namespaces_that_change_while_they_are_furnished_hold_nobody_up() -> None:
    async with world() as found:
        names = [f"n-{number}" for number in range(20)]
        of = found.client.of(NAMESPACES, dict[str, Any], "")
        for name in names:
            await found.make(NAMESPACES, name)
            for turn in range(4):
                await of.patch(name, merge_patch({"metadata": {"labels": {"turn": f"{turn}"}}}))
        await found.clock.sleep(3)
        for name in names:
            assert len(await found.list(MAPS, name)) == 1
