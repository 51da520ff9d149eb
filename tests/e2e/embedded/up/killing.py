# SPDX-License-Identifier: Apache-2.0
"""Killing a cluster while it is written to: python -m tests.e2e.embedded.up.killing [TIMES]

Whoever got an answer must find what was answered, in the next life of the same data.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp

from tests.support.cluster import cluster
from tests.support.ups import UP, Home, up

if TYPE_CHECKING:
    from tests.support.api import Api

WRITERS = 8
MAPS = "/api/v1/namespaces/default/configmaps"
BARE = ("--no-operator", "--no-example", "--nodes", "0")


@dataclass(slots=True)
class Ledger:
    """The value that each object must have at least; `unsure` were asked for and not answered."""

    values: dict[str, int] = field(default_factory=dict)
    unsure: dict[str, int] = field(default_factory=dict)
    acknowledged: int = 0
    version: int = 0

    def check(self, found: dict[str, int]) -> None:
        lost = {
            name: (value, found.get(name))
            for name, value in self.values.items()
            if found.get(name) not in {value, self.unsure.get(name)}
        }
        assert not lost, f"acknowledged, and lost: {lost}"
        for name in self.unsure:
            if name in found:
                self.values[name] = found[name]
        self.unsure.clear()


async def killed_under_load(
    home: Home, data: Path, ledger: Ledger, after: int, *options: str
) -> None:
    """One life: what earlier ones promised is there; then it is killed after so many writes."""
    async with up(home, *BARE, *options, "--data", data) as life:
        await life.until_said(UP)
        async with cluster(str(home.kubeconfig())) as found:
            await _check(found.api, ledger)
            enough = asyncio.Event()
            writers = [
                asyncio.create_task(_write(found.api, ledger, number, after, enough))
                for number in range(WRITERS)
            ]
            waiting = asyncio.create_task(enough.wait())
            await asyncio.wait({waiting, *writers}, return_when=asyncio.FIRST_COMPLETED)
            life.process.kill()
            await life.process.wait()
            await asyncio.gather(*writers)
            assert waiting.done(), "the server was gone before it was killed"
    assert life.process.returncode == -signal.SIGKILL, life.said()


async def _check(api: Api, ledger: Ledger) -> None:
    listed = await api.do("GET", MAPS)
    assert int(listed["metadata"]["resourceVersion"]) >= ledger.version
    ledger.check(
        {
            one["metadata"]["name"]: int(one["data"]["value"])
            for one in listed["items"]
            if "value" in one.get("data", {})
        }
    )


async def _write(api: Api, ledger: Ledger, writer: int, after: int, enough: asyncio.Event) -> None:
    """Creates and changes objects of its own until the server is gone."""
    with contextlib.suppress(aiohttp.ClientError):
        for turn in range(1_000_000):
            name = f"w{writer}-{turn % 20}"
            value = ledger.values.get(name, 0) + 1
            body = {"metadata": {"name": name}, "data": {"value": str(value)}}
            ledger.unsure[name] = value
            if name in ledger.values:
                made = await api.do("PATCH", f"{MAPS}/{name}", body, patch="merge")
            else:
                made = await api.do("POST", MAPS, body)
            del ledger.unsure[name]
            ledger.values[name] = value
            ledger.version = max(ledger.version, int(made["metadata"]["resourceVersion"]))
            ledger.acknowledged += 1
            if ledger.acknowledged % after == 0:
                enough.set()


async def main(times: int) -> None:
    dice = random.Random(1)  # noqa: S311
    ledger = Ledger()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(times):
            data = Path(folder) / "data"
            await killed_under_load(Home(Path(folder)), data, ledger, dice.randint(1, 500))
            print(f"killed {number + 1} times, {ledger.acknowledged} writes kept", flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
