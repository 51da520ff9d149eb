# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.api.meta import Key
from trellis.workloads.podclique.crews import FEW, FIRST, Crews

MANY = FEW + 1


def key(name: str) -> Key:
    """Of a PodClique; the first letter is its set."""
    return Key("nursery", name)


class Yard:
    """PodCliques that come for a crew, and come again when they are called."""

    def __init__(self, at_a_time: int = 5) -> None:
        self.crews = Crews(at_a_time, lambda found: found.name[0])
        self.called: list[str] = []
        self.crews.bell.subscribe(lambda found: self.called.append(found.name))

    def comes(self, name: str, pods: int = MANY) -> bool:
        return self.crews.takes(key(name), pods)

    def is_over(self, name: str) -> list[str]:
        """Who is called then."""
        self.called.clear()
        self.crews.is_over(key(name))
        return self.called


def test_few_have_many_pods_made_at_a_time_and_the_first_in_line_is_called() -> None:
    yard = Yard()
    assert [yard.comes(name) for name in ("a1", "a2", "a3", "a4", "a5")] == [True] * 3 + [False] * 2
    assert yard.is_over("a2") == ["a4"]
    assert yard.comes("a4")
    assert yard.is_over("a1") == ["a5"]


def test_those_that_need_few_do_not_wait_for_those_that_need_many() -> None:
    yard = Yard()
    assert not all([yard.comes(f"a{n}") for n in range(4)])
    assert [yard.comes(f"b{n}", FEW) for n in range(3)] == [True, True, False]
    assert yard.is_over("b0") == ["b2"]


def served_after(yard: Yard, first: str) -> list[str]:
    """Who is served, one after the other, from where that one is over."""
    served, last = [], first
    while called := yard.is_over(last):
        [last] = called
        assert yard.comes(last)
        served.append(last)
    return served


@pytest.mark.parametrize(
    ("came", "served"),
    [
        pytest.param("a1 a2 b1 b2", "a1 a2 b1 b2", id="in-the-order-in-which-they-came"),
        pytest.param(
            "a1 a2 a3 a4 a5 a6 b1 b2 b3 b4 b5 b6",
            "a1 a2 a3 a4 a5 b1 a6 b2 b3 b4 b5 b6",
            id="a-crowd-that-has-just-come-has-its-first-few-in-between",
        ),
        pytest.param(
            "a1 b1 a2 b2 a3 b3 a4 b4 a5 b5 a6 b6 a7 a8 a9 a10",
            "a1 a2 a3 a4 a5 b1 a6 b2 a7 b3 a8 b4 a9 a10 b5 b6",
            id="and-then-one-crowd-is-finished-before-the-other",
        ),
    ],
)
def test_large_sets_are_made_one_after_the_other(came: str, served: str) -> None:
    assert FIRST == 4
    yard = Yard(at_a_time=1)
    assert yard.comes("a0")
    for name in came.split():
        assert not yard.comes(name)
    assert served_after(yard, "a0") == served.split()
    assert len(yard.crews) == 0


def test_new_crowds_do_not_keep_one_that_came_earlier_waiting_for_ever() -> None:
    yard = Yard(at_a_time=1)
    assert yard.comes("a0")
    for n in range(1, FIRST + 2):
        assert not yard.comes(f"a{n}")
    last = "a0"
    for n in range(FIRST + 2):
        assert not yard.comes(f"{chr(ord('b') + n)}0")
        [last] = yard.is_over(last)
        assert yard.comes(last)
        if last == f"a{FIRST + 1}":
            return
    raise AssertionError("the last of the first crowd was never called")


def test_who_was_called_and_did_not_come_is_called_again_by_whatever_ends() -> None:
    yard = Yard(at_a_time=1)
    assert yard.comes("a0")
    assert not yard.comes("a1")
    assert yard.is_over("a0") == ["a1"]
    assert yard.is_over("elsewhere") == ["a1"]


def test_who_needs_nothing_any_more_makes_room_in_line() -> None:
    yard = Yard(at_a_time=1)
    assert yard.comes("a0")
    assert not yard.comes("a1")
    assert not yard.comes("a2")
    assert yard.comes("a1", 0)
    assert yard.is_over("a0") == ["a2"]


def test_who_needs_fewer_than_before_waits_in_the_other_line() -> None:
    yard = Yard(at_a_time=1)
    assert yard.comes("a0")
    assert not yard.comes("a1")
    assert yard.comes("a1", FEW)
    assert yard.is_over("a0") == []
    assert yard.is_over("a1") == []
    assert len(yard.crews) == 0


@given(
    st.integers(1, 12),
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2 * FEW)), max_size=40),
)
def test_everybody_is_served_in_the_end(at_a_time: int, wanted: list[tuple[str, int]]) -> None:
    """Runs of one PodClique never overlap, and each ends; who is called has another."""
    yard = Yard(at_a_time)
    pods = {f"{crowd}{number}": many for number, (crowd, many) in enumerate(wanted)}
    runs, working, served = deque(pods), deque[str](), set[str]()
    while runs or working:
        if runs:
            name = runs.popleft()
            if name not in served and yard.comes(name, pods[name]):
                served.add(name)
            working.append(name)
        if not runs or len(working) > at_a_time:
            runs.extend(called for called in yard.is_over(working.popleft()))
    assert served == pods.keys()
    assert len(yard.crews) == 0
