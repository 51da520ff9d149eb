# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.embedded.store.builders import an_object, create, keys, remove
from trellis.embedded.store.journal import Journal
from trellis.embedded.store.problems import NotWritten
from trellis.embedded.store.shelf import ABSENT
from trellis.embedded.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SMALL = 4096
DISK = ("write", "fsync", "fdatasync", "ftruncate", "rename", "unlink")


class Crash(BaseException):
    """The process ended here."""


class Disk:
    """What is done to files, counted; at one of the operations something happens."""

    def __init__(self, at: int, happens: Callable[[], None], *, after: bool = False) -> None:
        self._left = at
        self._happens = happens
        self._after = after

    def operation(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            self._left -= 1
            if self._left == 0 and not self._after:
                self._happens()
            result = real(*args)
            if self._left == 0:
                self._happens()
            return result

        return run

    @property
    def reached(self) -> bool:
        return self._left <= 0


@contextmanager
def on(disk: Disk) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in DISK:
            patch.setattr(os, name, disk.operation(getattr(os, name)))
        yield


def crash() -> None:
    raise Crash


def fail() -> None:
    raise OSError(errno.EIO, "Input/output error")


class Writer:
    """Changes things again and again, and remembers what it was promised."""

    def __init__(self, directory: Path) -> None:
        self.journal = Journal(directory, small=SMALL)
        self.store = Store(self.journal)
        self.promised: dict[str, int] = {}
        self.underway: str | None = None

    def run(self, rounds: int) -> None:
        shelf = self.store.shelf("", "things")
        for number in range(rounds):
            name = self.underway = f"o{number % 7}"
            old = shelf.get("default", name)
            if old is not None and number % 5 == 0:
                remove(shelf, old)
                del self.promised[name]
            else:
                obj = an_object(name, data={"n": "x" * 100})
                record = shelf.put(obj, {}, old.version if old else ABSENT)
                self.promised[name] = record.version
            self.underway = None


def found_in(directory: Path) -> tuple[int, dict[str, int]]:
    store = Store(Journal(directory, small=SMALL))
    try:
        return store.version, {each.name: each.version for each in store.shelf("", "things")}
    finally:
        store.close()


def test_a_journal_that_is_mostly_dead_is_rewritten_with_what_is_alive(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    sizes = set()
    for _ in range(20):
        writer.run(35)
        sizes.add(writer.journal.size)
    # What was added meanwhile, and what is alive: nothing grows without bound.
    assert max(sizes) < 4 * SMALL
    writer.store.close()
    assert found_in(tmp_path) == (700, writer.promised)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["journal", "lock"]


def test_versions_outlive_a_rewriting_that_drops_what_held_them(tmp_path: Path) -> None:
    journal = Journal(tmp_path, small=SMALL)
    store = Store(journal)
    shelf = store.shelf("", "things")
    rewritten = 0
    while not rewritten:
        before = journal.size
        remove(shelf, create(shelf))
        rewritten = store.version if journal.size < before else 0
    store.close()
    assert found_in(tmp_path) == (rewritten, {})


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_any_operation_of_the_disk_loses_nothing_that_was_promised(
    tmp_path: Path, after: bool
) -> None:
    at = 0
    reached = True
    while reached:
        at += 1
        directory = tmp_path / str(at)
        disk = Disk(at, crash, after=after)
        writer: Writer | None = None
        try:
            with on(disk):
                writer = Writer(directory)
                writer.run(60)
        except Crash:
            pass
        reached = disk.reached
        let_go(directory)
        version, found = found_in(directory)
        if writer is None:
            assert (version, found) == (0, {})
            continue
        # The one write that was underway may have happened; all others must have.
        for name in {*writer.promised, *found} - {writer.underway}:
            assert found.get(name) == writer.promised.get(name), f"at operation {at}"
        assert version - writer.store.version in {0, 1}
    assert at > 60


def let_go(directory: Path) -> None:
    """Does what the system does when a process is killed: closes its files."""
    for entry in list(Path("/proc/self/fd").iterdir()):
        with suppress(OSError):
            if entry.readlink().is_relative_to(directory):
                os.close(int(entry.name))


def test_a_disk_that_fails_once_anywhere_fails_at_most_one_write(tmp_path: Path) -> None:
    at = 1
    reached = True
    while reached:
        directory = tmp_path / str(at)
        writer = Writer(directory)
        disk = Disk(at, fail)
        failed = 0
        with on(disk):
            for _ in range(12):
                try:
                    writer.run(5)
                except NotWritten:
                    failed += 1
        reached = disk.reached
        writer.store.close()
        version, found = found_in(directory)
        assert failed <= 1
        assert (version, found) == (writer.store.version, writer.promised)
        at += 1


def test_a_rewriting_that_was_left_behind_is_cleared_away(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.run(3)
    writer.store.close()
    (tmp_path / "journal.next").write_bytes(b"half of it")
    assert found_in(tmp_path) == (3, writer.promised)
    assert not (tmp_path / "journal.next").exists()


def test_closing_in_the_middle_of_a_rewriting_keeps_the_old_file(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    store = Store(journal)
    shelf = store.shelf("", "things")
    for name in "abc":
        create(shelf, name)
    journal.rewrite([(shelf.resource, record) for record in shelf])
    create(shelf, "d")
    store.close()
    store = Store(Journal(tmp_path))
    assert keys(store.shelf("", "things").list()) == [f"default/{name}" for name in "abcd"]
    store.close()
