# SPDX-License-Identifier: Apache-2.0
"""The queue's order and its promises, held against a model that only knows what was promised."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from math import inf

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from trellis.runtime.agenda import (
    MOST_SECONDS_BEHIND,
    SECONDS_AFTER_FAILURE,
    Agenda,
    Priority,
)

KEYS = st.sampled_from("abcdef")
SECONDS = st.sampled_from([0.0, 0.25, 1.0, 2.5, 40.0, 400.0])
PRIORITIES = st.sampled_from(list(Priority))


@dataclass
class Promise:
    """What the agenda owes one key."""

    at: float = inf
    active: bool = False
    once_more: bool = False
    failed_at: float = -inf
    next: float = inf
    """While active: when it is to be looked at after this turn."""

    def add(self, now: float) -> None:
        if self.active:
            self.once_more = True
        else:
            self.at = min(self.at, max(now, self.failed_at + SECONDS_AFTER_FAILURE))

    def add_at(self, due: float, now: float) -> None:
        if self.active:
            self.next = min(self.next, due)
            self.once_more |= due <= now
        else:
            self.at = min(self.at, due)

    def leave(self, due: float, now: float) -> None:
        self.active = False
        # What came due during the turn was for the turn after it, failed or not.
        again = self.once_more or self.next <= now
        self.at = min(due, inf if self.next <= now else self.next)
        self.next, self.once_more = inf, False
        if again:
            self.add(now)


class Model(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.agenda: Agenda[str] = Agenda(crowd=lambda key: key in "abcd")
        self.now = 100.0
        self.promises: dict[str, Promise] = {key: Promise() for key in "abcdef"}

    @rule(key=KEYS, priority=PRIORITIES)
    def add(self, key: str, priority: Priority) -> None:
        self.agenda.add(key, self.now, priority)
        self.promises[key].add(self.now)

    @rule(key=KEYS, seconds=SECONDS, priority=PRIORITIES)
    def add_later(self, key: str, seconds: float, priority: Priority) -> None:
        self.agenda.add_at(key, self.now + seconds, self.now, priority)
        self.promises[key].add_at(self.now + seconds, self.now)

    @rule()
    def pop(self) -> None:
        key = self.agenda.pop(self.now)
        owed = [name for name, promise in self.promises.items() if promise.at <= self.now]
        assert (key in owed) if owed else (key is None)
        if key is not None:
            promise = self.promises[key]
            assert not promise.active
            self.nobody_starved_for(key)
            promise.at, promise.active = inf, True

    def nobody_starved_for(self, key: str) -> None:
        """Priorities differ by 35 seconds at most, and places in crowds by as much as is said:
        nobody who waited longer is overtaken."""
        oldest = min(promise.at for promise in self.promises.values())
        assert self.promises[key].at - oldest <= 35.0 + MOST_SECONDS_BEHIND

    @precondition(lambda self: self.working)
    @rule(data=st.data(), after=st.none() | SECONDS)
    def succeed(self, data: st.DataObject, after: float | None) -> None:
        key = data.draw(st.sampled_from(self.working))
        due = None if after is None else self.now + after
        self.agenda.succeed(key, self.now, due)
        self.promises[key].failed_at = -inf
        self.promises[key].leave(inf if due is None else due, self.now)

    @precondition(lambda self: self.working)
    @rule(data=st.data(), delay=SECONDS)
    def fail(self, data: st.DataObject, delay: float) -> None:
        key = data.draw(st.sampled_from(self.working))
        self.agenda.fail(key, self.now, delay)
        self.promises[key].failed_at = self.now
        self.promises[key].leave(self.now + delay, self.now)

    @rule(seconds=SECONDS)
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @property
    def working(self) -> list[str]:
        return [key for key, promise in self.promises.items() if promise.active]

    @invariant()
    def counts_agree(self) -> None:
        assert self.agenda.active == len(self.working)
        owed = sum(promise.at < inf for promise in self.promises.values())
        idle_later = sum(p.active and p.next > self.now for p in self.promises.values())
        assert (
            owed <= self.agenda.waiting + self.agenda.later <= owed + idle_later + len(self.working)
        )

    def teardown(self) -> None:
        """Nothing that is owed is lost: all of it comes out once there is time."""
        for key in self.working:
            self.agenda.succeed(key, self.now)
            self.promises[key].failed_at = -inf
            self.promises[key].leave(inf, self.now)
        owed = sorted(key for key, promise in self.promises.items() if promise.at < inf)
        self.now += 1000.0
        handed: list[str] = []
        while (popped := self.agenda.pop(self.now)) is not None:
            handed.append(popped)
        assert sorted(handed) == owed


TestModel = Model.TestCase
TestModel.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, derandomize=True
)


@dataclass
class Scene:
    agenda: Agenda[str] = field(default_factory=Agenda)

    def order(self, now: float) -> str:
        keys = []
        while (key := self.agenda.pop(now)) is not None:
            keys.append(key)
        return "".join(keys)


@pytest.mark.parametrize(
    ("added", "order"),
    [
        pytest.param([("a", 0.0, 0), ("b", 1.0, 0)], "ab", id="first come, first served"),
        pytest.param([("a", 0.0, -100), ("b", 9.0, 0)], "ba", id="an edit overtakes a start-up"),
        pytest.param([("a", 0.0, -100), ("b", 31.0, 0)], "ab", id="but not for ever"),
        pytest.param([("a", 0.0, 0), ("b", 4.0, 50)], "ba", id="a deletion overtakes an edit"),
        pytest.param(
            [("a", 0.0, -100), ("b", 1.0, 0), ("a", 2.0, 50)], "ab", id="the better priority wins"
        ),
        pytest.param(
            [("a", 0.0, 0), ("b", 1.0, 0), ("a", 2.0, -100)], "ab", id="a worse one changes nothing"
        ),
    ],
)
def test_order(added: list[tuple[str, float, int]], order: str) -> None:
    scene = Scene()
    for key, at, priority in added:
        scene.agenda.add(key, at, Priority(priority))
    assert scene.order(50.0) == order


def of_first_letter() -> Agenda[str]:
    """Keys of sets that are called by their first letters."""
    return Agenda(crowd=lambda key: key[0])


def taken(agenda: Agenda[str], now: float, count: int = 1000) -> list[str]:
    keys = (agenda.pop(now) for _ in range(count))
    return [key for key in keys if key is not None]


def test_a_key_does_not_wait_for_the_whole_crowd_of_another_set() -> None:
    agenda = of_first_letter()
    for number in range(100):
        agenda.add(f"a{number:02}", 0.0)
    taken(agenda, 1.0, 10)
    agenda.add("b", 5.0)
    assert agenda.pop(5.0) == "b"


def test_crowds_take_turns_and_each_keeps_its_order() -> None:
    agenda = of_first_letter()
    for key in ("a0", "a1", "a2", "b0", "b1", "b2"):
        agenda.add(key, 0.0)
    assert taken(agenda, 1.0) == ["a0", "b0", "a1", "b1", "a2", "b2"]


def test_a_crowd_is_not_passed_for_ever() -> None:
    agenda = of_first_letter()
    for number in range(100):
        agenda.add(f"a{number:02}", 0.0)
    for second in range(1, 200):
        agenda.add(f"{chr(0x4E00 + second)}", float(second))
        agenda.pop(float(second))
    assert not any(key.startswith("a") for key in taken(agenda, 200.0)), "all had their turn"


def test_a_deletion_does_not_wait_for_its_crowd() -> None:
    agenda = of_first_letter()
    for number in range(100):
        agenda.add(f"a{number:02}", 0.0)
    agenda.add("a99", 3.0, Priority.URGENT)
    assert agenda.pop(3.0) == "a99"


def test_of_crowds_of_which_nobody_waits_nothing_is_remembered() -> None:
    agenda = of_first_letter()
    for number in range(10):
        agenda.add(f"a{number}", 0.0)
    assert len(taken(agenda, 1.0)) == 10
    assert not agenda._crowds


def test_a_poison_object_is_tried_once_a_second_however_often_it_changes() -> None:
    agenda: Agenda[str] = Agenda()
    tries, now = [], 0.0
    while now < 10.0:
        agenda.add("poison", now)
        if agenda.pop(now):
            tries.append(now)
            agenda.fail("poison", now, delay=300.0)
        now += 0.125
    assert tries == [float(second) for second in range(10)]


def test_asking_for_tomorrow_every_second_does_not_pile_up() -> None:
    agenda: Agenda[str] = Agenda()
    for second in range(10_000):
        now = float(second)
        agenda.add("a", now)
        assert agenda.pop(now) == "a"
        agenda.succeed("a", now, due=now + 86_400.0)
    assert sys.getsizeof(agenda._by_due) < 4096
    assert agenda.next_due() == 9_999.0 + 86_400.0
