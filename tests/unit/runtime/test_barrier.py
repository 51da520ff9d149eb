# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.runtime.builders import (
    BALLS,
    BOXES,
    GONE,
    Ball,
    Box,
    a_ball,
    a_delta,
    a_snapshot,
    key,
)
from trellis.kube.events import Delta
from trellis.runtime.barrier import Barrier
from trellis.runtime.cache import Cache

if TYPE_CHECKING:
    from collections.abc import Callable

OWNER = "uid-box"


@pytest.fixture
def balls() -> Cache[Ball]:
    cache = Cache(BALLS, Ball)
    cache.replace(a_snapshot([a_ball("a"), a_ball("b")], 10))
    return cache


def test_it_is_open_for_whom_nothing_was_written(balls: Cache[Ball]) -> None:
    barrier = Barrier()
    barrier.wrote("somebody else", balls, "11")
    assert barrier.is_open(OWNER)


@pytest.mark.parametrize(
    ("reach", "opened"),
    [
        pytest.param(lambda cache: cache.apply(Delta([], "10")), False, id="not by less"),
        pytest.param(lambda cache: cache.apply(Delta([], "12")), True, id="by a bookmark"),
        pytest.param(lambda cache: cache.apply(a_delta(12, a_ball("x"))), True, id="by any change"),
        pytest.param(lambda cache: cache.replace(a_snapshot([], 15)), True, id="by a new list"),
        pytest.param(
            lambda cache: cache.replace(a_snapshot([], 3)), True, id="by a history that went back"
        ),
    ],
)
def test_after_a_write_it_opens_when_the_cache_has_come_so_far(
    balls: Cache[Ball], reach: Callable[[Cache[Ball]], None], opened: bool
) -> None:
    barrier = Barrier()
    barrier.wrote(OWNER, balls, "11")
    barrier.wrote(OWNER, balls, "12")
    barrier.wrote(OWNER, balls, "11")
    assert not barrier.is_open(OWNER)
    reach(balls)
    assert barrier.is_open(OWNER) is opened


@pytest.mark.parametrize(
    ("delta", "opened"),
    [
        pytest.param(Delta([], "99"), False, id="not by the version alone"),
        pytest.param(a_delta(11, gone=[a_ball("a")]), True, id="gone"),
        pytest.param(a_delta(11, a_ball("a", deletion_timestamp=GONE)), True, id="terminating"),
        pytest.param(a_delta(11, a_ball("a", uid="second")), True, id="another of its name"),
        pytest.param(a_delta(11, gone=[a_ball("b")]), False, id="not by another's end"),
    ],
)
def test_after_a_deletion_it_opens_when_the_object_goes(
    balls: Cache[Ball], delta: Delta[Ball], opened: bool
) -> None:
    barrier = Barrier()
    barrier.deleted(OWNER, balls, key("a"), "uid-a")
    assert not barrier.is_open(OWNER)
    balls.apply(delta)
    assert barrier.is_open(OWNER) is opened


def test_what_is_made_and_deleted_in_one_go_is_waited_for_to_its_end(balls: Cache[Ball]) -> None:
    barrier = Barrier()
    barrier.wrote(OWNER, balls, "11")
    barrier.deleted(OWNER, balls, key("new"), "uid-new")
    assert not barrier.is_open(OWNER)
    balls.apply(a_delta(11, a_ball("new")))
    assert not barrier.is_open(OWNER)
    balls.apply(a_delta(12, gone=[a_ball("new")]))
    assert barrier.is_open(OWNER)


def test_all_caches_must_have_caught_up(balls: Cache[Ball]) -> None:
    boxes: Cache[Box] = Cache(BOXES, Box)
    barrier = Barrier()
    barrier.wrote(OWNER, balls, "11")
    barrier.wrote(OWNER, boxes, "12")
    balls.apply(Delta([], "20"))
    assert not barrier.is_open(OWNER)
    assert barrier.is_open(OWNER, balls)
    assert not barrier.is_open(OWNER, boxes)
    boxes.apply(Delta([], "20"))
    assert barrier.is_open(OWNER)


def test_a_deletion_that_a_restored_backup_undid_is_not_waited_for(balls: Cache[Ball]) -> None:
    barrier = Barrier()
    barrier.deleted(OWNER, balls, key("a"), "uid-a")
    balls.replace(a_snapshot([a_ball("a")], 3))
    assert barrier.is_open(OWNER)
    barrier.deleted(OWNER, balls, key("a"), "uid-a")
    assert not barrier.is_open(OWNER)


def test_a_doubt_outlives_a_history_that_went_back(balls: Cache[Ball]) -> None:
    barrier = Barrier()
    barrier.doubt(OWNER, balls, key("a"))
    barrier.wrote(OWNER, balls, "50")
    balls.replace(a_snapshot([], 3))
    barrier.wrote(OWNER, balls, "3")
    assert barrier.doubts(OWNER) == ((balls, key("a")),)
    barrier.cleared(OWNER, balls, key("a"))
    assert barrier.is_open(OWNER)


def test_a_doubt_is_cleared_by_reading_and_by_nothing_else(balls: Cache[Ball]) -> None:
    barrier = Barrier()
    barrier.doubt(OWNER, balls, key("a"))
    balls.apply(Delta([], "99"))
    assert not barrier.is_open(OWNER)
    assert barrier.doubts(OWNER) == ((balls, key("a")),)
    barrier.cleared(OWNER, balls, key("a"))
    assert barrier.is_open(OWNER)


def test_who_waits_is_woken_once(balls: Cache[Ball]) -> None:
    woken: list[str] = []
    barrier = Barrier()
    barrier.wrote(OWNER, balls, "12")
    for _ in range(3):
        barrier.when_caught_up(OWNER, "waiter", lambda: woken.append("waiter"))
    balls.apply(Delta([], "11"))
    assert woken == []
    balls.apply(Delta([], "12"))
    balls.apply(Delta([], "13"))
    assert woken == ["waiter"]


def test_who_need_not_wait_is_called_at_once(balls: Cache[Ball]) -> None:
    woken: list[str] = []
    barrier = Barrier()
    barrier.doubt(OWNER, balls, key("a"))
    barrier.when_caught_up(OWNER, "waiter", lambda: woken.append("waiter"))
    assert woken == ["waiter"]


def test_what_was_caught_up_with_is_forgotten_though_nobody_asks(balls: Cache[Ball]) -> None:
    barrier = Barrier()
    for number in range(10_000):
        barrier.wrote(f"uid-{number}", balls, str(number))
        balls.apply(Delta([], str(number)))
    assert len(barrier) <= 128
