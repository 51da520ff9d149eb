# SPDX-License-Identifier: Apache-2.0
"""`trellis rollout status` as a process, beside which a test goes on."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.e2e.workloads.world import World

PATIENCE_SECONDS = 30.0


@dataclass
class Command:
    """The command at work. `errors` is what it has said so far beside its output."""

    process: asyncio.subprocess.Process
    errors: list[str] = field(default_factory=list)

    async def listen(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.errors.append(line.decode().rstrip())

    async def until_said(self, words: str) -> None:
        async def heard() -> bool:
            said = any(words in line for line in self.errors)
            assert said or self.process.returncode is None, self.errors
            return said

        await eventually(heard, repr(words), PATIENCE_SECONDS)

    async def end(self) -> tuple[int, str]:
        assert self.process.stdout is not None
        output = (await self.process.stdout.read()).decode()
        return await self.process.wait(), output


@asynccontextmanager
async def status(world: World, *arguments: str) -> AsyncIterator[Command]:
    process = await asyncio.create_subprocess_exec(
        *command_of(world, *arguments),
        env=os.environ | {"KUBECONFIG": str(world.cluster.kubeconfig)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    found = Command(process)
    listening = asyncio.create_task(found.listen())
    try:
        yield found
        await listening
    finally:
        listening.cancel()
        if process.returncode is None:
            process.kill()
            await process.wait()


def command_of(world: World, *arguments: str) -> list[str]:
    head = [sys.executable, "-m", "trellis.cli", "rollout", "status"]
    return [*head, "-n", world.namespace, *arguments]


async def ended(world: World, *arguments: str) -> tuple[int, str, list[str]]:
    """The code of a command that ends by itself, its output, and what it said beside."""
    async with status(world, *arguments) as command:
        code, output = await command.end()
    return code, output, command.errors
