# SPDX-License-Identifier: Apache-2.0
"""The waiter as a whole: follows every parent until all of them have enough at the same time."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

from trellis.waiter.access import Mounted, NoCluster
from trellis.waiter.arguments import parsed
from trellis.waiter.following import Following
from trellis.waiter.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from trellis.waiter.access import Access
    from trellis.waiter.arguments import Parent
    from trellis.waiter.tally import Sight

BAD_INPUT = 2
TERMINATED = 128 + signal.SIGTERM


async def wait(
    parents: Sequence[Parent], access: Access, dice: Random, say: Callable[[str], None]
) -> None:
    """Returns when they have enough. `say` hears a line for every change."""
    tally, enough = Tally(parents), asyncio.Event()

    def see(name: str, sight: Sight) -> None:
        if line := tally.see(name, sight):
            say(line)
        if tally.enough:
            enough.set()

    async with asyncio.TaskGroup() as tasks:
        following = [
            tasks.create_task(
                Following(parent.name, access, dice, partial(see, parent.name), say).run()
            )
            for parent in parents
        ]
        await enough.wait()
        for task in following:
            task.cancel()
    say("all that this pod starts after is ready")


def main(arguments: Sequence[str]) -> int:
    """The program. Returns its exit code."""
    parents = parsed(arguments)
    try:
        access = Mounted.of(os.environ)
    except NoCluster as error:
        _say(f"trellis wait: {error}")
        return BAD_INPUT
    dice = Random()  # noqa: S311  jitter, no secrets
    return asyncio.run(_until_stopped(wait(parents, access, dice, _say)))


async def _until_stopped(work: Coroutine[Any, Any, None]) -> int:
    """As the first process of a container it is sent a signal that nobody else would heed."""
    task = asyncio.create_task(work)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return TERMINATED
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
