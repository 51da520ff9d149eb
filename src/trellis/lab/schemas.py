# SPDX-License-Identifier: Apache-2.0
"""Refreshes `trellis/api/schema/kubernetes.json` from the lab's API server: `make gen`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp

from trellis.api import schema
from trellis.api.schema.builtin import DATA
from trellis.api.schema.openapi import definitions, dump
from trellis.lab.build import built
from trellis.lab.cluster import Lab, Place, running
from trellis.lab.components import Settings
from trellis.lab.errors import LabError
from trellis.lab.source import source

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

INDEX = "/openapi/v3"


async def harvest(lab: Lab) -> str:
    """The content of the data file, as this lab's server would have it."""
    documents = [document async for document in _documents(lab)]
    return dump(lab.binary.kubernetes, definitions(documents))


async def _documents(lab: Lab) -> AsyncIterator[dict[str, Any]]:
    headers = {"Authorization": f"Bearer {lab.token}", "Accept": "application/json"}
    async with aiohttp.ClientSession(lab.server, headers=headers) as session:

        async def fetch(path: str) -> dict[str, Any]:
            async with session.get(path, ssl=lab.tls, raise_for_status=True) as response:
                # The index is served as text/plain.
                document: dict[str, Any] = await response.json(content_type=None)
                return document

        paths = (await fetch(INDEX))["paths"]
        for name in sorted(paths):
            yield await fetch(paths[name]["serverRelativeURL"])


async def _refresh() -> None:
    binary = built(source())
    async with running(binary, Settings(kubernetes=binary.kubernetes), Place()) as lab:
        text = await harvest(lab)
    target = Path(schema.__path__[0]) / DATA
    target.write_text(text)
    print(f"{DATA}: {len(text)} bytes from Kubernetes {binary.kubernetes}")  # noqa: T201


if __name__ == "__main__":
    try:
        asyncio.run(_refresh())
    except LabError as error:
        sys.exit(f"make gen: {error}")
