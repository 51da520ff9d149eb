# SPDX-License-Identifier: Apache-2.0
"""`kubectl apply -f deploy/install.yaml`, as whoever installs the operator meets it."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.e2e.deploy.conftest import FILE, INSTALLATION
from tests.support.api import Request
from tests.support.waiting import eventually
from trellis.app.manifests.__main__ import FOLDER
from trellis.app.manifests.bundle import BASE
from trellis.webhooks.certificates import Authority

if TYPE_CHECKING:
    from tests.support.api import Api
    from tests.support.cluster import Cluster

OWN = f"/namespaces/{INSTALLATION.namespace}"
PODS = f"/api/v1{OWN}/pods"
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
WEBHOOKS = f"{REGISTRATION}/validatingwebhookconfigurations/clustertopology-validating-webhook"
FLOW_CONTROL = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"


async def test_applying_it_again_changes_nothing(installed: Cluster) -> None:
    before = await _stored(installed)
    said = (await installed.kubectl("apply", "-f", str(FILE))).splitlines()
    assert len(said) == len(before)
    assert not [line for line in said if line.endswith(" created")]
    assert await _stored(installed) == before


async def test_applying_it_again_leaves_the_operators_authorities_in_place(
    installed: Cluster,
) -> None:
    authority = Authority.create("test", datetime.now(UTC)).pair.certificate
    bundle = base64.b64encode(authority).decode()
    names = [one["name"] for one in (await installed.api.do("GET", WEBHOOKS))["webhooks"]]
    patch = [{"name": name, "clientConfig": {"caBundle": bundle}} for name in names]
    await installed.api.do("PATCH", WEBHOOKS, {"webhooks": patch}, patch="strategic")
    await installed.kubectl("apply", "-f", str(FILE))
    found = (await installed.api.do("GET", WEBHOOKS))["webhooks"]
    assert [one["clientConfig"].get("caBundle") for one in found] == [bundle] * len(names)
    assert len(names) > 1


async def test_kustomize_builds_the_same_without_the_definitions(installed: Cluster) -> None:
    built = await installed.kubectl("kustomize", str(FOLDER / BASE))
    wanted = [each for each in _loaded(FILE.read_text()) if each[0] != "CustomResourceDefinition"]
    assert sorted(_loaded(built), key=_key) == sorted(wanted, key=_key)


async def test_both_pods_are_admitted_and_wait_for_nodes(installed: Cluster) -> None:
    async def waiting() -> bool:
        pods = (await installed.api.do("GET", PODS))["items"]
        return [pod["status"]["phase"] for pod in pods] == ["Pending", "Pending"]

    await eventually(waiting, "two pods of the operator")


async def test_the_restricted_namespace_takes_the_pod_without_a_warning(
    installed: Cluster,
) -> None:
    if installed.embedded:
        pytest.skip("an embedded cluster has no pod security admission: it refuses no pod for it")
    path = f"/apis/apps/v1{OWN}/deployments/{INSTALLATION.name}"
    template = (await installed.api.do("GET", path))["spec"]["template"]
    body = {"metadata": {"name": "one", **template["metadata"]}, "spec": template["spec"]}
    answer = await installed.api.send(_dry("POST", PODS, body))
    assert answer.status == 201, answer.content
    assert "Warning" not in answer.headers
    del body["spec"]["containers"][0]["securityContext"]["capabilities"]
    refused = await installed.api.send(_dry("POST", PODS, body))
    assert refused.status == 403
    assert "unrestricted capabilities" in refused.body["message"]


async def test_every_policy_makes_sense_to_the_server(installed: Cluster) -> None:
    async def checked() -> list[dict[str, Any]]:
        path = f"{REGISTRATION}/validatingadmissionpolicies"
        found: list[dict[str, Any]] = (await installed.api.do("GET", path))["items"]
        seen = all(each.get("status", {}).get("observedGeneration") for each in found)
        return found if seen else []

    for policy in await eventually(checked, "the policies to be type-checked"):
        assert not policy["status"]["typeChecking"].get("expressionWarnings"), policy["metadata"]


async def test_the_operator_has_its_own_share_of_the_server_and_another_for_leases(
    installed: Cluster, operator: Api
) -> None:
    if installed.embedded:
        pytest.skip("an embedded cluster has no priority and fairness: nobody has a share")
    leases = f"/apis/coordination.k8s.io/v1{OWN}/leases"
    for path, schema in (
        (f"{leases}/grove-operator-leader-election", "grove-operator-leader-election"),
        ("/api/v1/namespaces/default/pods", "grove-operator"),
        ("/version", "grove-operator"),
    ):
        wanted = (await installed.api.do("GET", f"{FLOW_CONTROL}/{schema}"))["metadata"]["uid"]

        async def classified(path: str = path, wanted: str = wanted) -> bool:
            answer = await operator.send(Request(method="GET", path=path))
            return answer.headers["X-Kubernetes-PF-FlowSchema-UID"] == wanted

        await eventually(classified, f"{path} to be served by {schema}")


async def _stored(installed: Cluster) -> list[dict[str, Any]]:
    """Every object of the file as the server has it, without what controllers write."""
    found = json.loads(await installed.kubectl("get", "-f", str(FILE), "-o", "json"))["items"]
    for each in found:
        each.pop("status", None)
        for field in ("resourceVersion", "managedFields"):
            each["metadata"].pop(field, None)
    return list(found)


def _loaded(text: str) -> list[tuple[str, str, Any]]:
    return [
        (each["kind"], each["metadata"]["name"], each)
        for each in yaml.load_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    ]


def _key(loaded: tuple[str, str, Any]) -> tuple[str, str]:
    return loaded[:2]


def _dry(method: str, path: str, body: Any) -> Request:
    return Request(method=method, path=path, body=body, query={"dryRun": "All"})
