# SPDX-License-Identifier: Apache-2.0
"""A server in a process of its own, so that what it costs is not counted as the client's."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def server_of(module: str) -> AsyncIterator[str]:
    """Runs `serve` of that module for a block; yields the address that it prints first."""
    code = f"from {module} import serve; serve()"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE
    )
    output = cast("asyncio.StreamReader", process.stdout)
    try:
        yield (await output.readline()).decode().strip()
    finally:
        process.kill()
        await process.wait()
