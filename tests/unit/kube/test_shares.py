# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trellis.kube.batch import Batch
from trellis.kube.shares import Shares


def filled(owner: str, size: int) -> Shares[str]:
    """With one large batch of that owner."""
    shares: Shares[str] = Shares()
    add(shares, owner, size)
    return shares


def add(shares: Shares[str], owner: str, size: int) -> None:
    batch = Batch(size)
    for _ in range(size):
        shares.add(owner, batch, f"{owner}{size}")


def popped(shares: Shares[str], count: int = 1000) -> list[str]:
    found: list[str] = []
    while shares and len(found) < count:
        found.append(shares.pop())
    return found


def test_owners_take_turns() -> None:
    shares = filled("a", 4)
    add(shares, "b", 2)
    assert popped(shares) == ["a4", "b2", "a4", "b2", "a4", "a4"]


def test_who_comes_late_has_no_claim_to_what_it_missed() -> None:
    shares = filled("a", 20)
    popped(shares, 10)
    add(shares, "b", 10)
    assert popped(shares, 6).count("b10") == 3


def test_who_comes_again_has_nothing_to_pay_back() -> None:
    shares = filled("a", 20)
    popped(shares)
    add(shares, "b", 4)
    add(shares, "a", 4)
    assert popped(shares, 4) == ["b4", "a4", "b4", "a4"]


def test_what_is_taken_out_does_not_come_up() -> None:
    shares, turn = filled("b", 2), "a1"
    shares.add("a", Batch(1), turn)
    shares.remove("a", turn)
    shares.remove("a", turn)
    assert popped(shares) == ["b2", "b2"]
    assert not shares


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 9), st.integers(0, 9))))
def test_all_come_up_and_no_owner_gets_far_ahead(story: list[tuple[str, int, int]]) -> None:
    shares: Shares[str] = Shares()
    waiting = dict.fromkeys("abcd", 0)
    since = dict.fromkeys("abcd", 0)
    for owner, size, turns in story:
        if not waiting[owner]:
            since = dict.fromkeys("abcd", 0)
        add(shares, owner, size)
        waiting[owner] += size
        for _ in range(min(turns, sum(waiting.values()))):
            served = shares.pop()[0]
            waiting[served] -= 1
            since[served] += 1
            if not waiting[served]:
                since = dict.fromkeys("abcd", 0)
            of_those = [since[one] for one in waiting if waiting[one]]
            assert not of_those or max(of_those) - min(of_those) <= 2
    assert len(popped(shares)) == sum(waiting.values())
