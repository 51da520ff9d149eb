# SPDX-License-Identifier: Apache-2.0
"""`trellis operator` as it is shipped: its manifests, its own service account, real webhooks."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
import yaml

from tests.support.cluster import LAB, Cluster, cluster
from tests.support.waiting import eventually
from trellis.app.manifests.__main__ import FOLDER
from trellis.app.manifests.bundle import INSTALL
from trellis.app.manifests.installation import Installation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

INSTALLATION = Installation()
TOPOLOGY = "/apis/grove.io/v1alpha1/clustertopologies/grove-topology"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{INSTALLATION.namespace}/leases"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


@dataclass(frozen=True, slots=True)
class Running:
    process: asyncio.subprocess.Process
    health: int
    output: Path

    async def why_not_ready(self) -> str:
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.get(f"http://127.0.0.1:{self.health}/readyz") as answer,
            ):
                return "" if answer.status == 200 else await answer.text()
        except aiohttp.ClientConnectionError:
            assert self.process.returncode is None, self.output.read_text()
            return "does not listen yet"

    async def until_ready(self) -> None:
        async def ready() -> bool:
            return not await self.why_not_ready()

        await eventually(ready, "the operator to be ready", patience=60)


@pytest.fixture(scope="module")
async def installed(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    """A lab of its own with everything that is shipped."""
    if request.config.getoption("--cluster") != LAB:
        pytest.skip("a cluster of somebody's own has an operator of its own")
    async with cluster(LAB, request.config.getoption("--kubernetes")) as found:
        await found.kubectl("apply", "-f", str(FOLDER / INSTALL))
        yield found


def free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


async def as_service_account(found: Cluster, folder: Path) -> Path:
    """A kubeconfig of the shipped account, and of nobody else."""
    arguments = ("create", "token", INSTALLATION.name, "-n", INSTALLATION.namespace)
    config: dict[str, Any] = yaml.safe_load(found.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": (await found.kubectl(*arguments)).strip()}
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


@asynccontextmanager
async def operator(found: Cluster, folder: Path) -> AsyncIterator[Running]:
    folder.mkdir()
    webhooks, health, metrics = free_ports(3)
    configuration = {
        "apiVersion": "operator.config.grove.io/v1alpha1",
        "kind": "OperatorConfiguration",
        "leaderElection": {"enabled": True},
        "clusterTopology": {
            "enabled": True,
            "levels": [
                {"domain": "host", "key": "kubernetes.io/hostname"},
                {"domain": "rack", "key": "topology.kubernetes.io/rack"},
            ],
        },
        "server": {
            "webhooks": {"bindAddress": "127.0.0.1", "port": webhooks},
            "healthProbes": {"bindAddress": "127.0.0.1", "port": health},
            "metrics": {"bindAddress": "127.0.0.1", "port": metrics},
        },
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(configuration))
    kubeconfig = await as_service_account(found, folder)
    await serve_on_loopback(found, webhooks)
    with (folder / "output").open("w") as output:
        process = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name("trellis"),
            *("operator", "--config", str(folder / "config.yaml")),
            *("--kubeconfig", str(kubeconfig)),
            stdout=output,
            stderr=output,
        )
    try:
        yield Running(process, health, folder / "output")
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_it_works_with_the_rights_it_is_shipped_with_and_leaves_in_order(
    installed: Cluster, tmp_path: Path
) -> None:
    async with operator(installed, tmp_path / "a") as running:
        await running.until_ready()

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
        running.process.send_signal(signal.SIGTERM)
        assert await running.process.wait() == 0
    lines = [json.loads(line) for line in running.output.read_text().splitlines()]
    assert not [line for line in lines if "403" in json.dumps(line)], "a right is missing"
    lease = await installed.api.do("GET", f"{LEASES}/grove-operator-leader-election")
    assert not lease["spec"].get("holderIdentity")


async def test_others_are_refused_and_told_what_is_wrong(
    installed: Cluster, tmp_path: Path
) -> None:
    async with operator(installed, tmp_path / "b") as running:
        await running.until_ready()
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
