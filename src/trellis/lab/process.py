# SPDX-License-Identifier: Apache-2.0
"""One component as a child process: its log, its end, and its stop.

The child's standard input is a pipe that this process holds open. When this process dies, however
it dies, the pipe closes and the child ends itself (`lab/main.go`, `trellis.cli.attached`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING

from trellis.lab.errors import ComponentFailed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PARENT_PIPE = "TRELLIS_LAB_PARENT_PIPE"
TAIL_LINES = 15
_TAIL_BYTES = 16 << 10


class Component:
    def __init__(self, name: str, process: asyncio.subprocess.Process, log: Path) -> None:
        self.name = name
        self.log = log
        self._process = process
        self._stopping = False

    @classmethod
    async def start(
        cls, name: str, command: Sequence[str | Path], log: Path, locks: tuple[int, ...] = ()
    ) -> Component:
        # A session of its own: Ctrl-C in the terminal reaches only us, and we stop them in order.
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=output,
                stderr=output,
                env=_environment(),
                pass_fds=locks,
                start_new_session=True,
            )
        return cls(name, process, log)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def failure(self) -> ComponentFailed:
        """Waits for the component to end, and says so; for ever if it was we who stopped it."""
        code = await self._process.wait()
        if self._stopping:
            await asyncio.Future()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return ComponentFailed(self.name, how, self.tail())

    async def stop(self, grace: float) -> None:
        self._stopping = True
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            async with asyncio.timeout(grace):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        if self._process.stdin:
            self._process.stdin.close()

    def tail(self) -> str:
        """The last lines of its log, under a heading that says whose they are."""
        with contextlib.suppress(OSError), self.log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()[-TAIL_LINES:]
            if lines:
                return "\n".join([f"--- end of {self.log}", *lines, "---"])
        return ""


def _environment() -> dict[str, str]:
    # Nothing of the user's cluster settings or proxies may leak into a local control plane.
    kept = {"HOME", "PATH", "TMPDIR", "TZ", "LANG", "GOMAXPROCS", "GOMEMLIMIT"}
    inherited = {key: value for key, value in os.environ.items() if key in kept}
    return inherited | {PARENT_PIPE: "1"}
