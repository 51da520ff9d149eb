# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import stat
from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING

import pytest

from trellis.embedded.ground import Ground
from trellis.embedded.keeping import Drawer, UnusableData
from trellis.embedded.keys import Keys
from trellis.instruments.ports import PORT_RANGE

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_what_is_kept_is_made_once_and_private(tmp_path: Path) -> None:
    drawer = Drawer(tmp_path / "data")
    assert drawer.kept("a", lambda: b"first") == b"first"
    assert Drawer(tmp_path / "data").kept("a", lambda: b"second") == b"first"
    assert drawer.folder is not None
    assert stat.S_IMODE(drawer.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((drawer.folder / "a").stat().st_mode) == 0o600
    assert [file.name for file in drawer.folder.iterdir()] == ["a"]


def test_without_a_folder_everything_is_as_if_for_the_first_time() -> None:
    drawer = Drawer(None)
    drawer.put("a", b"first")
    assert drawer.find("a") is None
    assert drawer.kept("a", lambda: b"second") == b"second"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(UnusableData, match=r"data/keys/a cannot be used: .*--data"):
        Drawer(tmp_path / "data").put("a", b"")


def test_keys_are_the_same_again(tmp_path: Path) -> None:
    first, again = (Keys.kept(Drawer(tmp_path), NOW) for _ in range(2))
    assert first.token == again.token
    assert first.bundle == again.bundle
    assert first.signing.id == again.signing.id
    assert first.authority.pair.key == again.authority.pair.key


def test_no_key_shows_in_what_may_be_printed(tmp_path: Path) -> None:
    keys = Keys.kept(Drawer(tmp_path), NOW)
    assert keys.token not in repr(keys)
    assert "PRIVATE" not in repr(keys)
    assert b"PRIVATE" not in keys.bundle


@pytest.mark.parametrize("file", ["authority.pem", "accounts.pem", "token"])
def test_damaged_keys_are_never_replaced_by_themselves(tmp_path: Path, file: str) -> None:
    Keys.kept(Drawer(tmp_path), NOW)
    (tmp_path / "keys" / file).write_bytes(b"\xff rubbish")
    with pytest.raises(UnusableData, match="restore them from a backup, or remove them"):
        Keys.kept(Drawer(tmp_path), NOW)
    assert (tmp_path / "keys" / file).read_bytes() == b"\xff rubbish"


def ground(data: Path | None, port: int = 0) -> int:
    """The port that a cluster gets; it is then let go of."""
    found = Ground.of(data, port, NOW, Random(1))  # noqa: S311
    found.settle()
    if found.journal:
        found.journal.close()
    return found.port


def test_a_port_is_kept_with_the_data_and_another_only_if_asked_for(tmp_path: Path) -> None:
    first = ground(tmp_path)
    assert first in PORT_RANGE
    assert ground(tmp_path) == first
    assert ground(tmp_path, 4711) == 4711
    assert ground(tmp_path) == 4711


@pytest.mark.parametrize("content", [b"", b"x", b"0", b"65536", b"-1", b"9" * 5000])
def test_a_note_of_a_port_that_is_none_is_named(tmp_path: Path, content: bytes) -> None:
    ground(tmp_path)
    (tmp_path / "keys" / "port").write_bytes(content)
    with pytest.raises(UnusableData, match="holds no port"):
        ground(tmp_path)
    # The folder is free again, all the same.
    assert ground(tmp_path, 4711) == 4711
