# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from trellis.webhooks.workers import Workers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def workers(count: int) -> AsyncIterator[Workers]:
    made = Workers(count)
    yield made
    made.stop()


async def abandoned(pool: Workers, release: threading.Event) -> None:
    """Work that has begun, and that nobody waits for any more."""
    begun = threading.Event()

    def hold() -> None:
        begun.set()
        release.wait()

    waiting = asyncio.create_task(pool.run(hold))
    while not begun.is_set():
        await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_work_is_done_in_another_thread() -> None:
    async with workers(1) as pool:
        assert await pool.run(threading.get_ident) != threading.get_ident()


async def test_an_exception_comes_back_to_the_caller() -> None:
    async with workers(1) as pool:
        with pytest.raises(ZeroDivisionError):
            await pool.run(lambda: 1 // 0)


async def test_work_that_was_given_up_holds_its_thread_and_no_other() -> None:
    release = threading.Event()
    async with workers(2) as pool:
        await abandoned(pool, release)
        assert not pool.stuck
        assert await pool.run(lambda: "heard") == "heard"
        release.set()


async def test_with_every_thread_held_it_is_stuck_until_one_is_back() -> None:
    release = threading.Event()
    async with workers(2) as pool:
        await abandoned(pool, release)
        await abandoned(pool, release)
        assert pool.stuck
        waiting = asyncio.create_task(pool.run(lambda: "heard"))
        release.set()
        assert await waiting == "heard"
        assert not pool.stuck


async def test_work_given_up_before_it_began_is_never_done() -> None:
    release, done = threading.Event(), []
    async with workers(1) as pool:
        await abandoned(pool, release)
        waiting = asyncio.create_task(pool.run(lambda: done.append(1)))
        await asyncio.sleep(0)
        waiting.cancel()
        release.set()
        assert await pool.run(lambda: "heard") == "heard"
    assert done == []


async def test_threads_end_with_their_pool_and_keep_no_process_alive() -> None:
    before = set(threading.enumerate())
    async with workers(3):
        made = [thread for thread in threading.enumerate() if thread not in before]
        assert len(made) == 3
        assert all(thread.daemon for thread in made)
    while any(thread.is_alive() for thread in made):
        await asyncio.sleep(0)
