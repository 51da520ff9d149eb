# SPDX-License-Identifier: Apache-2.0
"""Every verb, on a real API server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.e2e.kube.kinds import (
    BUDGETS,
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    SERVICE_ACCOUNTS,
    ConfigMap,
    a_config_map,
    a_pod,
)
from tests.support.nodes import simulated_node
from tests.support.waiting import eventually
from trellis.api.meta import Resource
from trellis.kube import errors, listing
from trellis.kube.verbs import (
    Deletion,
    Selection,
    apply_patch,
    json_patch,
    merge_patch,
    strategic_patch,
)

if TYPE_CHECKING:
    from tests.support.api import Api
    from trellis.kube.client import Client
    from trellis.kube.collection import Collection


@pytest.fixture
def maps(client: Client, namespace: str) -> Collection[ConfigMap]:
    return client.of(CONFIG_MAPS, ConfigMap, namespace)


async def test_an_object_is_made_read_replaced_and_deleted(maps: Collection[ConfigMap]) -> None:
    made = await maps.create(a_config_map("a", size="1"))
    assert (await maps.get("a")) == made
    body = {**a_config_map("a", size="2")}
    body["metadata"]["resourceVersion"] = made.metadata.resource_version
    replaced = await maps.replace("a", body)
    assert replaced.data == {"size": "2"}
    with pytest.raises(errors.Conflict):
        await maps.replace("a", body)
    assert await maps.delete("a", Deletion(uid=made.metadata.uid)) is None
    with pytest.raises(errors.NotFound) as raised:
        await maps.get("a")
    assert not raised.value.unserved


async def test_bytes_go_in_and_out_as_they_are(client: Client, namespace: str) -> None:
    maps = client.of(CONFIG_MAPS, bytes, namespace)
    made = await maps.create(msgspec.json.encode(a_config_map("a", size="1")))
    assert msgspec.json.decode(made)["data"] == {"size": "1"}
    assert await maps.get("a") == made


async def test_every_language_of_patches(maps: Collection[ConfigMap]) -> None:
    await maps.create(a_config_map("a", one="1", two="2"))
    replaced = [{"op": "replace", "path": "/data/one", "value": "json"}]
    assert (await maps.patch("a", json_patch(replaced))).data == {"one": "json", "two": "2"}
    merged = await maps.patch("a", merge_patch({"data": {"one": None, "three": "merge"}}))
    assert merged.data == {"two": "2", "three": "merge"}
    strategic = await maps.patch("a", strategic_patch({"data": {"three": None}}))
    assert strategic.data == {"two": "2"}
    stale = {"metadata": {"resourceVersion": strategic.metadata.resource_version}, "data": {}}
    await maps.patch("a", merge_patch({"data": {"four": "4"}}))
    with pytest.raises(errors.Conflict):
        await maps.patch("a", merge_patch(stale))


async def test_fields_of_another_manager_are_taken_only_by_force(
    maps: Collection[ConfigMap], namespace: str, api: Api
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps/a?fieldManager=somebody"
    await api.do("PATCH", path, a_config_map("a", size="theirs"), patch="apply")
    with pytest.raises(errors.Conflict) as raised:
        await maps.patch("a", apply_patch(a_config_map("a", size="ours")))
    assert {cause.reason for cause in raised.value.failure.causes} == {"FieldManagerConflict"}
    ours = await maps.patch("a", apply_patch(a_config_map("a", size="ours"), force=True))
    assert ours.data == {"size": "ours"}


async def test_a_dry_run_changes_nothing(maps: Collection[ConfigMap]) -> None:
    assert (await maps.create(a_config_map("a"), dry_run=True)).metadata.uid
    with pytest.raises(errors.NotFound):
        await maps.get("a")
    made = await maps.create(a_config_map("a", size="1"))
    await maps.patch("a", merge_patch({"data": {"size": "2"}}), dry_run=True)
    await maps.delete("a", dry_run=True)
    assert await maps.get("a") == made


async def test_a_deletion_is_guarded(maps: Collection[ConfigMap]) -> None:
    made = await maps.create(a_config_map("a"))
    with pytest.raises(errors.Conflict):
        await maps.delete("a", Deletion(uid="another"))
    with pytest.raises(errors.Conflict):
        await maps.delete("a", Deletion(resource_version="1"))
    current = Deletion(uid=made.metadata.uid, resource_version=made.metadata.resource_version)
    assert await maps.delete("a", current) is None


async def test_what_a_finalizer_holds_comes_back_as_it_lingers(maps: Collection[ConfigMap]) -> None:
    body = a_config_map("a")
    body["metadata"]["finalizers"] = ["example.com/hold"]
    await maps.create(body)
    lingering = await maps.delete("a")
    assert lingering
    assert lingering.metadata.deletion_timestamp
    await maps.patch("a", merge_patch({"metadata": {"finalizers": None}}))
    with pytest.raises(errors.NotFound):
        await maps.get("a")


@pytest.mark.parametrize(
    ("propagation", "survives"), [("Orphan", True), ("Background", False), ("Foreground", False)]
)
async def test_dependents_go_or_stay_as_asked(
    maps: Collection[ConfigMap], propagation: Any, survives: bool
) -> None:
    owner = await maps.create(a_config_map("owner"))
    child = a_config_map("child")
    child["metadata"]["ownerReferences"] = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": "owner",
            "uid": owner.metadata.uid,
            "blockOwnerDeletion": True,
        }
    ]
    await maps.create(child)
    await maps.delete("owner", Deletion(propagation=propagation))

    async def names() -> list[str]:
        found = (await maps.list(Selection(fields="metadata.name!=kube-root-ca.crt"))).objects
        return [each.metadata.name for each in found]

    async def settled() -> bool:
        return await names() == (["child"] if survives else [])

    await eventually(settled, f"what {propagation} leaves")


async def test_pages_and_selections(
    maps: Collection[ConfigMap], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PAGE", 3)
    bodies = [a_config_map(f"m{number}", {"odd": str(number % 2)}) for number in range(10)]
    await asyncio.gather(*(maps.create(body) for body in bodies))
    odd = await maps.list(Selection(labels="odd=1"))
    assert [each.metadata.name for each in odd.objects] == [
        f"m{number}" for number in range(1, 10, 2)
    ]
    one = await maps.list(Selection(fields="metadata.name=m3"))
    assert [each.metadata.name for each in one.objects] == ["m3"]
    await maps.delete_all(Selection(labels="odd=1"))
    left = await maps.list(Selection(labels="odd"))
    assert [each.metadata.name for each in left.objects] == [
        f"m{number}" for number in range(0, 10, 2)
    ]


async def test_a_part_is_scaled_and_a_status_is_written(client: Client, namespace: str) -> None:
    deployments = client.of(DEPLOYMENTS, dict, namespace)
    await deployments.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "d"},
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": {"app": "d"}},
                "template": {
                    "metadata": {"labels": {"app": "d"}},
                    "spec": a_pod("d")["spec"],
                },
            },
        }
    )
    scale = await deployments.patch(
        "d", merge_patch({"spec": {"replicas": 2}}), subresource="scale"
    )
    assert (scale["kind"], scale["spec"]) == ("Scale", {"replicas": 2})
    assert (await deployments.get("d", subresource="scale"))["spec"] == {"replicas": 2}
    pods = client.of(PODS, dict, namespace)
    await pods.create(a_pod("p"))
    condition = {"type": "example.com/Seen", "status": "True"}
    written = await pods.patch(
        "p", strategic_patch({"status": {"conditions": [condition]}}), subresource="status"
    )
    assert "example.com/Seen" in {each["type"] for each in written["status"]["conditions"]}


async def test_a_pod_is_bound_and_evicted_unless_a_budget_forbids_it(
    client: Client, namespace: str, api: Api
) -> None:
    pods = client.of(PODS, dict, namespace)
    async with simulated_node(api, f"node-{namespace}") as node:
        name = node["metadata"]["name"]
        target = {"apiVersion": "v1", "kind": "Node", "name": name}
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": "p"},
            "target": target,
        }
        await pods.create(a_pod("p"))
        assert (await pods.create_in("p", "binding", binding))["status"] == "Success"
        assert (await pods.get("p"))["spec"]["nodeName"] == name
        with pytest.raises(errors.Conflict):
            await pods.create_in("p", "binding", binding)
        # A running pod, so that its budget counts.
        ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        await pods.patch("p", strategic_patch({"status": ready}), subresource="status")
        budgets = client.of(BUDGETS, dict, namespace)
        await budgets.create(
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "b"},
                "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "p"}}},
            }
        )
        await eventually(lambda: _observed(budgets), "the budget to count its pod")
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
        with pytest.raises(errors.EvictionBlocked):
            await pods.create_in("p", "eviction", eviction)
        await budgets.delete("b")
        assert (await pods.create_in("p", "eviction", eviction))["status"] == "Success"
        await pods.delete("p", Deletion(grace_seconds=0))


async def _observed(budgets: Collection[dict[str, Any]]) -> bool:
    status = (await budgets.get("b")).get("status", {})
    return bool(status.get("currentHealthy") == 1)


async def test_a_token_is_asked_for(client: Client, namespace: str) -> None:
    accounts = client.of(SERVICE_ACCOUNTS, dict, namespace)
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    assert (await accounts.create_in("default", "token", request))["status"]["token"]


async def test_refusals_by_their_meaning(client: Client, maps: Collection[ConfigMap]) -> None:
    await maps.create(a_config_map("a"))
    with pytest.raises(errors.AlreadyExists):
        await maps.create(a_config_map("a"))
    with pytest.raises(errors.Invalid) as invalid:
        await maps.create(a_config_map("Not A Name"))
    assert [cause.field for cause in invalid.value.causes] == ["metadata.name"]
    with pytest.raises(errors.BadRequest):
        await maps.list(Selection(labels="a in"))
    with pytest.raises(errors.TooLarge):
        await maps.create(a_config_map("big", size="x" * (4 << 20)))
    gizmos = client.of(Resource("example.com", "v1", "Gizmo", "gizmos", namespaced=False), dict)
    with pytest.raises(errors.NotFound) as missing:
        await gizmos.get("a")
    assert missing.value.unserved
    with pytest.raises(errors.Unsupported):
        await client.of(DEPLOYMENTS, dict).create({})
