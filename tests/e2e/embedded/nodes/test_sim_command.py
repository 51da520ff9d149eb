# SPDX-License-Identifier: Apache-2.0
"""`trellis sim` as a person uses it."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.support.nodes import NODES
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.api import Api
    from tests.support.cluster import Cluster

COMMAND = (sys.executable, "-c", "from trellis.cli.sim import app; app()")
NODE = "tiny-r001-n01"


async def sim(cluster: Cluster, *arguments: str) -> tuple[int, str]:
    """Runs the command to its end: its exit code, and what it said."""
    process = await start(cluster, *arguments)
    output, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, output.decode()


async def start(cluster: Cluster, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *COMMAND,
        *arguments,
        "--kubeconfig",
        cluster.kubeconfig,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )


@asynccontextmanager
async def running(cluster: Cluster, *arguments: str) -> AsyncIterator[None]:
    """Simulated nodes until the end of the block, which is a Ctrl-C."""
    process = await start(cluster, "nodes", *arguments)
    assert process.stdout is not None
    said: list[bytes] = []
    while b"simulated nodes are ready" not in (line := await process.stdout.readline()):
        assert line, f"it ended: {b''.join(said).decode()}"
        said.append(line)
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        rest = await process.stdout.read()
        assert await process.wait() == 0, rest.decode()


async def test_nodes_are_there_until_ctrl_c(cluster: Cluster, api: Api) -> None:
    async with running(cluster, "--fleet", "nvl72", "--nodes", "20"):
        nodes = (await api.do("GET", NODES))["items"]
        racks = {node["metadata"]["labels"]["topology.kubernetes.io/rack"] for node in nodes}
        assert (len(nodes), racks) == (20, {"nvl72-r001", "nvl72-r002"})
    assert (await api.do("GET", NODES))["items"] == []


async def test_faults_reach_the_simulator_through_the_api(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    path = f"{NODES}/{NODE}"
    pods = f"/api/v1/namespaces/{namespace}/pods"

    async def allocatable(number: str) -> bool:
        return bool(
            (await api.do("GET", path))["status"]["allocatable"]["nvidia.com/gpu"] == number
        )

    async def restarts(number: int) -> bool:
        statuses = (await api.do("GET", f"{pods}/story"))["status"].get("containerStatuses", [])
        return [one["restartCount"] for one in statuses if one["state"].get("running")] == [number]

    async with running(cluster, "--nodes", "1"):
        card = (NODE, "0000:17:00.0")
        assert await sim(cluster, "fault", "gpu", *card, "--xid", "79") == (
            0,
            f"node {NODE}: 1 fault now\n",
        )
        await eventually(partial(allocatable, "3"), "a card less")
        assert await sim(cluster, "fault", "gpu", *card, "--clear") == (
            0,
            f"node {NODE}: 0 faults now\n",
        )
        await eventually(partial(allocatable, "4"), "the card back")

        container = {"name": "main", "image": "image"}
        body = {"metadata": {"name": "story"}, "spec": {"containers": [container]}}
        await api.do("POST", pods, body)
        await eventually(partial(restarts, 0), "the pod running")
        code, said = await sim(cluster, "fault", "pod", f"{namespace}/story", "--oom")
        assert (code, said) == (0, f"pod {namespace}/story: OOMKilled, exit code 137\n")
        await eventually(partial(restarts, 1), "the pod restarted")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        pytest.param(
            ("fault", "node", "none", "--vanish"), 1, "there is no node none", id="no such node"
        ),
        pytest.param(
            ("fault", "node", "none"), 2, "say what goes wrong, or --clear", id="nothing asked"
        ),
        pytest.param(
            ("fault", "node", "none", "--vanish", "--for", "soon"),
            2,
            "--for: 'soon' is no duration; write it like 30s",
            id="no duration",
        ),
        pytest.param(
            ("fault", "pod", "name", "--crash"), 2, "write it as namespace/name", id="no namespace"
        ),
        pytest.param(
            ("nodes", "--fleet", "huge"), 2, "or use one of tiny, nvl72", id="no such fleet"
        ),
    ],
)
async def test_what_cannot_be_done_is_said_in_one_line(
    cluster: Cluster, arguments: tuple[str, ...], code: int, said: str
) -> None:
    found, output = await sim(cluster, *arguments)
    assert found == code
    assert said in output
    assert len(output.splitlines()) == 1


async def test_a_cluster_with_real_nodes_is_refused(cluster: Cluster, api: Api) -> None:
    await api.do("POST", NODES, {"metadata": {"name": "real"}})
    try:
        code, said = await sim(cluster, "nodes")
        assert code == 1
        assert (
            "has 1 real nodes (real); simulated ones beside them need --beside-real-nodes" in said
        )
        async with running(cluster, "--beside-real-nodes"):
            node = await api.do("GET", f"{NODES}/{NODE}")
            assert "sim.trellis.dev/node" in {taint["key"] for taint in node["spec"]["taints"]}
        assert [one["metadata"]["name"] for one in (await api.do("GET", NODES))["items"]] == [
            "real"
        ]
    finally:
        await api.do("DELETE", f"{NODES}/real")
