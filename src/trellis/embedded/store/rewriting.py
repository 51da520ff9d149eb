# SPDX-License-Identifier: Apache-2.0
"""A journal written anew with what is alive, a little at a time, and put in the old one's place.

Until the one step that renames it, the old file holds everything; from then on the new one does.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from trellis.embedded.store.entries import kept
from trellis.embedded.store.frames import framed, header

if TYPE_CHECKING:
    from pathlib import Path

    from trellis.embedded.store.changes import Resource
    from trellis.embedded.store.records import Record

# Some hundred microseconds of work: nobody waits long for the append that does it.
_AT_A_TIME: Final = 64


class Rewriting:
    def __init__(self, path: Path, records: list[tuple[Resource, Record]]) -> None:
        self._path = path
        self._records = records
        self._done = 0
        self._later: list[bytes] = []
        self.file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            write_all(self.file, header())
        except OSError:
            self.abandon()
            raise

    def also(self, frame: bytes) -> None:
        """What is appended meanwhile; it follows the records, being newer than they are."""
        self._later.append(frame)

    def write_some(self) -> bool:
        """False: there was nothing left to write but what came meanwhile."""
        some = self._records[self._done : self._done + _AT_A_TIME]
        if some:
            write_all(self.file, b"".join(framed(kept(*each).encoded()) for each in some))
            self._done += len(some)
        return bool(some)

    def publish(self, path: Path) -> int:
        """Puts the new file into the place of the old one, as its last step; returns its size."""
        write_all(self.file, b"".join(self._later))
        os.fsync(self.file)
        size = os.fstat(self.file).st_size
        self._path.rename(path)
        return size

    def abandon(self) -> None:
        os.close(self.file)
        # A file that stays is in nobody's way: the next one begins by emptying it.
        with suppress(OSError):
            self._path.unlink()


def replace_with(path: Path, temporary: Path, content: bytes) -> None:
    """A file that is there whole, or not at all."""
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        write_all(file, content)
        os.fsync(file)
    finally:
        os.close(file)
    temporary.rename(path)
    sync_directory(path.parent)


def write_all(file: int, content: bytes) -> None:
    """One write where the system takes it whole, which it may not."""
    written = os.write(file, content)
    while written < len(content):
        written += os.write(file, content[written:])


def sync_directory(directory: Path) -> None:
    file = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
