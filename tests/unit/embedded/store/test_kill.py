# SPDX-License-Identifier: Apache-2.0
"""A process that is killed while it writes, and another one that goes on from what it left."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from trellis.embedded.store.journal import Journal
from trellis.embedded.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path

WRITER = """
import sys
from pathlib import Path
from trellis.embedded.store.journal import Journal
from trellis.embedded.store.store import Store

store = Store(Journal(Path(sys.argv[1]), small=20_000))
shelf = store.shelf("", "things")
while True:
    name = f"o{store.version % 10}"
    old = shelf.get("x", name)
    metadata = {"name": name, "namespace": "x"}
    obj = {"apiVersion": "v1", "kind": "Thing", "metadata": metadata, "data": "x" * 500}
    record = shelf.put(obj, {}, old.version if old else 0)
    print(record.version, flush=True)
"""
ROUNDS = 4
WRITES = 300


def killed_writer(directory: Path, writes: int) -> int:
    """The last version that a writer got to say before it was killed."""
    command = [sys.executable, "-c", WRITER, str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(writes)]
        process.send_signal(signal.SIGKILL)
        said += process.stdout.read().splitlines(keepends=True)
    return int([line for line in said if line.endswith("\n")][-1])


def test_what_was_acknowledged_outlives_kill_9(tmp_path: Path) -> None:
    last = 0
    for round_ in range(ROUNDS):
        promised = killed_writer(tmp_path, WRITES + 37 * round_)
        store = Store(Journal(tmp_path))
        shelf = store.shelf("", "things")
        newest = max(record.version for record in shelf)
        store.close()
        assert last < promised <= store.version
        assert newest == store.version
        last = store.version
