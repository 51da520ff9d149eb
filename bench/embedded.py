# SPDX-License-Identifier: Apache-2.0
"""What the embedded API server does on one core: creates, events told to watchers, memory.

Clients are on the other core and speak plain HTTP/1.1 over TLS to it, as kubectl would.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import ssl
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import msgspec
import uvloop

from bench.apart import server_of
from trellis.embedded.running import Plan, running
from trellis.instruments.clock import SystemClock
from trellis.instruments.logs import configure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CREATES = 4000
IN_FLIGHT = 32
WATCHERS = (1, 10, 50)
WRITES = 1500
ROUNDS = 3
GOALS = {"creates": 1000, "events": 50_000, "empty": 120}
CLIENT_CORE, SERVER_CORE = 0, 1
PODS, MAPS = "/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/configmaps"
TICKS = os.sysconf("SC_CLK_TCK")
POD: dict[str, Any] = {
    "metadata": {"generateName": "worker-", "labels": {"app": "bench", "tier": "gpu"}},
    "spec": {
        "schedulerName": "nobody",
        "containers": [
            {
                "name": "main",
                "image": "example.com/app:1",
                "env": [{"name": f"E{number}", "value": "v"} for number in range(8)],
                "resources": {"limits": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "8"}},
            }
        ],
    },
}


class Address(msgspec.Struct):
    server: str
    authority: str
    token: str
    pid: int


def serve() -> None:
    """In a process and on a core of its own, on the loop that `trellis up` uses."""
    os.sched_setaffinity(0, {SERVER_CORE % (os.cpu_count() or 1)})
    configure(SystemClock(), level=logging.ERROR)
    uvloop.run(_serve())


async def _serve() -> None:
    async with running(Plan(controllers=False, scheduler=False)) as cluster:
        address = Address(cluster.server, cluster.authority.decode(), cluster.token, os.getpid())
        print(msgspec.json.encode(address).decode(), flush=True)
        raise await cluster.failure()


async def measure() -> None:
    os.sched_setaffinity(0, {CLIENT_CORE % (os.cpu_count() or 1)})
    async with server_of("bench.embedded") as line:
        address = msgspec.json.decode(line, type=Address)
        async with _session(address) as session:
            await _make_account(session)
            empty = _resident(address.pid)
            _say("memory, empty", f"{empty:.0f} MB", empty <= GOALS["empty"])
            await _creates(session, address.pid)
            for watchers in WATCHERS:
                await _events(session, address.pid, watchers)


@asynccontextmanager
async def _session(address: Address) -> AsyncIterator[aiohttp.ClientSession]:
    tls = ssl.create_default_context(cadata=address.authority)
    connector = aiohttp.TCPConnector(ssl=tls, limit=0)
    headers = {"Authorization": f"Bearer {address.token}", "Content-Type": "application/json"}
    async with aiohttp.ClientSession(
        address.server, connector=connector, headers=headers, read_bufsize=1 << 20
    ) as session:
        yield session


async def _make_account(session: aiohttp.ClientSession) -> None:
    """Without it no pod can be made, and no controller runs here that would make it."""
    body = json.dumps({"metadata": {"name": "default"}})
    async with session.post("/api/v1/namespaces/default/serviceaccounts", data=body) as answer:
        answer.raise_for_status()


async def _creates(session: aiohttp.ClientSession, pid: int) -> None:
    body = json.dumps(POD).encode()

    async def some(count: int) -> None:
        for _ in range(count):
            async with session.post(PODS, data=body) as answer:
                answer.raise_for_status()
                await answer.read()

    best = (0.0, 0.0)
    for _ in range(ROUNDS):
        began, cpu = time.perf_counter(), _cpu(pid)
        await asyncio.gather(*(some(CREATES // IN_FLIGHT) for _ in range(IN_FLIGHT)))
        rate = CREATES / (time.perf_counter() - began)
        best = max(best, (rate, (_cpu(pid) - cpu) / CREATES * 1e6))
    rate, micros = best
    _say("pod creates", f"{rate:6.0f}/s, {micros:.0f} us of CPU each", rate >= GOALS["creates"])


async def _events(session: aiohttp.ClientSession, pid: int, watchers: int) -> None:
    """Counts what arrives; a client that decoded it all would be slower than the server."""
    ready, expected = asyncio.Semaphore(0), WRITES

    async def watch() -> None:
        async with session.get(MAPS, params={"watch": "1", "resourceVersion": version}) as stream:
            ready.release()
            seen = 0
            async for chunk in stream.content.iter_any():
                seen += chunk.count(b"\n")
                if seen >= expected:
                    return

    async with session.get(MAPS) as answer:
        version = (await answer.json())["metadata"]["resourceVersion"]
    watching = [asyncio.create_task(watch()) for _ in range(watchers)]
    for _ in watching:
        await ready.acquire()
    began, cpu = time.perf_counter(), _cpu(pid)
    await asyncio.gather(*(_write(session, watchers, number) for number in range(IN_FLIGHT)))
    await asyncio.gather(*watching)
    told = watchers * WRITES
    rate, micros = told / (time.perf_counter() - began), (_cpu(pid) - cpu) / told * 1e6
    goal = rate >= GOALS["events"] if watchers == max(WATCHERS) else None
    _say(f"events, {watchers} watchers", f"{rate:6.0f}/s, {micros:.0f} us of CPU each", goal)


async def _write(session: aiohttp.ClientSession, watchers: int, worker: int) -> None:
    for number in range(worker, WRITES, IN_FLIGHT):
        body = {"metadata": {"name": f"w{watchers}-{number}"}, "data": {"text": "x" * 1000}}
        async with session.post(MAPS, data=json.dumps(body)) as answer:
            answer.raise_for_status()
            await answer.read()


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _say(what: str, figure: str, met: bool | None) -> None:
    verdict = "" if met is None else f"   goal {'met' if met else 'MISSED'}"
    print(f"  {what:22} {figure}{verdict}")
