# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import errno
import os
from typing import TYPE_CHECKING

import pytest

from tests.support.virtual import settle, virtual
from tests.unit.embedded.store.builders import create
from trellis.embedded.store.journal import Journal
from trellis.embedded.store.problems import NotWritten
from trellis.embedded.store.settling import Settling
from trellis.embedded.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Write = Callable[[str], None]


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    done: list[int] = []
    real = os.fdatasync

    def count(file: int) -> None:
        done.append(file)
        real(file)

    monkeypatch.setattr(os, "fdatasync", count)
    return done


@virtual
async def test_one_sync_serves_all_who_wrote_in_a_turn_of_the_loop(
    tmp_path: Path, syncs: list[int]
) -> None:
    journal = Journal(tmp_path)
    store, settling = Store(journal), Settling(journal)

    async def write(name: str) -> None:
        create(store.shelf("", "things"), name)
        await settling.settled()

    await asyncio.gather(*(write(name) for name in "abc"))
    assert (len(syncs), journal.unsynced) == (1, False)
    await settling.settled()
    assert len(syncs) == 1
    await write("d")
    assert len(syncs) == 2
    store.close()


@virtual
async def test_who_gives_up_waiting_leaves_the_others_waiting(
    tmp_path: Path, syncs: list[int]
) -> None:
    journal = Journal(tmp_path)
    store, settling = Store(journal), Settling(journal)
    create(store.shelf("", "things"))
    waiting = [asyncio.create_task(settling.settled()) for _ in range(2)]
    asyncio.get_running_loop().call_soon(waiting[0].cancel)
    await settle()
    assert [task.cancelled() for task in waiting] == [True, False]
    assert len(syncs) == 1
    store.close()


@virtual
async def test_a_disk_that_fails_to_keep_is_trusted_with_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    journal = Journal(tmp_path)
    store, settling = Store(journal), Settling(journal)
    create(store.shelf("", "things"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fail)
        outcomes = await asyncio.gather(
            settling.settled(), settling.settled(), return_exceptions=True
        )
    assert [type(outcome) for outcome in outcomes] == [NotWritten, NotWritten]
    with pytest.raises(NotWritten, match="its disk failed to keep it"):
        create(store.shelf("", "things"), "b")
    with pytest.raises(NotWritten, match="its disk failed to keep it"):
        await settling.settled()
    store.close()
