# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio

import pytest

from trellis.runtime.racing import first, raised


async def test_the_first_to_end_counts_and_the_others_have_ended_too() -> None:
    given_up = []

    async def endless() -> str:
        try:
            await asyncio.Future()
        finally:
            given_up.append("endless")
        return "never"

    assert await first(endless(), asyncio.sleep(0, "now")) == "now"
    assert given_up == ["endless"]


async def test_of_several_at_once_the_earlier_in_the_list_counts() -> None:
    async def now(what: str) -> str:
        return what

    assert await first(now("a"), now("b")) == "a"


async def test_a_failure_to_race_against_is_raised() -> None:
    async def failure() -> Exception:
        return ValueError("broke")

    with pytest.raises(ValueError, match="broke"):
        await first(raised(failure()), asyncio.sleep(3600))
