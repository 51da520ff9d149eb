# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio

from tests.support.virtual import VirtualClock, virtual
from trellis.api.reasons import objects
from trellis.workloads.podclique.patience import Patience
from trellis.workloads.trouble import Trouble

NO = Trouble(reason=objects.QUOTA_REFUSED, message="no")


@virtual
async def test_the_same_is_not_asked_again_for_a_while() -> None:
    patience = Patience(VirtualClock(), 30.0)
    patience.refused("uid", ("a", "b"), NO)
    await asyncio.sleep(10)
    told = patience.answer("uid", ("a", "b"))
    assert told is not None
    assert told.trouble is NO
    assert patience.left(told) == 20.0
    await asyncio.sleep(20)
    assert patience.answer("uid", ("a", "b")) is None


@virtual
async def test_something_else_is_asked_at_once_and_so_is_what_somebody_else_asks() -> None:
    patience = Patience(VirtualClock(), 30.0)
    patience.refused("uid", ("a",), NO)
    assert patience.answer("uid", ("b",)) is None
    assert patience.answer("other", ("a",)) is None


@virtual
async def test_what_was_granted_or_is_gone_is_forgotten() -> None:
    patience = Patience(VirtualClock(), 30.0)
    patience.refused("uid", ("a",), NO)
    patience.forget("uid")
    patience.forget("never heard of")
    assert patience.answer("uid", ("a",)) is None


@virtual
async def test_no_more_is_remembered_than_there_is_room_for() -> None:
    patience = Patience(VirtualClock(), 30.0, most=2)
    for uid in ("first", "second", "third"):
        patience.refused(uid, (), NO)
    assert patience.answer("first", ()) is None
    assert patience.answer("third", ()) is not None
