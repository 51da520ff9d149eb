# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import errno
import os
import stat
import struct
from typing import TYPE_CHECKING, NoReturn

import pytest

from tests.unit.embedded.store.builders import create, drained, keys, remove, update
from trellis.embedded.store.frames import FORMAT, HEADER_SIZE, framed, header
from trellis.embedded.store.journal import Journal
from trellis.embedded.store.problems import (
    DirectoryInUse,
    JournalDamaged,
    JournalTooNew,
    NotAJournal,
    NotWritten,
    TooOld,
)
from trellis.embedded.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from trellis.embedded.store.records import Record

    Content = list[tuple[tuple[str, str], Record]]
    Written = tuple[Path, list[tuple[int, int, Content]]]


def content(store: Store) -> Content:
    return [(shelf.resource, record) for shelf in store.shelves() for record in shelf.list()]


def reopened(directory: Path) -> Store:
    return Store(Journal(directory))


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """A closed journal, and after each write its size, the version and the content."""
    journal = Journal(tmp_path)
    store = Store(journal)
    steps = [(journal.size, 0, content(store))]
    shelf, other = store.shelf("", "things"), store.shelf("apps", "others")

    def step() -> None:
        steps.append((journal.size, store.version, content(store)))

    record = create(shelf, labels={"app": "web"}, node="n1", data={"text": "Grüße"})
    step()
    create(other, "b", "")
    step()
    record = update(shelf, record)
    step()
    remove(shelf, record)
    step()
    create(shelf, "last")
    step()
    store.close()
    return tmp_path / "journal", steps


def test_a_store_begins_with_what_its_journal_holds(
    written: Written,
) -> None:
    path, steps = written
    store = reopened(path.parent)
    assert (store.version, sorted(content(store))) == (5, sorted(steps[-1][2]))
    assert create(store.shelf("", "things"), "next").version == 6
    store.close()


def test_a_version_is_not_used_again_though_its_object_is_gone(tmp_path: Path) -> None:
    store = reopened(tmp_path)
    remove(store.shelf("", "things"), create(store.shelf("", "things")))
    store.close()
    store = reopened(tmp_path)
    assert (store.version, len(store.shelf("", "things"))) == (2, 0)
    store.close()


def test_the_past_is_forgotten_with_the_process(tmp_path: Path) -> None:
    store = reopened(tmp_path)
    create(store.shelf("", "things"))
    store.close()
    store = reopened(tmp_path)
    with pytest.raises(TooOld):
        store.shelf("", "things").watch(0)
    assert drained(store.shelf("", "things").watch(1)) == []
    store.close()


def test_a_file_cut_at_any_byte_holds_every_write_before_it_and_goes_on(
    written: Written,
) -> None:
    path, steps = written
    whole = path.read_bytes()
    for cut in range(HEADER_SIZE, len(whole)):
        path.write_bytes(whole[:cut])
        size, version, expected = max(step for step in steps if step[0] <= cut)
        journal = Journal(path.parent)
        store = Store(journal)
        assert (store.version, sorted(content(store))) == (version, sorted(expected))
        assert journal.note == (
            f"the last {cut - size} bytes of {path} were cut off: they are no whole record, but "
            "what an interrupted write leaves behind"
            if cut > size
            else ""
        )
        create(store.shelf("", "things"), "more")
        store.close()
        store = reopened(path.parent)
        assert store.version == version + 1
        store.close()


@pytest.mark.parametrize("torn", [b"\0" * 100, b"\xff" * 7, framed(b"x")[:-1]])
def test_rubbish_at_the_end_is_a_torn_write(written: Written, torn: bytes) -> None:
    path, _ = written
    with path.open("ab") as file:
        file.write(torn)
    store = reopened(path.parent)
    assert store.version == 5
    store.close()


def test_damage_in_the_middle_is_refused_wherever_it_is(
    written: Written,
) -> None:
    path, steps = written
    whole = path.read_bytes()
    starts = [size for size, _, _ in steps]
    for place in range(HEADER_SIZE, starts[-2]):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        start = max(size for size in starts if size <= place)
        with pytest.raises(JournalDamaged) as caught:
            reopened(path.parent)
        assert caught.value.offset == start
    assert str(caught.value) == (
        f"{path} is damaged at byte {start}, and goes on from byte {starts[-2]} with what was "
        "written later: restore the file from a backup, or give up everything from the damage on "
        f"with `truncate -s {start} {path}`"
    )
    os.truncate(path, start)
    store = reopened(path.parent)
    assert store.version == 3
    store.close()


def test_a_record_that_is_intact_but_makes_no_sense_is_damage(
    written: Written,
) -> None:
    path, steps = written
    with path.open("ab") as file:
        file.write(framed(b"\x93\x01\x02\x03"))
    with pytest.raises(JournalDamaged, match=f"at byte {steps[-1][0]}"):
        reopened(path.parent)


HEADERS = {
    "a newer format": (
        header(FORMAT + 1),
        JournalTooNew,
        r"was written by a newer trellis \(format 2, and this one reads up to 1\): use that",
    ),
    "another file": (b"#!/bin/sh\necho hello, world\n", NotAJournal, "does not begin like"),
    "an empty file": (b"", NotAJournal, "does not begin like"),
    "a damaged header": (
        header()[:-1] + b"\xff",
        NotAJournal,
        "does not begin like",
    ),
    "format 0": (header(0), NotAJournal, "does not begin like"),
}


@pytest.mark.parametrize(("start", "problem", "words"), HEADERS.values(), ids=HEADERS)
def test_what_cannot_be_read_is_left_alone(
    tmp_path: Path, start: bytes, problem: type[Exception], words: str
) -> None:
    path = tmp_path / "journal"
    path.write_bytes(start)
    for _ in range(2):
        with pytest.raises(problem, match=words):
            Journal(tmp_path)
    assert path.read_bytes() == start


def test_a_directory_is_used_by_one_at_a_time(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with pytest.raises(DirectoryInUse, match=f"{tmp_path} is in use by process {os.getpid()}"):
        Journal(tmp_path)
    journal.close()
    Journal(tmp_path).close()


def test_nobody_else_can_read_what_is_kept(tmp_path: Path) -> None:
    directory = tmp_path / "deep" / "data"
    Journal(directory).close()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}
    assert modes == {"journal": 0o600, "lock": 0o600}
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def no_space(*_: object) -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_change_that_cannot_be_written_does_not_happen_and_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = reopened(tmp_path)
    shelf = store.shelf("", "things")
    watch = shelf.watch(0)
    write = os.write

    def half(file: int, body: bytes) -> int:
        if len(body) > 50:
            return write(file, body[:50])
        no_space()

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        with pytest.raises(NotWritten, match="No space left on device; make room"):
            create(shelf)
    assert (store.version, shelf.list(), watch.pending) == (0, [], 0)
    create(shelf, "b")
    store.close()
    store = reopened(tmp_path)
    assert keys(store.shelf("", "things").list()) == ["default/b"]
    store.close()


def test_nothing_follows_a_part_of_a_change_that_could_not_be_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = reopened(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", no_space)
        patch.setattr(os, "ftruncate", no_space)
        with pytest.raises(NotWritten):
            create(store.shelf("", "things"))
    with pytest.raises(NotWritten, match="could not be taken back"):
        create(store.shelf("", "things"))
    store.close()


def test_a_write_that_the_system_takes_in_parts_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = reopened(tmp_path)
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda file, body: write(file, body[:7]))
        create(store.shelf("", "things"))
    store.close()
    store = reopened(tmp_path)
    assert keys(store.shelf("", "things").list()) == ["default/a"]
    store.close()


def test_a_length_that_lies_is_found_out(
    written: Written,
) -> None:
    path, _ = written
    whole = bytearray(path.read_bytes())
    struct.pack_into("<I", whole, HEADER_SIZE + 4, 2**32 - 1)
    path.write_bytes(whole)
    with pytest.raises(JournalDamaged, match=f"at byte {HEADER_SIZE}"):
        reopened(path.parent)
