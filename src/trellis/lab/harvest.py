# SPDX-License-Identifier: Apache-2.0
"""Data files of `embedded` that a running lab fills: what each is made of says its own module."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp

from trellis.lab.build import built
from trellis.lab.cluster import Lab, Place, running
from trellis.lab.components import Settings
from trellis.lab.errors import LabError
from trellis.lab.source import source

# A path and no import: the two rooms are neighbours.
FOLDER = Path(__file__).parents[1] / "embedded" / "wire"


class Asker:
    """The lab's API server, asked as its admin."""

    def __init__(self, lab: Lab, session: aiohttp.ClientSession) -> None:
        self.kubernetes = lab.binary.kubernetes
        self._tls = lab.tls
        self._session = session

    async def fetch(self, path: str, accept: str = "application/json") -> bytes:
        headers = {"Accept": accept}
        async with self._session.get(
            path, ssl=self._tls, headers=headers, raise_for_status=True
        ) as response:
            return await response.read()

    async def create(self, path: str, body: dict[str, Any]) -> None:
        async with self._session.post(path, json=body, ssl=self._tls, raise_for_status=True):
            pass


Harvest = Callable[[Asker], Awaitable[bytes]]


async def harvested(lab: Lab, harvest: Harvest) -> bytes:
    """The content of a data file, as this lab's server would have it."""
    headers = {"Authorization": f"Bearer {lab.token}"}
    async with aiohttp.ClientSession(lab.server, headers=headers) as session:
        return await harvest(Asker(lab, session))


async def _refresh(files: dict[str, Harvest]) -> None:
    binary = built(source())
    async with running(binary, Settings(kubernetes=binary.kubernetes), Place()) as lab:
        for name, harvest in files.items():
            data = await harvested(lab, harvest)
            (FOLDER / name).write_bytes(data)
            print(f"{name}: {len(data)} bytes from Kubernetes {binary.kubernetes}")  # noqa: T201


def refresh(files: dict[str, Harvest]) -> None:
    try:
        asyncio.run(_refresh(files))
    except LabError as error:
        sys.exit(f"make gen: {error}")
