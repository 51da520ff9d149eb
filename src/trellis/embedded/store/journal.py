# SPDX-License-Identifier: Apache-2.0
"""A file of everything that was written, so that a cluster outlives its process.

What `append` has returned from is in the hands of the operating system: killing the process loses
none of it. To outlive a power cut, `sync` must have returned too. One process at a time.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from typing import TYPE_CHECKING

import msgspec

from trellis.embedded.store.entries import decoded
from trellis.embedded.store.frames import FORMAT, HEADER_SIZE, Frames, format_of, framed, header
from trellis.embedded.store.problems import (
    DirectoryInUse,
    JournalDamaged,
    JournalTooNew,
    NotAJournal,
    NotWritten,
)
from trellis.embedded.store.rewriting import Rewriting, replace_with, sync_directory, write_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from trellis.embedded.store.changes import Resource
    from trellis.embedded.store.entries import Entry
    from trellis.embedded.store.records import Record

_JOURNAL = "journal"
_NEXT = "journal.next"
_LOCK = "lock"
# Below this a journal is never rewritten, however little of it is alive.
_SMALL = 16 * 1024 * 1024
_BLOAT = 4


class Journal:
    def __init__(self, directory: Path, *, small: int = _SMALL) -> None:
        """Takes the directory, which is made if need be. Nothing is read until `entries` is."""
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = _locked(directory)
        self._path = directory / _JOURNAL
        self._next = directory / _NEXT
        self._small = small
        self._rewriting: Rewriting | None = None
        self._broken = ""
        self._moved = False
        self.unsynced = False
        self.note = ""
        """What was mended on opening, if anything; to be shown to a person."""
        try:
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)
            self._open()
        except BaseException:
            os.close(self._lock)
            raise

    @property
    def size(self) -> int:
        return self._size

    def entries(self) -> Iterator[Entry]:
        """Everything in the file, in order, to be read to the end before anything is written."""
        if self._size == HEADER_SIZE:
            return
        with mmap.mmap(self._file, 0, access=mmap.ACCESS_READ) as content:
            frames = Frames(content)
            for place, payload in frames:
                try:
                    entry = decoded(payload)
                except msgspec.DecodeError:
                    raise JournalDamaged(self._path, place, frames.end) from None
                yield entry
            following = frames.following()
        if following is not None:
            raise JournalDamaged(self._path, frames.end, following)
        self._cut(frames.end)

    def append(self, entry: Entry) -> None:
        """Writes a change down. If it raises, the file is as it was."""
        if self._broken:
            raise NotWritten(self._path, self._broken)
        frame = framed(entry.encoded())
        try:
            write_all(self._file, frame)
        except OSError as error:
            self._take_back(error)
            raise NotWritten(self._path, str(error)) from error
        self._size += len(frame)
        self.unsynced = True
        if self._rewriting is not None:
            self._rewriting.also(frame)
            self._advance(self._rewriting)

    def bloated(self, live: int) -> bool:
        """Whether the file is worth rewriting, given the bytes of what is alive."""
        return self._rewriting is None and self._size > max(self._small, _BLOAT * live)

    def rewrite(self, records: list[tuple[Resource, Record]]) -> None:
        """Begins to replace the file by one of these records; the next appends carry it out.

        The newest version stays known, because an append that ends it is in the new file.
        """
        try:
            self._rewriting = Rewriting(self._next, records)
        except OSError:
            self._give_up()

    def sync(self) -> None:
        """Returns when everything appended so far would outlive a power cut."""
        if self._broken:
            raise NotWritten(self._path, self._broken)
        try:
            os.fdatasync(self._file)
            if self._moved:
                sync_directory(self._path.parent)
        except OSError as error:
            # What the disk has is not known after this, and if asked again it may say "all well".
            self._broken = f"its disk failed to keep it ({error})"
            raise NotWritten(self._path, self._broken) from error
        self._moved = self.unsynced = False

    def close(self) -> None:
        if self._rewriting is not None:
            self._rewriting.abandon()
            self._rewriting = None
        os.close(self._file)
        os.close(self._lock)

    def _open(self) -> None:
        self._next.unlink(missing_ok=True)
        if not self._path.exists():
            replace_with(self._path, self._next, header())
        self._file = os.open(self._path, os.O_RDWR | os.O_APPEND)
        found = format_of(os.pread(self._file, HEADER_SIZE, 0))
        if found != FORMAT:
            os.close(self._file)
            if found is None or found < FORMAT:
                raise NotAJournal(self._path)
            raise JournalTooNew(self._path, found, FORMAT)
        self._size = os.fstat(self._file).st_size

    def _cut(self, end: int) -> None:
        torn = self._size - end
        if torn:
            os.ftruncate(self._file, end)
            self._size = end
            self.note = (
                f"the last {torn} bytes of {self._path} were cut off: they are no whole record, "
                "but what an interrupted write leaves behind"
            )

    def _take_back(self, error: OSError) -> None:
        """Removes what was written of a frame, before another could follow it."""
        try:
            os.ftruncate(self._file, self._size)
        except OSError:
            self._broken = f"a part of a change could not be taken back ({error})"

    def _advance(self, rewriting: Rewriting) -> None:
        try:
            if rewriting.write_some():
                return
            self._size = rewriting.publish(self._path)
        except OSError:
            self._give_up()
            return
        os.close(self._file)
        self._file = rewriting.file
        self._rewriting = None
        # Until the directory is synced too, a power cut might bring the old file back.
        self._moved = self.unsynced = True

    def _give_up(self) -> None:
        """The old file is whole and goes on; it is tried again when it has doubled."""
        if self._rewriting is not None:
            self._rewriting.abandon()
        self._rewriting = None
        self._small = self._size * 2


def _locked(directory: Path) -> int:
    """The lock goes with the process, however it ends."""
    lock = os.open(directory / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(lock, 20, 0).decode("ascii", "replace").strip()
        os.close(lock)
        raise DirectoryInUse(directory, holder) from None
    return lock
