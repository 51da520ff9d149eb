# SPDX-License-Identifier: Apache-2.0
"""`trellis demo`: a cluster of its own, an example at work on it, and the story of both."""

from __future__ import annotations

import asyncio
import logging
import sys
import tempfile
from pathlib import Path

from trellis.app.local.standing import Order, standing
from trellis.cli.configuration import local_configuration
from trellis.cli.failure import fail
from trellis.cli.progress import Progress
from trellis.cli.serving import serve
from trellis.cli.up_embedded import BADLY_ASKED, BROKEN, IN_THE_WAY
from trellis.embedded.nodes.loading import READY_MADE
from trellis.embedded.running import Plan
from trellis.instruments.clock import SystemClock
from trellis.instruments.logs import configure

# What takes longer on any machine will not come to an end.
MOST_SECONDS = 180.0


class Story:
    """A line for each thing that has happened, with the time since the beginning."""

    def __init__(self) -> None:
        self._progress = Progress()

    def waits(self, what: str) -> None:
        if sys.stderr.isatty():
            self._progress(f"waiting for {what}")

    def happened(self, what: str) -> None:
        self.end()
        print(f"{self._progress.seconds:6.1f} s  {what}", flush=True)

    def end(self) -> None:
        self._progress.clear()


def demo() -> None:
    """A tour on a cluster with simulated GPU nodes; not interactive, ends by itself."""
    story = Story()
    ended = False

    async def tour() -> None:
        nonlocal ended
        async with asyncio.timeout(MOST_SECONDS):
            await _tour(Path(folder), story)
        ended = True

    try:
        with (
            tempfile.TemporaryDirectory(prefix="trellis-demo-") as folder,
            (Path(folder) / "log").open("a") as log,
        ):
            configure(SystemClock(), stream=log, level=logging.WARNING, style="text")
            serve(tour())
    except TimeoutError:
        story.end()
        fail(f"the tour did not end within {MOST_SECONDS:.0f} s; is this machine very busy?")
    except (*BADLY_ASKED, *IN_THE_WAY, *BROKEN) as error:
        story.end()
        fail(str(error))
    if not ended:
        fail("stopped before the end")


async def _tour(folder: Path, story: Story) -> None:
    order = Order(
        plan=Plan(fleet=READY_MADE[0]),
        name="trellis-demo",
        kubeconfig=folder / "kubeconfig",
        folder=folder,
        configuration=local_configuration(None),
    )
    async with standing(order, story) as local:
        await local.operator_is_ready(story)
        await local.example_runs(story)
        if local.example:
            story.happened(f"all of it runs: {local.example.described}")
    story.happened("everything is stopped and removed; to keep one: trellis up")
