# SPDX-License-Identifier: Apache-2.0
"""`trellis up` as a user runs it: a process with signals, files and an exit code."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.waiting import eventually
from trellis.lab.build import built
from trellis.lab.source import source

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TRELLIS = Path(sys.executable).with_name("trellis")
UP = "up after"
# A busy machine may take this long to start two processes of Python.
PATIENCE_SECONDS = 100.0


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    output: str
    errors: str


@dataclass(frozen=True, slots=True)
class Home:
    """A user of this machine, with folders of its own."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        own = {"HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder / "state")}
        return {"PATH": os.environ["PATH"], **own}

    @property
    def state(self) -> Path:
        return self.folder / "state" / "trellis"

    def kubeconfig(self, name: str = "default") -> Path:
        return self.state / name / "kubeconfig"

    async def trellis(self, *arguments: str | Path) -> Done:
        """A command that ends by itself."""
        return await self._run(TRELLIS, *arguments)

    async def kubectl(self, *arguments: str | Path, name: str = "default") -> str:
        done = await self._run(kubectl(), "--kubeconfig", self.kubeconfig(name), *arguments)
        assert done.code == 0, done.errors
        return done.output

    async def _run(self, *command: str | Path) -> Done:
        process = await asyncio.create_subprocess_exec(
            *command,
            env=self.environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            output, errors = await process.communicate()
        finally:
            # A test that was given up must not leave what it waited for.
            if process.returncode is None:
                process.kill()
        assert process.returncode is not None
        return Done(process.returncode, output.decode(), errors.decode())


def kubectl() -> Path:
    """The machine's own, or the lab's."""
    found = shutil.which("kubectl")
    return Path(found) if found else built(source()).kubectl


@dataclass(frozen=True, slots=True)
class Up:
    """One that was started, with everything it prints in one file."""

    process: asyncio.subprocess.Process
    output: Path

    def said(self) -> str:
        return self.output.read_text()

    async def until_said(self, words: str) -> None:
        async def heard() -> bool:
            assert self.process.returncode is None or words in self.said(), self.said()
            return words in self.said()

        await eventually(heard, repr(words), patience=PATIENCE_SECONDS)

    @property
    def server(self) -> str:
        found = re.search(r"https://[0-9.]+:[0-9]+", self.said())
        assert found, self.said()
        return found[0]

    def children(self) -> list[int]:
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in listed.split()]


@asynccontextmanager
async def up(home: Home, *options: str | Path) -> AsyncIterator[Up]:
    """Started, and killed at the end of the block if it has not ended by then."""
    home.folder.mkdir(exist_ok=True)
    output = home.folder / f"output-{len(list(home.folder.glob('output-*')))}"
    with output.open("w") as file:
        process = await asyncio.create_subprocess_exec(
            TRELLIS,
            "up",
            *options,
            env=home.environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
    try:
        yield Up(process, output)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def until_gone(*pids: int) -> None:
    async def gone() -> bool:
        return not any(Path(f"/proc/{pid}").exists() for pid in pids)

    await eventually(gone, f"the end of {pids}")
