# SPDX-License-Identifier: Apache-2.0
"""An embedded cluster in a process of its own, so that neither its loop nor its load is the tests'.

`tests.support.embedding` is that process.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

START_SECONDS = 30.0
STOP_SECONDS = 10.0
# The line holds a kubeconfig with a certificate.
_LINE_LIMIT = 1 << 20


class EmbeddedFailed(Exception):
    """The embedded cluster did not start, or ended without being told to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """One that runs. `log` holds what it and its parts complained of."""

    server: str
    token: str
    authority: str
    tls: ssl.SSLContext
    kubeconfig: Path
    log: Path
    process: asyncio.subprocess.Process

    def failed(self) -> EmbeddedFailed | None:
        """Set when it has ended, or when a request made it fail in a way it did not foresee."""
        said = self.log.read_text()
        if self.process.returncode is not None:
            return EmbeddedFailed(f"ended with {self.process.returncode}: {said[-4000:]}")
        return EmbeddedFailed(said[-4000:]) if "Traceback" in said else None


@asynccontextmanager
async def embedded(**plan: Any) -> AsyncIterator[Embedded]:
    """For the length of a block; `plan` are fields of a Plan that JSON can hold."""
    with tempfile.TemporaryDirectory() as name:
        log = Path(name) / "log"
        with log.open("wb") as errors:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.support.embedding", json.dumps(plan)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                cwd=Path(__file__).parents[2],
                limit=_LINE_LIMIT,
            )
        started = None
        try:
            started = await _started(process, log)
            yield started
        except Exception as error:
            # Its end is why whatever the tests did went wrong.
            if started is not None and process.returncode is not None:
                raise EmbeddedFailed(str(started.failed())) from error
            raise
        finally:
            await _stop(process)


async def _started(process: asyncio.subprocess.Process, log: Path) -> Embedded:
    assert process.stdout is not None
    async with asyncio.timeout(START_SECONDS):
        line = await process.stdout.readline()
    if not line:
        await process.wait()
        raise EmbeddedFailed(f"ended with {process.returncode}: {log.read_text()[-4000:]}")
    said = json.loads(line)
    kubeconfig = log.parent / "kubeconfig"
    kubeconfig.touch(mode=0o600)
    kubeconfig.write_text(said["kubeconfig"])
    return Embedded(
        server=said["server"],
        token=said["token"],
        authority=said["authority"],
        tls=ssl.create_default_context(cadata=said["authority"]),
        kubeconfig=kubeconfig,
        log=log,
        process=process,
    )


async def _stop(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
