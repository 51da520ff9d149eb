# SPDX-License-Identifier: Apache-2.0
"""How long `trellis up` takes until a newcomer's first `kubectl get nodes` shows them all.

Everything counts, from the start of Python to kubectl's answer. Beside it, in the same run, what
`kubectl get namespaces` takes on a cluster without nodes: the floor under every figure here.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from trellis.lab.build import built
from trellis.lab.source import source

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

RUNS = 3
TRELLIS = Path(sys.executable).with_name("trellis")
NODES = "/api/v1/nodes?limit=1"
SLICES = "/apis/resource.k8s.io/v1/resourceslices?limit=1"
GOALS = {100: 3.0, 2000: 8.0}
GOAL_MEGABYTES = 120
_POLL_SECONDS = 0.02
_PATIENCE_SECONDS = 300.0


async def measure() -> None:
    empty = [await _empty() for _ in range(RUNS)]
    floor = median(run.seconds for run in empty)
    print(f"trellis up, {RUNS} runs (median, worst)")
    _report("no nodes", empty, "")
    memory = max(run.megabytes for run in empty)
    print(f"  an empty cluster takes {memory} MB (goal {GOAL_MEGABYTES})")
    for nodes, goal in GOALS.items():
        runs = [await _fleet(nodes) for _ in range(RUNS)]
        _report(f"{nodes} nodes", runs, f"(goal {goal:.0f} s)")
        ratio = median(run.seconds for run in runs) / floor
        print(f"  {nodes} nodes take {ratio:.2f} times as long as none")


@dataclass(frozen=True, slots=True)
class Run:
    seconds: float
    megabytes: int


async def _empty() -> Run:
    async with _up("--nodes", "0", "--no-operator", "--no-example") as started:
        await started.kubectl("get", "namespaces")
        return started.run()


async def _fleet(nodes: int) -> Run:
    """With the operator, as a newcomer has it."""
    async with _up("--fleet", "dgx-1k", "--nodes", str(nodes)) as started:
        await started.until(NODES, nodes)
        await started.until(SLICES, nodes)
        shown = len((await started.kubectl("get", "nodes", "--no-headers")).splitlines())
        if shown != nodes:
            sys.exit(f"bench: kubectl showed {shown} of {nodes} nodes")
        return started.run()


@dataclass(frozen=True, slots=True)
class _Started:
    process: asyncio.subprocess.Process
    kubeconfig: Path
    began: float

    def run(self) -> Run:
        seconds = time.perf_counter() - self.began
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return Run(seconds, pages * 4096 >> 20)

    async def until(self, path: str, count: int) -> None:
        """Waits until a list is that long."""
        while time.perf_counter() - self.began < _PATIENCE_SECONDS:
            listed = json.loads(await self.kubectl("get", "--raw", path))
            there = len(listed["items"]) + listed["metadata"].get("remainingItemCount", 0)
            if there >= count:
                return
            await asyncio.sleep(_POLL_SECONDS)
        sys.exit(f"bench: {path} was not {count} long after {_PATIENCE_SECONDS:.0f} s")

    async def kubectl(self, *arguments: str) -> str:
        program = shutil.which("kubectl") or built(source()).kubectl
        process = await asyncio.create_subprocess_exec(
            program, "--kubeconfig", self.kubeconfig, *arguments, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
        if process.returncode:
            sys.exit(f"bench: kubectl {' '.join(arguments)} failed")
        return output.decode()


@asynccontextmanager
async def _up(*options: str) -> AsyncIterator[_Started]:
    """From the start of the process until the block's end. The block begins with a kubeconfig."""
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = Path(folder) / "kubeconfig"
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            TRELLIS,
            "up",
            "--kubeconfig",
            kubeconfig,
            *options,
            env=os.environ | {"XDG_STATE_HOME": folder},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            while not kubeconfig.exists():
                if process.returncode is not None:
                    sys.exit(f"bench: trellis up {' '.join(options)} failed")
                await asyncio.sleep(_POLL_SECONDS)
            yield _Started(process, kubeconfig, began)
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


def _report(name: str, runs: list[Run], goal: str) -> None:
    seconds = [run.seconds for run in runs]
    print(
        f"  {name:12} {median(seconds):5.2f} s, {max(seconds):5.2f} s {goal}"
        f"  {max(run.megabytes for run in runs)} MB"
    )
