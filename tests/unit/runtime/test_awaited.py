# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from tests.unit.runtime.builders import BALLS, Ball, a_ball, a_delta, a_snapshot, key
from trellis.runtime.awaited import Awaited
from trellis.runtime.cache import Cache


@dataclass
class Scene:
    """Balls `a` and `b` of somebody else, and who was woken."""

    cache: Cache[Ball] = field(default_factory=lambda: Cache(BALLS, Ball))
    awaited: Awaited = field(default_factory=Awaited)
    woken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cache.replace(a_snapshot([a_ball("a"), a_ball("b")], 1))

    def wait(self, who: str, *names: str) -> None:
        keys = [key(name) for name in names]
        self.awaited.wait(("box", key(who)), self.cache, keys, partial(self.woken.append, who))

    def goes(self, name: str, version: int) -> None:
        self.cache.apply(a_delta(version, gone=[a_ball(name)]))


def test_the_end_of_an_object_wakes_who_waits_for_its_name_and_nobody_else() -> None:
    scene = Scene()
    scene.wait("one", "a")
    scene.wait("two", "a", "b")
    scene.wait("three", "b")
    scene.goes("a", 2)
    assert scene.woken == ["one", "two"]


def test_who_waits_no_more_is_not_woken_and_not_remembered() -> None:
    scene = Scene()
    scene.wait("one", "a", "b")
    scene.wait("one", "b")
    scene.goes("a", 2)
    assert scene.woken == []
    scene.wait("one")
    scene.goes("b", 3)
    assert scene.woken == []
    assert len(scene.awaited) == 0


def test_an_object_that_was_replaced_unseen_wakes_as_well() -> None:
    scene = Scene()
    scene.wait("one", "a")
    scene.cache.replace(a_snapshot([a_ball("a", uid="uid-other"), a_ball("b")], 5))
    assert scene.woken == ["one"]


def test_no_more_than_so_many_wait() -> None:
    scene = Scene()
    for number in range(2000):
        scene.wait(f"box-{number}", f"name-{number}")
    assert len(scene.awaited) == 1024
