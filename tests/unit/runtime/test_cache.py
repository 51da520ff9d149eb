# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.support.virtual import START, settle, virtual
from tests.unit.runtime.builders import (
    BALLS,
    NAMESPACE,
    Ball,
    BallSpec,
    a_ball,
    a_delta,
    a_snapshot,
    key,
)
from trellis.api.meta import Resource
from trellis.kube.events import Change, Delta
from trellis.kube.verbs import Selection
from trellis.runtime.cache import Cache, Scope, as_number
from trellis.runtime.index import Index

if TYPE_CHECKING:
    from collections.abc import Iterable

BY_COLOUR: Index[Ball] = Index("colour", lambda ball: [ball.spec.colour])


class Ear:
    """Remembers what it is told: (+ appeared | ~ changed | - gone), and whether it was fresh."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def __call__(self, old: Ball | None, new: Ball | None, *, fresh: bool) -> None:
        sign = "+" if old is None else "-" if new is None else "~"
        name = (new or old or a_ball("?")).metadata.name
        self.heard.append(f"{sign}{name}{'' if fresh else ' (listed)'}")


def a_cache(*objects: Ball, version: int = 10) -> tuple[Cache[Ball], Ear]:
    cache = Cache(BALLS, Ball, [BY_COLOUR])
    cache.replace(a_snapshot(objects, version))
    ear = Ear()
    cache.subscribe(ear)
    ear.heard.clear()
    return cache, ear


def names(balls: Iterable[Ball]) -> list[str]:
    return [ball.metadata.name for ball in balls]


def test_a_list_fills_it_and_changes_follow() -> None:
    cache, ear = a_cache(a_ball("a"))
    cache.apply(a_delta(12, a_ball("b"), a_ball("a", colour="blue"), gone=[]))
    cache.apply(a_delta(14, gone=[a_ball("a", colour="blue")]))
    assert ear.heard == ["+b", "~a", "-a"]
    assert names(cache) == ["b"]
    assert cache.resource_version == 14
    assert cache.get(key("a")) is None


def test_who_subscribes_late_is_told_what_is_there_as_by_a_list() -> None:
    cache, _ = a_cache(a_ball("a"), a_ball("b"))
    ear = Ear()
    cache.subscribe(ear)
    assert ear.heard == ["+a (listed)", "+b (listed)"]


def test_a_new_list_replaces_everything_and_says_what_went() -> None:
    cache, ear = a_cache(a_ball("a"), a_ball("b"))
    cache.replace(a_snapshot([a_ball("b", colour="blue"), a_ball("c")], 20))
    assert ear.heard == ["-a (listed)", "~b (listed)", "+c (listed)"]
    assert names(cache) == ["b", "c"]
    assert cache.resource_version == 20


def test_a_name_that_passed_to_another_object_is_an_end_and_a_beginning() -> None:
    cache, ear = a_cache(a_ball("a", owner="uid-old"))
    cache.apply(a_delta(12, a_ball("a", uid="uid-second", owner="uid-new")))
    assert ear.heard == ["-a", "+a"]
    assert names(cache.owned("uid-old")) == []
    assert names(cache.owned("uid-new")) == ["a"]


def test_a_change_that_nobody_can_see_is_kept_and_not_told() -> None:
    cache, ear = a_cache(a_ball("a"))
    cache.apply(a_delta(12, a_ball("a", resource_version="12")))
    assert ear.heard == []
    found = cache.get(key("a"))
    assert found is not None
    assert found.metadata.resource_version == "12"


def test_the_end_of_what_was_never_seen_is_nothing() -> None:
    cache, ear = a_cache()
    cache.apply(a_delta(12, gone=[a_ball("a")]))
    assert ear.heard == []
    assert cache.resource_version == 12


def test_that_it_left_is_told_before_that_it_is_gone_though_both_came_as_one() -> None:
    cache, ear = a_cache(a_ball("a"), a_ball("b"))
    seen: list[Ball | None] = []
    cache.subscribe(lambda old, new, **_: seen.extend((old, new)))
    seen.clear()
    cache.apply(Delta([Change(NAMESPACE, name, None, START) for name in ("a", "never")], "11"))
    assert ear.heard[-2:] == ["~a", "-a"]
    assert [ball.metadata.deletion_timestamp if ball else "gone" for ball in seen] == [
        None,
        START,
        START,
        "gone",
    ]
    assert [ball.metadata.name for ball in cache] == ["b"]


def test_progress_without_changes_is_progress() -> None:
    cache, _ = a_cache()
    seen: list[int] = []
    cache.on_progress(lambda: seen.append(cache.resource_version))
    cache.apply(Delta([], "30"))
    assert seen == [30]


def test_whoever_relies_on_changes_hears_where_some_may_be_missing() -> None:
    cache, _ = a_cache(a_ball("a"), version=10)
    gaps: list[int] = []
    cache.on_gap(lambda: gaps.append(cache.resource_version))
    cache.apply(a_delta(11, a_ball("b"), gone=[a_ball("a")]))
    assert gaps == []
    cache.apply(a_delta(12, gone=[a_ball("made and deleted before anybody looked")]))
    cache.replace(a_snapshot([a_ball("b")], 13))
    assert gaps == [12, 13]


def test_the_first_list_is_no_gap() -> None:
    cache = Cache(BALLS, Ball)
    gaps: list[str] = []
    cache.on_gap(lambda: gaps.append("gap"))
    cache.replace(a_snapshot([a_ball("a")], 10))
    assert gaps == []


def test_history_that_goes_back_is_another_history() -> None:
    cache, _ = a_cache(version=100)
    cache.replace(a_snapshot([], 101))
    assert cache.history == 0
    cache.replace(a_snapshot([], 50))
    assert (cache.history, cache.resource_version) == (1, 50)


def test_an_index_follows_its_objects() -> None:
    cache, _ = a_cache(a_ball("a"), a_ball("b", colour="blue"), a_ball("c"))
    assert names(cache.find(BY_COLOUR, "red")) == ["a", "c"]
    cache.apply(a_delta(12, a_ball("a", colour="blue"), gone=[a_ball("c")]))
    assert names(cache.find(BY_COLOUR, "red")) == []
    assert names(cache.find(BY_COLOUR, "blue")) == ["b", "a"]


def test_an_index_that_comes_later_knows_what_is_there() -> None:
    cache, _ = a_cache(a_ball("ann"), a_ball("bob"))
    by_letter: Index[Ball] = Index("letter", lambda ball: [ball.metadata.name[0]])
    cache.add_index(by_letter)
    cache.add_index(by_letter)
    assert names(cache.find(by_letter, "b")) == ["bob"]


def test_one_object_that_confuses_a_listener_or_an_index_stops_no_other() -> None:
    def picky(ball: Ball) -> list[str]:
        return [ball.metadata.labels["colour"]]

    def deaf(*_: Any, **__: Any) -> None:
        raise ValueError("what?")

    cache: Cache[Ball] = Cache(BALLS, Ball, [index := Index("label", picky)])
    ear = Ear()
    cache.subscribe(deaf)
    cache.subscribe(ear)
    cache.apply(a_delta(12, a_ball("odd"), a_ball("good", labels={"colour": "red"})))
    cache.apply(a_delta(13, gone=[a_ball("odd")]))
    assert ear.heard == ["+odd", "+good", "-odd"]
    assert names(cache.find(index, "red")) == ["good"]


@virtual
async def test_it_is_synced_by_its_first_list() -> None:
    cache: Cache[Ball] = Cache(BALLS, Ball)
    waiting = asyncio.create_task(cache.until_synced())
    await settle()
    assert not waiting.done()
    cache.replace(a_snapshot([], 1))
    await waiting


def test_versions_that_are_no_numbers_order_nothing() -> None:
    assert [as_number(each) for each in ("17", "", "x1", "-3", "١٢")] == [17, 0, 0, 0, 0]


COLOURS = st.sampled_from(["red", "blue", "green"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from("abcd"), COLOURS, st.sampled_from(["1", "2"])),
        st.tuples(st.just("drop"), st.sampled_from("abcd"), COLOURS, st.just("")),
        st.tuples(st.just("list"), st.sampled_from("abcd"), COLOURS, st.sampled_from(["1", "2"])),
    ),
    max_size=30,
)


@pytest.mark.parametrize(
    ("cache", "label"),
    [
        pytest.param(Cache(BALLS, Ball), "balls.toys.dev", id="all of a kind"),
        pytest.param(
            Cache(BALLS, Ball, scope=Scope(namespace="here")),
            "balls.toys.dev?here",
            id="those of a namespace",
        ),
        pytest.param(
            Cache(BALLS, Ball, scope=Scope(selection=Selection(labels="a=b", fields="c=d"))),
            "balls.toys.dev?labelSelector=a=b?fieldSelector=c=d",
            id="those that are selected",
        ),
        pytest.param(
            Cache(Resource("others.dev", "v1", "Ball", "balls"), Ball),
            "balls.others.dev",
            id="those of another group",
        ),
    ],
)
def test_it_is_called_by_all_that_its_watch_differs_in(cache: Cache[Ball], label: str) -> None:
    assert cache.label == label


@given(STEPS)
def test_whatever_happens_cache_indexes_and_listeners_agree(
    steps: list[tuple[str, str, str, str]],
) -> None:
    cache: Cache[Ball] = Cache(BALLS, Ball, [BY_COLOUR])
    told: dict[str, Ball] = {}

    def ear(old: Ball | None, new: Ball | None, *, fresh: bool) -> None:
        del fresh
        if old is not None:
            assert told.pop(old.metadata.name).metadata.uid == old.metadata.uid
        if new is not None:
            told[new.metadata.name] = new

    cache.subscribe(ear)
    for number, (what, name, colour, life) in enumerate(steps):
        ball = a_ball(name, uid=f"{name}-{life}", colour=colour, resource_version=str(number))
        if what == "list":
            cache.replace(a_snapshot([ball], number))
        else:
            change = Change(NAMESPACE, name, None if what == "drop" else ball)
            cache.apply(Delta([change], str(number)))
    held = {ball.metadata.name: ball for ball in cache}
    assert {name: _seen(ball) for name, ball in told.items()} == {
        name: _seen(ball) for name, ball in held.items()
    }
    for colour in ("red", "blue", "green"):
        filed = sorted(names(cache.find(BY_COLOUR, colour)))
        assert filed == sorted(name for name, ball in held.items() if ball.spec.colour == colour)
    assert sorted(names(cache.owned("uid-box"))) == sorted(held)


def _seen(ball: Ball) -> BallSpec:
    return structs.replace(ball.spec)
