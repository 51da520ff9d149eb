# SPDX-License-Identifier: Apache-2.0
"""The operator's pods: restricted, told apart by their ports, and configured as we mean it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.unit.app.builders import containers, of_kind, one, pod_spec
from trellis.api import config
from trellis.api.config.types import LeaderElection
from trellis.app.manifests.configuration import config_map
from trellis.app.manifests.installation import CONTROLLERS, WEBHOOKS, Installation

each_container = pytest.mark.parametrize("container", containers(), ids=lambda one: one["name"])
(CONFIG_MAP,) = of_kind("ConfigMap")


@each_container
def test_a_container_meets_the_restricted_standard(container: dict[str, Any]) -> None:
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_the_pod_meets_the_restricted_standard() -> None:
    spec = pod_spec()
    context = spec["securityContext"]
    assert context["runAsNonRoot"] is True
    assert context["runAsUser"] >= 10001
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & set(spec)
    kinds = {kind for volume in spec["volumes"] for kind in volume if kind != "name"}
    assert kinds == {"projected", "configMap", "emptyDir", "secret"}
    labels = one("Namespace", "grove-system")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_the_token_is_of_an_hour_and_mounted_by_nobody_else() -> None:
    assert pod_spec()["automountServiceAccountToken"] is False
    (access,) = (each["projected"] for each in pod_spec()["volumes"] if "projected" in each)
    tokens = [token for each in access["sources"] if (token := each.get("serviceAccountToken"))]
    assert tokens == [{"path": "token", "expirationSeconds": 3600}]


def test_the_keys_of_authorities_are_not_mounted() -> None:
    (secret,) = (each["secret"] for each in pod_spec()["volumes"] if "secret" in each)
    assert [item["key"] for item in secret["items"]] == ["tls.crt", "tls.key", "ca.crt"]
    assert secret["optional"] is True


@each_container
def test_a_container_is_probed_limited_and_told_who_it_is(container: dict[str, Any]) -> None:
    health = {port["name"] for port in container["ports"]}
    for probe, path in (("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
        assert container[probe]["httpGet"]["path"] == path
        assert container[probe]["httpGet"]["port"] in health
    assert set(container["resources"]) == {"requests", "limits"}
    names = [each["name"] for each in container["env"]]
    assert names == ["GROVE_OPERATOR_SERVICE_ACCOUNT_NAME", "GROVE_INIT_CONTAINER_IMAGE"]


def test_containers_share_a_pod_without_sharing_a_port() -> None:
    ports = [port for each in containers() for port in each["ports"]]
    for field in ("containerPort", "name"):
        values = [port[field] for port in ports]
        assert len(values) == len(set(values))
    assert all(len(port["name"]) <= 15 for port in ports)


def test_every_mount_has_its_volume_and_every_volume_a_mount() -> None:
    mounted = {mount["name"] for each in containers() for mount in each["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod_spec()["volumes"]}


def test_there_are_two_apart_and_never_none() -> None:
    spec = one("Deployment")["spec"]
    assert spec["replicas"] == 2
    assert spec["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    keys = [each["topologyKey"] for each in pod_spec()["topologySpreadConstraints"]]
    assert keys == ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]
    assert one("PodDisruptionBudget")["spec"]["maxUnavailable"] == 1


@each_container
def test_a_process_listens_where_its_configuration_says(container: dict[str, Any]) -> None:
    (file,) = (each for each in container["args"] if each.startswith("--config="))
    loaded = config.load(CONFIG_MAP["data"][file.rpartition("/")[2]])
    assert loaded.warnings == ()
    server = loaded.configuration.server
    ports = {
        port["name"].removeprefix("webhook-"): port["containerPort"] for port in container["ports"]
    }
    assert ports.pop("webhook", server.webhooks.port) == server.webhooks.port
    assert ports == {"health": server.health_probes.port, "metrics": server.metrics.port}


def test_only_one_of_the_two_leads() -> None:
    for text in CONFIG_MAP["data"].values():
        assert config.load(text).configuration.leader_election == LeaderElection(enabled=True)


def test_the_configuration_never_changes_under_its_name() -> None:
    before = config_map(Installation())
    assert before == CONFIG_MAP
    assert before["immutable"] is True
    (mounted,) = (each["configMap"] for each in pod_spec()["volumes"] if "configMap" in each)
    assert mounted["name"] == before["metadata"]["name"]
    after = config_map(Installation(), (CONTROLLERS, replace(WEBHOOKS, health=1)))
    assert after["metadata"]["name"] != before["metadata"]["name"]
