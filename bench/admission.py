# SPDX-License-Identifier: Apache-2.0
"""Admission reviews on one core: our server beside a plain aiohttp handler that answers a constant.

Each server is a process of its own on a core of its own, both over TLS and uvloop; they take turns.
Reviews are sent by the clock, whether or not earlier ones were answered: waiting is not hidden.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import sys
import tempfile
import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING

import aiohttp
import uvloop
from aiohttp import web
from prometheus_client import CollectorRegistry

from trellis.instruments.clock import SystemClock
from trellis.webhooks.certificates import Authority, Pair, Subject
from trellis.webhooks.identity import Identity
from trellis.webhooks.intake import Intake
from trellis.webhooks.metrics import Metrics
from trellis.webhooks.server import AdmissionServer, Listen
from trellis.webhooks.tls import ServingCertificate
from trellis.webhooks.verdict import Allowed, Verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from trellis.webhooks.review import Review

OURS = "trellis"
PLAIN = "plain aiohttp"
ROUNDS = 3
RATE = 300
SECONDS = 10
BURST = 3000
CONCURRENCY = 16
WARM_UP = 300
GOAL_SECONDS = 0.010

HOST = "127.0.0.1"
PATH = "/pods"
HEADERS = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Run:
    per_second: float
    cpu: float
    """Seconds of the server's CPU a review, at full speed."""
    p50: float
    p99: float


async def measure() -> None:
    now = SystemClock().now()
    authority = Authority.create("bench", now)
    pair = authority.issue(Subject(name="bench", hosts=(HOST,)), now)
    runs: dict[str, list[Run]] = {OURS: [], PLAIN: []}
    with _own_core() as other:
        for _ in range(ROUNDS):
            for name, found in runs.items():
                async with (
                    _server(name, pair, other) as (pid, port),
                    _client(authority) as session,
                ):
                    found.append(await _run(pid, _sender(session, port)))
    print(f"admission, reviews of {len(_body())} bytes, {ROUNDS} rounds (medians)")
    for name, found in runs.items():
        _report(name, found)
    ratio = median(run.cpu for run in runs[OURS]) / median(run.cpu for run in runs[PLAIN])
    p99 = median(run.p99 for run in runs[OURS])
    verdict = "met" if p99 <= GOAL_SECONDS else "missed"
    print(f"  a review costs {ratio:.1f} times the CPU of the constant")
    print(f"  goal p99 <= {GOAL_SECONDS * 1000:.0f} ms at {RATE} reviews/s: {verdict}")


async def _run(pid: int, send: Callable[[], Awaitable[None]]) -> Run:
    await _closed_loop(send, WARM_UP)
    cpu, started = _cpu_seconds(pid), time.perf_counter()
    await _closed_loop(send, BURST)
    elapsed, cpu = time.perf_counter() - started, _cpu_seconds(pid) - cpu
    latencies = await _open_loop(send)
    percentiles = quantiles(latencies, n=100)
    return Run(BURST / elapsed, cpu / BURST, percentiles[49], percentiles[98])


async def _closed_loop(send: Callable[[], Awaitable[None]], count: int) -> None:
    left = iter(range(count))

    async def sender() -> None:
        for _ in left:
            await send()

    await asyncio.gather(*(sender() for _ in range(CONCURRENCY)))


async def _open_loop(send: Callable[[], Awaitable[None]]) -> list[float]:
    async def one() -> float:
        started = time.perf_counter()
        await send()
        return time.perf_counter() - started

    begun, sent = time.perf_counter(), []
    for number in range(RATE * SECONDS):
        await asyncio.sleep(max(0.0, begun + number / RATE - time.perf_counter()))
        sent.append(asyncio.create_task(one()))
    return [await task for task in sent]


def _report(name: str, runs: list[Run]) -> None:
    speed, cpu = median(run.per_second for run in runs), median(run.cpu for run in runs)
    p50, p99 = median(run.p50 for run in runs), median(run.p99 for run in runs)
    print(
        f"  {name:14} {speed:6.0f} reviews/s ({CONCURRENCY} at once), {cpu * 1e6:4.0f} µs CPU   "
        f"at {RATE}/s: p50 {p50 * 1000:5.2f} ms, p99 {p99 * 1000:5.2f} ms"
    )


@asynccontextmanager
async def _server(name: str, pair: Pair, core: int) -> AsyncIterator[tuple[int, int]]:
    """The server as a process; yields its pid and port."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.admission", name, str(core)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin  # noqa: S101  asked for above
    assert process.stdout  # noqa: S101
    try:
        given = {"certificate": pair.certificate.decode(), "key": pair.key.decode()}
        process.stdin.write(json.dumps(given).encode() + b"\n")
        yield process.pid, int(await process.stdout.readline())
    finally:
        # The server ends with its input.
        process.stdin.close()
        await process.wait()


def _client(authority: Authority) -> aiohttp.ClientSession:
    context = ssl.create_default_context(cadata=authority.pair.certificate.decode())
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context, limit=0))


def _sender(session: aiohttp.ClientSession, port: int) -> Callable[[], Awaitable[None]]:
    url, body = f"https://{HOST}:{port}{PATH}", _body()

    async def send() -> None:
        async with session.post(url, data=body, headers=HEADERS) as answer:
            answer.raise_for_status()
            await answer.read()

    return send


@contextmanager
def _own_core() -> Iterator[int]:
    """Keeps this process on one core, where the system can; yields another, for the servers."""
    if not hasattr(os, "sched_setaffinity"):
        yield 0
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield max(cores)
    finally:
        os.sched_setaffinity(0, cores)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _body() -> bytes:
    """The review of a pod such as a workload makes, about 4 KiB."""
    container = {
        "name": "trainer",
        "image": "registry.example/team/trainer:1.0",
        "command": ["python", "-m", "train"],
        "env": [{"name": f"SETTING_{number}", "value": "x" * 24} for number in range(12)],
        "resources": {"limits": {"nvidia.com/gpu": "8"}, "requests": {"cpu": "16"}},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    metadata = {
        "name": "trainer-0",
        "namespace": "team",
        "labels": {f"example.com/label-{number}": "value" for number in range(8)},
        "managedFields": [{"manager": "m", "fieldsV1": {f"f:{n}": {} for n in range(40)}}],
    }
    spec = {
        "containers": [container, {**container, "name": "sidecar"}],
        "volumes": [{"name": "data", "emptyDir": {}}],
        "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}],
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    request = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "name": "trainer-0",
        "namespace": "team",
        "operation": "CREATE",
        "userInfo": {"username": "system:serviceaccount:trellis:operator"},
        "object": pod,
        "oldObject": None,
    }
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return json.dumps(review).encode()


def _inject(review: Review) -> Verdict:
    """What a webhook of ours does to a pod: a label, a gate, a toleration."""
    pod = review.new()
    pod["metadata"]["labels"]["trellis.dev/seen"] = "true"
    pod["spec"]["schedulingGates"] = [{"name": "trellis.dev/gate"}]
    pod["spec"]["tolerations"].append({"key": "nvidia.com/gpu", "operator": "Exists"})
    return Allowed(object=pod, warnings=("a gate was set",))


async def _serve(name: str) -> None:
    """In the child: serves until its input ends."""
    loop = asyncio.get_running_loop()
    given = json.loads(await loop.run_in_executor(None, sys.stdin.readline))
    pair = Pair(given["certificate"].encode(), given["key"].encode())
    start = _start_ours if name == OURS else _start_plain
    print(await start(pair), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


async def _start_ours(pair: Pair) -> int:
    clock = SystemClock()
    intake = Intake({PATH: _inject}, clock=clock, metrics=Metrics(CollectorRegistry(), [PATH]))
    certificate = ServingCertificate()
    certificate.use(Identity(pair), clock.now())
    server = AdmissionServer(intake, certificate, Listen(host=HOST, port=0), clock)
    await server.start()
    return server.port


async def _start_plain(pair: Pair) -> int:
    answer = json.dumps({"response": {"uid": "705ab4f5", "allowed": True}}).encode()

    async def constant(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=answer, content_type="application/json")

    application = web.Application()
    application.router.add_post(PATH, constant)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, HOST, 0, ssl_context=_context(pair))
    await site.start()
    return site.port


def _context(pair: Pair) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile() as file:
        file.write(pair.certificate + pair.key)
        file.flush()
        context.load_cert_chain(file.name)
    return context


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(sys.argv[2])})
    uvloop.run(_serve(sys.argv[1]))
