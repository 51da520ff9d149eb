# SPDX-License-Identifier: Apache-2.0
"""What the client costs: creates and watch events beside plain aiohttp, in one run.

Against a bare HTTP server the client is the bottleneck: its process has one core, the server the
other. On the lab the API server is, so its CPU per create is what counts there.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, cast

import aiohttp
import msgspec
import uvloop

from bench.apart import server_of
from trellis.api.meta import Resource
from trellis.instruments.clock import SystemClock
from trellis.kube.access import Access, Surroundings
from trellis.kube.connect import connected, find_access
from trellis.kube.credentials import Identity, Stored
from trellis.kube.events import Delta
from trellis.kube.resource import path
from trellis.kube.tls import Trust
from trellis.lab.build import built
from trellis.lab.cluster import Lab, Place, running
from trellis.lab.components import API_SERVER, ETCD, Settings
from trellis.lab.source import source

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from contextlib import AbstractAsyncContextManager

    Create = Callable[[bytes], Awaitable[object]]

ROUNDS = 3
CREATES = 4000
EVENTS = 20_000
LAB_CREATES = 1000
IN_FLIGHT = 32
PLAIN, OURS = "plain aiohttp", "trellis.kube"
PODS = Resource("", "v1", "Pod", "pods")
PATH = path(PODS, "default")
CLIENT_CORE, SERVER_CORE = 0, 1
TICKS = os.sysconf("SC_CLK_TCK")
RNG = random.Random(0)  # noqa: S311


class Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = {}


class PodSpec(msgspec.Struct, frozen=True, rename="camel"):
    node_name: str = ""


class Condition(msgspec.Struct, frozen=True):
    type: str
    status: str


class PodStatus(msgspec.Struct, frozen=True):
    phase: str = ""
    conditions: tuple[Condition, ...] = ()


class Pod(msgspec.Struct, frozen=True):
    """As lean as a controller's cache keeps it."""

    metadata: Metadata
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class Event(msgspec.Struct, frozen=True):
    type: str
    object: Pod


class Figure(msgspec.Struct, frozen=True):
    """How many a second, and the client's own CPU for one, in microseconds."""

    rate: float
    micros: float


async def measure() -> None:
    async with server_of("bench.client") as server:
        for what, count in (("creates", CREATES), ("events", EVENTS)):
            print(f"client: {count} {what}, bare HTTP server, one core, best of {ROUNDS} (median)")
            runs = [(name, await _client(name, what, server)) for name in (PLAIN, OURS) * ROUNDS]
            best = {name: max(f.rate for who, f in runs if who == name) for name in (PLAIN, OURS)}
            for name in (PLAIN, OURS):
                rates = [figure.rate for who, figure in runs if who == name]
                micros = [figure.micros for who, figure in runs if who == name]
                print(
                    f"  {name:14} {max(rates):7.0f}/s ({median(rates):.0f})"
                    f"   {min(micros):4.0f} us of CPU each ({median(micros):.0f})"
                )
            print(f"  {OURS} has {best[OURS] / best[PLAIN]:.2f} times the rate of {PLAIN}")
    await _measure_lab()


async def _measure_lab() -> None:
    binary = built(source())
    async with running(binary, Settings(kubernetes=binary.kubernetes), Place()) as lab:
        print(f"client: {LAB_CREATES} pods on the lab, Kubernetes {binary.kubernetes}, all cores")
        for turn in range(ROUNDS):
            for name in (PLAIN, OURS):
                before = {component: _cpu(lab.pid(component)) for component in (API_SERVER, ETCD)}
                async with _lab_creator(name, lab) as create:
                    figure = await _timed(_creates(create, LAB_CREATES, f"{name[:1]}{turn}"))
                spent = {
                    component: (_cpu(lab.pid(component)) - used) / LAB_CREATES * 1000
                    for component, used in before.items()
                }
                print(
                    f"  {name:14} {LAB_CREATES * figure.rate:6.0f}/s  a create costs the client"
                    f" {figure.micros / LAB_CREATES:4.0f} us, the API server"
                    f" {spent[API_SERVER]:.2f} ms, etcd {spent[ETCD]:.2f} ms"
                )


async def _client(name: str, what: str, server: str) -> Figure:
    """In a process of its own, on one core, on the loop that production uses."""
    code = f"from bench.client import run; run({name!r}, {what!r}, {server!r})"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    return msgspec.json.decode(output, type=Figure)


def run(name: str, what: str, server: str) -> None:
    os.sched_setaffinity(0, {CLIENT_CORE % (os.cpu_count() or 1)})
    count, work = (CREATES, _local_creates) if what == "creates" else (EVENTS, _local_events)
    figure = uvloop.run(_timed(work(name, server)))
    each = Figure(figure.rate * count, figure.micros / count)
    sys.stdout.buffer.write(msgspec.json.encode(each))


async def _timed(work: Awaitable[None]) -> Figure:
    wall, cpu = time.perf_counter(), time.process_time()
    await work
    return Figure(1 / (time.perf_counter() - wall), (time.process_time() - cpu) * 1e6)


async def _local_creates(name: str, server: str) -> None:
    creator = _ours(_local_access(server)) if name == OURS else _plain(server, None, "")
    async with creator as create:
        await _creates(create, CREATES, "pod")


async def _creates(create: Create, count: int, prefix: str) -> None:
    bodies = iter([_body(f"{prefix}-{index}") for index in range(count)])

    async def worker() -> None:
        for body in bodies:
            await create(body)

    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))


async def _local_events(name: str, server: str) -> None:
    cache: dict[str, Pod] = {}
    if name == PLAIN:
        await _plain_events(server, cache)
        return
    async with connected(_local_access(server), SystemClock(), RNG) as client:
        pods = client.of(PODS, Pod, "default")
        async with pods.watch(resource_version="1") as watch:
            async for update in watch:
                if isinstance(update, Delta):
                    cache.update(
                        (change.name, change.object) for change in update.changes if change.object
                    )
                if update.resource_version == str(EVENTS):
                    return


async def _plain_events(server: str, cache: dict[str, Pod]) -> None:
    decoder = msgspec.json.Decoder(Event)
    rest, seen = b"", 0
    async with aiohttp.ClientSession() as session, session.get(f"{server}{PATH}?watch=1") as answer:
        async for chunk in answer.content.iter_any():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                pod = decoder.decode(line).object
                cache[pod.metadata.name] = pod
            seen += len(lines)
            if seen == EVENTS:
                return


@asynccontextmanager
async def _plain(server: str, tls: Any, token: str) -> AsyncIterator[Create]:
    decoder = msgspec.json.Decoder(Pod)
    headers = {"Content-Type": "application/json"} | (
        {"Authorization": f"Bearer {token}"} if token else {}
    )
    async with aiohttp.ClientSession(headers=headers) as session:

        async def create(body: bytes) -> object:
            async with session.post(server + PATH, data=body, ssl=tls or True) as answer:
                answer.raise_for_status()
                return decoder.decode(await answer.read())

        yield create


@asynccontextmanager
async def _ours(access: Access) -> AsyncIterator[Create]:
    async with connected(access, SystemClock(), RNG) as client:
        yield client.of(PODS, Pod, "default").create


def _lab_creator(name: str, lab: Lab) -> AbstractAsyncContextManager[Create]:
    if name == PLAIN:
        return _plain(lab.server, lab.tls, lab.token)
    surroundings = Surroundings(clock=SystemClock(), environ={})
    return _ours(find_access(surroundings, file=lab.kubeconfig))


def _local_access(server: str) -> Access:
    identity = Stored(Identity, SystemClock())
    return Access(server=server, trust=Trust(where=server), credentials=identity)


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _body(name: str) -> bytes:
    """A pod of 1.3 KB, which is 4.4 KB when stored. No scheduler touches it."""
    container = {
        "name": "main",
        "image": "registry.example.com/team/worker:1.2.3",
        "env": [{"name": f"SETTING_{i}", "value": "a value of some length"} for i in range(12)],
        "resources": {"limits": {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "8"}},
    }
    labels = {f"example.com/label-{index}": f"value-{index}" for index in range(6)}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": {"schedulerName": "nobody", "containers": [container]},
    }
    return msgspec.json.encode(pod)


def _stored(name: str, version: int) -> bytes:
    """The same as the server would show it."""
    pod = msgspec.json.decode(_body(name))
    fields: dict[str, Any] = {
        f"f:field-{index}": {"f:name": {}, "f:value": {}} for index in range(40)
    }
    pod["metadata"] |= {
        "namespace": "default",
        "uid": "0b5e6f58-3a5e-4c43-9d7e-7b3cfc6d3a11",
        "resourceVersion": str(version),
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "managedFields": [{"manager": "trellis", "operation": "Update", "fieldsV1": fields}],
    }
    conditions = ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    pod["status"] = {
        "phase": "Running",
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
            for kind in conditions
        ],
    }
    return msgspec.json.encode(pod)


def serve() -> None:
    """Answers every POST with a stored pod, and every GET with a watch of `EVENTS` events."""
    os.sched_setaffinity(0, {SERVER_CORE % (os.cpu_count() or 1)})
    _Answering.chunks = _chunks()

    async def forever() -> None:
        loop = asyncio.get_running_loop()
        listening = await loop.create_server(_Answering, "127.0.0.1", 0)
        print(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", flush=True)
        await listening.serve_forever()

    uvloop.run(forever())


def _created() -> bytes:
    pod = _stored("pod", 1)
    head = f"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: {len(pod)}"
    return head.encode() + b"\r\n\r\n" + pod


def _chunks() -> tuple[bytes, ...]:
    """One chunk an event, as the API server sends them; a hundred events to a write."""
    lines = (
        b'{"type":"MODIFIED","object":' + _stored(f"pod-{index % 5000}", index) + b"}\n"
        for index in range(1, EVENTS + 1)
    )
    chunks = [f"{len(line):x}\r\n".encode() + line + b"\r\n" for line in lines]
    return tuple(b"".join(chunks[start : start + 100]) for start in range(0, EVENTS, 100))


class _Answering(asyncio.Protocol):
    """HTTP/1.1 with nothing that a benchmark does not need."""

    created = _created()
    chunks: tuple[bytes, ...] = ()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._received = b""
        self._writable = asyncio.Event()
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        self._received += data
        while True:
            head, found, rest = self._received.partition(b"\r\n\r\n")
            if not found:
                return
            length = 0
            for line in head.split(b"\r\n"):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            if len(rest) < length:
                return
            self._received = rest[length:]
            self._answer(head)

    def _answer(self, head: bytes) -> None:
        if head.startswith(b"POST"):
            self._transport.write(self.created)
        else:
            self._watching = asyncio.ensure_future(self._watch())

    async def _watch(self) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        self._transport.write(head + b"Transfer-Encoding: chunked\r\n\r\n")
        for chunk in self.chunks:
            await self._writable.wait()
            self._transport.write(chunk)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()
