# SPDX-License-Identifier: Apache-2.0
"""What a cluster stands on: its journal, its keys and its port. With a data folder, always the
same ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.embedded.keeping import Drawer, UnusableData, opened
from trellis.embedded.keys import Keys
from trellis.instruments.ports import free_ports

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path
    from random import Random

    from trellis.embedded.store.journal import Journal

_PORT = "port"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    keys: Keys
    port: int
    drawer: Drawer
    journal: Journal | None = None

    @classmethod
    def of(cls, data: Path | None, port: int, now: datetime, rng: Random) -> Ground:
        """`port` 0: that of before, or any. The folder is this process's until its journal is
        closed."""
        journal = opened(data) if data else None
        drawer = Drawer(data)
        try:
            keys = Keys.kept(drawer, now)
            chosen = port or _port_of_before(drawer) or free_ports(1, rng)[0]
        except BaseException:
            if journal:
                journal.close()
            raise
        return cls(keys=keys, port=chosen, drawer=drawer, journal=journal)

    def settle(self) -> None:
        """The port is ours, and is to be again."""
        self.drawer.put(_PORT, str(self.port).encode())


def _port_of_before(drawer: Drawer) -> int:
    found = drawer.find(_PORT)
    if found is None:
        return 0
    if not (found.isdigit() and 0 < int(found[:6]) < 65536):
        raise UnusableData(f"{drawer.folder}/{_PORT} holds no port; remove it, or give --port")
    return int(found)
