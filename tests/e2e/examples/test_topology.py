# SPDX-License-Identifier: Apache-2.0
"""`examples/topology`, followed as `docs/topology.md` tells it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.e2e.app.operators import TRELLIS, a_configuration, free_ports, operator
from tests.support.cluster import OURS, Cluster
from tests.support.cluster import cluster as new_cluster
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "examples" / "topology"
CONFIGURATION = FOLDER / "operator.yaml"


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text())
    return found


def trellis(*arguments: str) -> str:
    done = subprocess.run([TRELLIS, *arguments], capture_output=True, text=True, check=True)
    assert not done.stderr
    return done.stdout


@pytest.fixture
async def bare(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    """A cluster of this test alone, with nothing of ours in it."""
    target = request.config.getoption("--cluster")
    if target not in OURS:
        pytest.skip("a cluster of somebody's own may have a grove-topology that matters")
    async with new_cluster(target, request.config.getoption("--kubernetes")) as found:
        yield found


def test_its_configuration_is_valid() -> None:
    said = trellis("operator", "--check-config", "--config", str(CONFIGURATION))
    assert said == "the configuration is valid\n"


async def test_a_newcomer_gets_a_topology_that_is_ready(bare: Cluster, tmp_path: Path) -> None:
    await bare.kubectl("apply", "-f", "-", stdin=trellis("crds"))
    await bare.until_established()
    # Only where it listens is changed: the ports of the example may be taken here.
    ports = free_ports()
    levels = read("operator.yaml")["clusterTopology"]
    config = a_configuration(tmp_path, ports, clusterTopology=levels)
    arguments = ("--config", config, "--controllers", "clustertopology")
    async with operator(tmp_path, *arguments, "--kubeconfig", bare.kubeconfig) as running:
        await running.until_ready(ports)

        async def made() -> str:
            return await bare.kubectl("get", "ct", "grove-topology", "-o", "yaml", check=False)

        async def there() -> bool:
            return "kind: ClusterTopology" in await made()

        await eventually(there, "grove-topology to be made")
        await bare.kubectl("wait", "--for=condition=Ready", "clustertopology/grove-topology")
        expected = read("grove-topology.yaml")
        assert yaml.safe_load(await made())["spec"] == expected["spec"]
        rows = (await bare.kubectl("get", "clustertopology")).splitlines()
        assert rows[1].split()[:3] == ["grove-topology", "True", "TopologyReady"]
        await bare.kubectl("apply", "-f", str(FOLDER / "my-topology.yaml"))
