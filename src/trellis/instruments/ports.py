# SPDX-License-Identifier: Apache-2.0
"""Ports of this machine that nobody listens on."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection
    from random import Random

# Below the range that the kernel hands out to outgoing connections.
PORT_RANGE = range(20000, 32000)


def free_ports(count: int, rng: Random, taken: Collection[int] = ()) -> list[int]:
    """Drawn at random, so that two who look at the same time hardly ever find the same."""
    candidates = iter(rng.sample(PORT_RANGE, len(PORT_RANGE)))
    return [next(port for port in candidates if is_free(port, taken)) for _ in range(count)]


def is_free(port: int, taken: Collection[int] = ()) -> bool:
    if port in taken:
        return False
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
