# SPDX-License-Identifier: Apache-2.0
"""How a command reaches a cluster: as kubectl does, or by the kubeconfig that it is given."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer
import uvloop

from trellis.cli.failure import fail
from trellis.instruments.clock import SystemClock
from trellis.instruments.logs import configure
from trellis.kube.access import Access, Surroundings
from trellis.kube.client import Client
from trellis.kube.connect import connected, find_access
from trellis.kube.errors import KubeError

T = TypeVar("T")

Kubeconfig = Annotated[
    Path | None, typer.Option(help="Which cluster. As kubectl finds it, without.")
]


def with_client(
    kubeconfig: Path | None,
    work: Callable[[Client, Access], Awaitable[T]],
    explained: tuple[type[Exception], ...] = (KubeError,),
) -> T:
    """Does the work with a client for that cluster; what goes wrong is said in one line.

    `explained` are the errors whose message is for the user.
    """
    clock = SystemClock()
    configure(clock, level=logging.WARNING, style="text")

    async def main() -> T:
        surroundings = Surroundings(clock=clock, environ=os.environ, terminal=sys.stdin.isatty())
        access = find_access(surroundings, file=kubeconfig)
        dice = random.Random()  # noqa: S311  jitter, no secrets
        async with connected(access, clock, dice) as client:
            return await work(client, access)

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(main())
    except explained as error:
        fail(str(error))
