# SPDX-License-Identifier: Apache-2.0
"""What the lean Pod cache costs: memory of 50,000 pods over the empty process, and events a second.

Pods come over HTTP from another process, as a real watch brings them: everything there is, then
changes. Beside it, in the same run, the same pods in a plain dict without sharing and indexes.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import uvloop
from aiohttp import web

from bench.apart import server_of
from trellis.api.core.pod import Pod
from trellis.api.meta import Resource
from trellis.instruments.clock import SystemClock
from trellis.kube.access import Access
from trellis.kube.connect import connected
from trellis.kube.credentials import Identity, Stored
from trellis.kube.events import Snapshot
from trellis.kube.tls import Trust
from trellis.runtime.cache import Cache
from trellis.runtime.collector import spared
from trellis.runtime.index import Index
from trellis.runtime.queue import WorkQueue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.meta import Key
    from trellis.kube.watch import Watch

PODS = 50_000
EVENTS = 20_000
ROUNDS = 3
GANG = 8
LIMIT_MB = 150
RESOURCE = Resource("", "v1", "Pod", "pods")
BY_NODE: Index[Pod] = Index("node", lambda pod: [pod.spec.node_name])
PLAIN, OURS = "plain dict", "runtime cache"
CLIENT_CORE, SERVER_CORE = 0, 1


class Figure(msgspec.Struct, frozen=True):
    """Megabytes over the empty process, at rest and at the worst; seconds; CPU of one event."""

    rest: float
    peak: float
    load: float
    rate: float
    micros: float


async def measure() -> None:
    async with server_of("bench.cache") as server:
        print(f"cache: {PODS} pods of {len(_pod(0, 1))} bytes, then {EVENTS} events, one core")
        for name in (PLAIN, OURS):
            figures = [await _client(name, server) for _ in range(ROUNDS)]
            rest, peak = (max(getattr(each, what) for each in figures) for what in ("rest", "peak"))
            print(
                f"  {name:14} {rest:4.0f} MB ({rest * 1e6 / PODS:.0f} bytes a pod), peak {peak:.0f}"
                f"   read in {min(each.load for each in figures):.1f} s"
                f"   {max(each.rate for each in figures):6.0f} events/s,"
                f" {min(each.micros for each in figures):.0f} us of CPU each"
            )
        verdict = "within" if rest <= LIMIT_MB else "OVER"
        print(f"  {OURS} is {verdict} the {LIMIT_MB} MB that {PODS} pods may take")


async def _client(name: str, server: str) -> Figure:
    code = f"from bench.cache import run; run({name!r}, {server!r})"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    return msgspec.json.decode(output, type=Figure)


def run(name: str, server: str) -> None:
    """In a process of its own, on one core, on the loop that production uses."""
    os.sched_setaffinity(0, {CLIENT_CORE % (os.cpu_count() or 1)})
    sys.stdout.buffer.write(msgspec.json.encode(uvloop.run(_measured(name, server))))


async def _measured(name: str, server: str) -> Figure:
    access = Access(
        server=server, trust=Trust(where=server), credentials=Stored(Identity, SystemClock())
    )
    rng = random.Random(0)  # noqa: S311
    async with connected(access, SystemClock(), rng) as client:
        keeper = _Plain() if name == PLAIN else _Ours(rng)
        pods = client.of(RESOURCE, keeper.kind)
        empty, began = _resident(), time.perf_counter()
        async with pods.watch() as watch:
            with spared():
                await _until(watch, keeper, PODS)
            load, rest = time.perf_counter() - began, _resident() - empty
            wall, cpu = time.perf_counter(), time.process_time()
            await _until(watch, keeper, PODS + EVENTS)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3 - empty
    return Figure(rest, peak, load, EVENTS / wall, cpu / EVENTS * 1e6)


async def _until(watch: Watch[Pod], keeper: _Plain | _Ours, version: int) -> None:
    async for news in watch:
        keeper.take(news)
        if int(news.resource_version) >= version:
            return


class _Plain:
    """What the least code would do."""

    kind = Pod

    def __init__(self) -> None:
        self._pods: dict[Key, Pod] = {}

    def take(self, news: Any) -> None:
        found = news.objects if isinstance(news, Snapshot) else [c.object for c in news.changes]
        self._pods.update((pod.metadata.key, pod) for pod in found)


class _Ours:
    """The cache with an index beside that of owners, and a queue that its changes go to."""

    def __init__(self, rng: random.Random) -> None:
        self._cache: Cache[Pod] = Cache(RESOURCE, Pod, [BY_NODE])
        self._queue: WorkQueue[str] = WorkQueue(SystemClock(), rng)
        self._cache.subscribe(self._changed)
        self.kind = self._cache.stored_kind

    def take(self, news: Any) -> None:
        if isinstance(news, Snapshot):
            self._cache.replace(news)
        else:
            self._cache.apply(news)

    def _changed(self, old: Pod | None, new: Pod | None, *, fresh: bool) -> None:
        del fresh
        owners = [pod.metadata.controller for pod in (old, new) if pod is not None]
        for name in dict.fromkeys(owner.name for owner in owners if owner is not None):
            self._queue.add(name)


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def serve() -> None:
    """Answers every request with a watch: all pods, the mark of their end, then the events."""
    os.sched_setaffinity(0, {SERVER_CORE % (os.cpu_count() or 1)})
    first, then = b"".join(_initial()), b"".join(_changes())

    async def watch(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for text in (first, then):
            for start in range(0, len(text), 1 << 16):
                await response.write(text[start : start + (1 << 16)])
        await asyncio.sleep(60)
        return response

    async def forever() -> None:
        application = web.Application()
        application.router.add_get("/{path:.*}", watch)
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
        await asyncio.Event().wait()

    uvloop.run(forever())


def _initial() -> Iterator[bytes]:
    for number in range(PODS):
        yield b'{"type":"ADDED","object":' + _pod(number, number + 1) + b"}\n"
    mark = {"resourceVersion": str(PODS), "annotations": {"k8s.io/initial-events-end": "true"}}
    yield json.dumps({"type": "BOOKMARK", "object": {"metadata": mark}}).encode() + b"\n"


def _changes() -> Iterator[bytes]:
    for number in range(EVENTS):
        changed = _pod(number * 7 % PODS, PODS + number + 1, phase="Succeeded")
        yield b'{"type":"MODIFIED","object":' + changed + b"}\n"


def _pod(number: int, version: int, phase: str = "Running") -> bytes:
    """A pod of a gang of eight, as a server shows it with all that nobody reads."""
    gang = number // GANG
    clique = f"train-{gang}-0-worker"
    name = f"{clique}-{number % GANG}-x{number:05x}"
    stamp = f"2026-05-01T10:{gang // 60 % 60:02d}:{gang % 60:02d}Z"
    owner = {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": clique}
    amounts = {"cpu": "16", "memory": "128Gi", "nvidia.com/gpu": "8"}
    fields: dict[str, Any] = {
        f"f:field-{index}": {"f:name": {}, "f:value": {}} for index in range(40)
    }
    labels = {
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": f"train-{gang}",
        "grove.io/podclique": clique,
        "grove.io/podgang": f"train-{gang}-0",
        "grove.io/podcliqueset-replica-index": "0",
        "grove.io/podclique-pod-index": str(number % GANG),
        "grove.io/pod-template-hash": "v1-5d41402abc4b2a76",
        "grove.io/pcs-name": f"train-{gang}",
        "grove.io/pcs-replica-index": "0",
        "grove.io/clique-name": "worker",
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": f"team-{gang % 50}",
            "uid": f"0e1c9a51-7a4c-4c0e-9d55-{number:012x}",
            "resourceVersion": str(version),
            "generation": 1,
            "creationTimestamp": stamp,
            "labels": labels,
            "ownerReferences": [
                owner | {"uid": f"7ab0a2f4-7a4c-4c0e-9d55-{gang:012x}", "controller": True}
            ],
            "managedFields": [{"manager": "trellis", "operation": "Update", "fieldsV1": fields}],
        },
        "spec": {
            "nodeName": f"node-{number // GANG % 5000:04d}",
            "hostname": f"{clique}-{number % GANG}",
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example.com/team/worker:1.2.3",
                    "env": [{"name": f"SETTING_{i}", "value": "of some length"} for i in range(12)],
                    "resources": {"requests": amounts, "limits": amounts},
                }
            ],
        },
        "status": {
            "phase": phase,
            "conditions": [
                {"type": kind, "status": "True", "lastTransitionTime": stamp}
                for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
            ],
            "containerStatuses": [
                {"name": "main", "ready": True, "started": True, "restartCount": 0, "state": {}}
            ],
        },
    }
    return msgspec.json.encode(pod)
