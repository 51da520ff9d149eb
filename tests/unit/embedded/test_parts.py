# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio

import pytest

from trellis.embedded.parts import PartEnded, Parts


async def obedient(stop: asyncio.Event) -> None:
    await stop.wait()


async def broken(_: asyncio.Event) -> None:
    raise ValueError("no disk")


async def endless() -> str:
    await asyncio.Future()
    return "never"


async def test_who_ends_without_being_told_to_is_named_with_why() -> None:
    parts = Parts()
    parts.start("the nodes", obedient)
    parts.start("the scheduler", broken)
    failure = await parts.failure()
    assert str(failure) == "the scheduler ended: ValueError: no disk"
    assert isinstance(failure.__cause__, ValueError)
    await parts.stop()


async def test_work_goes_on_only_while_all_parts_do() -> None:
    parts = Parts()
    parts.start("the nodes", obedient)
    assert await parts.unless_broken(asyncio.sleep(0, "done")) == "done"
    parts.start("the scheduler", broken)
    with pytest.raises(PartEnded, match="no disk"):
        await parts.unless_broken(endless())
    await parts.stop()


async def test_stopping_waits_for_those_that_end_by_themselves() -> None:
    parts, ended = Parts(), []

    async def slow(stop: asyncio.Event) -> None:
        await stop.wait()
        await asyncio.sleep(0)
        ended.append("slow")

    parts.start("slow", slow)
    await asyncio.sleep(0)
    await parts.stop()
    assert ended == ["slow"]
    await parts.stop()
