# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import socket
from random import Random
from typing import TYPE_CHECKING

from trellis.instruments.locks import exclusive, try_lock
from trellis.instruments.ports import PORT_RANGE, free_ports, is_free

if TYPE_CHECKING:
    from pathlib import Path


def test_a_lock_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    lock = try_lock(tmp_path)
    assert lock is not None
    assert try_lock(tmp_path) is None
    os.close(lock)
    again = try_lock(tmp_path)
    assert again is not None
    os.close(again)


def test_whoever_is_exclusive_can_be_so_again(tmp_path: Path) -> None:
    for _ in range(2):
        with exclusive(tmp_path / "turn"):
            pass


def test_ports_are_apart_and_below_those_of_outgoing_connections() -> None:
    drawn = free_ports(5, Random(1))  # noqa: S311
    assert len(set(drawn)) == 5
    assert all(port in PORT_RANGE for port in drawn)
    others = free_ports(5, Random(1), taken=drawn)  # noqa: S311
    assert not set(others) & set(drawn)


def test_a_port_that_somebody_listens_on_is_not_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        assert not is_free(listening.getsockname()[1])
