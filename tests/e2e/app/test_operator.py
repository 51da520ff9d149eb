# SPDX-License-Identifier: Apache-2.0
"""`trellis operator` as it is shipped: its manifests, its own service account, real webhooks."""

from __future__ import annotations

import json
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.e2e.app.operators import Operator, Ports, a_configuration, free_ports, operator
from tests.support.cluster import OURS, Cluster, cluster
from tests.support.relay import Relay, relay
from tests.support.waiting import eventually
from trellis.app.manifests.__main__ import FOLDER
from trellis.app.manifests.bundle import INSTALL
from trellis.app.manifests.installation import Installation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

INSTALLATION = Installation()
TOPOLOGY = "/apis/grove.io/v1alpha1/clustertopologies/grove-topology"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{INSTALLATION.namespace}/leases"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


@pytest.fixture(scope="module")
async def installed(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    """A cluster of its own with everything that is shipped."""
    target = request.config.getoption("--cluster")
    if target not in OURS:
        pytest.skip("a cluster of somebody's own has an operator of its own")
    async with cluster(target, request.config.getoption("--kubernetes")) as found:
        await found.kubectl("apply", "-f", str(FOLDER / INSTALL))
        yield found


async def as_service_account(found: Cluster, folder: Path, server: str = "") -> Path:
    """A kubeconfig of the shipped account, and of nobody else; by another way if it is given."""
    arguments = ("create", "token", INSTALLATION.name, "-n", INSTALLATION.namespace)
    config: dict[str, Any] = yaml.safe_load(found.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": (await found.kubectl(*arguments)).strip()}
    if server:
        config["clusters"][0]["cluster"]["server"] = server
    config["contexts"][0]["context"]["namespace"] = INSTALLATION.namespace
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


async def serve_on_loopback(found: Cluster, port: int) -> None:
    """Nothing routes to services here, so the webhooks are called where they listen."""
    path = f"{WEBHOOKS}/clustertopology-validating-webhook"
    entries = (await found.api.do("GET", path))["webhooks"]
    for entry in entries:
        service = entry["clientConfig"].pop("service", None)
        if service:
            entry["clientConfig"]["url"] = f"https://127.0.0.1:{port}{service['path']}"
    await found.api.do("PATCH", path, {"webhooks": entries}, patch="merge")


# Each connection of a process that does not spin costs it some milliseconds.
ATTEMPTS = 40
CPU_SECONDS_EACH = 0.1
SLACK_FILES = 8
TOPOLOGY_AWARE = {
    "enabled": True,
    "levels": [
        {"domain": "host", "key": "kubernetes.io/hostname"},
        {"domain": "rack", "key": "topology.kubernetes.io/rack"},
    ],
}


@asynccontextmanager
async def shipped(found: Cluster, folder: Path) -> AsyncIterator[Operator]:
    """An operator that is ready, as the shipped account."""
    ports = free_ports()
    sections = {"leaderElection": {"enabled": True}, "clusterTopology": TOPOLOGY_AWARE}
    config = a_configuration(folder, ports, **sections)
    kubeconfig = await as_service_account(found, folder)
    await serve_on_loopback(found, ports.webhooks)
    async with operator(folder, "--config", config, "--kubeconfig", kubeconfig) as one:
        await one.until_ready(ports)
        yield one


def _said(line: str) -> str:
    """Without the time, the milliseconds of which may look like a status."""
    return json.dumps({**json.loads(line), "timestamp": ""})


async def test_it_works_with_the_rights_it_is_shipped_with_and_leaves_in_order(
    installed: Cluster, tmp_path: Path
) -> None:
    async with shipped(installed, tmp_path) as running:

        async def conditions() -> dict[str, str]:
            if not await installed.api.exists(TOPOLOGY):
                return {}
            found = (await installed.api.do("GET", TOPOLOGY)).get("status", {})
            return {one["type"]: one["status"] for one in found.get("conditions", ())}

        async def settled() -> bool:
            return await conditions() == {
                "Ready": "True",
                "Reconciling": "False",
                "Stalled": "False",
            }

        await eventually(settled, "grove-topology to be ready", patience=60)
        levels = (await installed.api.do("GET", TOPOLOGY))["spec"]["levels"]
        assert [level["domain"] for level in levels] == ["rack", "host"]
        running.send(signal.SIGTERM)
        ended = await running.ended()
    assert ended.code == 0
    assert not [said for said in map(_said, ended.lines) if "403" in said], "a right is missing"
    lease = await installed.api.do("GET", f"{LEASES}/grove-operator-leader-election")
    assert not lease["spec"].get("holderIdentity")


async def test_others_are_refused_and_told_what_is_wrong(
    installed: Cluster, tmp_path: Path
) -> None:
    async with shipped(installed, tmp_path):
        levels = [{"domain": "rack", "key": f"{'a' * 40}.{'b' * 10}/-"}]
        topology = {
            "apiVersion": "grove.io/v1alpha1",
            "kind": "ClusterTopology",
            "metadata": {"name": "mine"},
            "spec": {"levels": levels},
        }
        said = await installed.kubectl("create", "-f", "-", stdin=json.dumps(topology), check=False)
        assert "spec.levels[0].key" in said
        told = await installed.kubectl(
            *("patch", "clustertopology", "grove-topology", "--type=merge"),
            *("-p", json.dumps({"spec": {"levels": [{"domain": "host", "key": "mine"}]}})),
            check=False,
        )
        assert "is kept by the operator" in told


async def test_a_server_that_goes_away_is_waited_for_without_spinning_or_leaking(
    installed: Cluster, tmp_path: Path
) -> None:
    ports = free_ports()
    config = a_configuration(tmp_path, ports, clusterTopology=TOPOLOGY_AWARE)
    arguments = ("--config", config, "--controllers", "clustertopology")
    async with relay(installed.api.server) as way:
        kubeconfig = await as_service_account(installed, tmp_path, way.url)
        async with operator(tmp_path, *arguments, "--kubeconfig", kubeconfig) as one:
            await one.until_ready(ports)
            for garbage in (False, True):
                way.garbage = garbage
                await way.shut()
                if garbage:
                    await way.open()
                await until_cut_off(one, ports, way)
            before, files, cpu = way.connections, one.open_files(), one.cpu()

            async def tried() -> bool:
                return way.connections >= before + ATTEMPTS

            await eventually(tried, "more attempts", patience=60)
            assert one.open_files() <= files + SLACK_FILES
            assert one.cpu() - cpu < ATTEMPTS * CPU_SECONDS_EACH
            way.garbage = False
            await one.until_ready(ports)
            one.send(signal.SIGTERM)
            assert (await one.ended()).code == 0


async def until_cut_off(one: Operator, ports: Ports, way: Relay) -> None:
    async def told() -> bool:
        why = await one.why_not_ready(ports)
        return f"not ready: server: {way.url} cannot be reached: " in why

    await eventually(told, "readiness to say that the server is away", patience=60)
