# SPDX-License-Identifier: Apache-2.0
"""How long a lab takes to be ready and to be gone, alone and two at once."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from trellis.lab.build import Binary, built
from trellis.lab.cluster import Lab, Place
from trellis.lab.components import COMPONENTS, Settings
from trellis.lab.source import source

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNS = 5


@dataclass(frozen=True, slots=True)
class Run:
    ready: float
    stop: float
    memory: int
    """Resident memory of all components when ready, in MB."""


async def measure() -> None:
    binary = built(source())
    alone = [await _run(binary) for _ in range(RUNS)]
    pairs = [await asyncio.gather(_run(binary), _run(binary)) for _ in range(RUNS)]
    together = [run for pair in pairs for run in pair]
    print(f"lab, Kubernetes {binary.kubernetes}, {RUNS} runs (median, worst)")
    _report("one", alone)
    _report("two at once", together)
    ratio = median(run.ready for run in together) / median(run.ready for run in alone)
    print(f"  two at once take {ratio:.2f} times as long to be ready as one")


async def _run(binary: Binary) -> Run:
    lab = Lab(binary, Settings(kubernetes=binary.kubernetes), Place())
    started = time.perf_counter()
    try:
        await lab.start()
        ready = time.perf_counter() - started
        memory = sum(_resident(lab.pid(component)) for component in COMPONENTS)
    finally:
        stopping = time.perf_counter()
        await lab.stop()
    return Run(ready, time.perf_counter() - stopping, memory >> 20)


def _report(name: str, runs: Sequence[Run]) -> None:
    ready, stop = ([getattr(run, what) for run in runs] for what in ("ready", "stop"))
    print(
        f"  {name:12} ready {median(ready):5.2f} s, {max(ready):5.2f} s   "
        f"stop {median(stop):5.2f} s, {max(stop):5.2f} s   {max(run.memory for run in runs)} MB"
    )


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096
