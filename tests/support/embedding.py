# SPDX-License-Identifier: Apache-2.0
"""python -m tests.support.embedding PLAN: an embedded cluster for tests in another process.

It says in one line where it is, and ends when its standard input does, thus also when whoever
started it is killed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import Any

from trellis.embedded.running import Plan, running
from trellis.instruments.clock import SystemClock
from trellis.instruments.logs import configure
from trellis.runtime.collector import spared


async def _serve(plan: Plan) -> None:
    async with running(plan) as cluster:
        with spared():
            await cluster.ready()
        said = {
            "server": cluster.server,
            "token": cluster.token,
            "authority": cluster.authority.decode(),
            "kubeconfig": cluster.kubeconfig(),
        }
        print(json.dumps(said), flush=True)
        ending = asyncio.create_task(_until_left())
        failing = asyncio.create_task(cluster.failure())
        done, _ = await asyncio.wait({ending, failing}, return_when=asyncio.FIRST_COMPLETED)
        if failing in done:
            raise failing.result()
        failing.cancel()


async def _until_left() -> None:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()


def planned(given: dict[str, Any]) -> Plan:
    data = Path(given["data"]) if given.get("data") else None
    return Plan(**{**given, "data": data})


if __name__ == "__main__":
    # Standard output is for the one line alone.
    configure(SystemClock(), level=logging.WARNING)
    asyncio.run(_serve(planned(json.loads(sys.argv[1]))))
