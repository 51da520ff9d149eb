# SPDX-License-Identifier: Apache-2.0
"""Finding the API that a user means, and a client for it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from trellis.kube import in_cluster, kubeconfig, kubeconfig_file
from trellis.kube.client import Client
from trellis.kube.network import Network

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from random import Random

    from trellis.instruments.clock import Clock
    from trellis.kube.access import Access, Surroundings
    from trellis.kube.inflight import Window


def find_access(
    surroundings: Surroundings, *, file: Path | None = None, context: str = ""
) -> Access:
    """By that file; else by those in KUBECONFIG; else as a pod; else by the one at home."""
    variable = surroundings.environ.get("KUBECONFIG", "")
    named = [file] if file else [Path(name) for name in variable.split(":") if name]
    if not named and not context and in_cluster.is_in_cluster(surroundings):
        return in_cluster.access(surroundings)
    home = Path(surroundings.environ.get("HOME", "/")) / ".kube" / "config"
    return kubeconfig.access(kubeconfig_file.load(named or [home]), context, surroundings)


@asynccontextmanager
async def connected(
    access: Access, clock: Clock, rng: Random, window: Window | None = None
) -> AsyncIterator[Client]:
    """A client over the network for the length of a block. `window`: how much at a time."""
    transport = Network(access)
    try:
        yield Client(transport, clock, rng, window=window)
    finally:
        await transport.close()
