# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.waiter.arguments import Parent
from trellis.waiter.tally import Count, Missing, Sight, Tally

COUNTS = st.builds(Count, replicas=st.integers(0, 5), ready=st.integers(0, 5))
SIGHTS = st.one_of(COUNTS, st.sampled_from(Missing))


@pytest.mark.parametrize(
    ("needed", "sight", "enough", "said"),
    [
        pytest.param(2, Count(3, 1), False, "waiting, 1 of 2 pods ready", id="too few"),
        pytest.param(2, Count(3, 2), True, "2 of 2 pods ready", id="its minimum"),
        pytest.param(2, Count(3, 3), True, "2 of 2 pods ready", id="more than that"),
        pytest.param(2, Count(1, 1), True, "1 of 1 pods ready", id="scaled below its minimum"),
        pytest.param(2, Count(1, 0), False, "waiting, 0 of 1 pods ready", id="and not ready"),
        pytest.param(2, Count(0, 0), True, "it is scaled to 0, nothing to wait for", id="at zero"),
        pytest.param(0, Count(2, 0), True, "it is scaled to 0, nothing to wait for", id="no need"),
        pytest.param(1, Missing.ABSENT, False, "waiting, it is not there", id="not there"),
        pytest.param(
            1, Missing.GONE, True, "it was scaled away, nothing to wait for", id="gone for good"
        ),
    ],
)
def test_a_parent_has_enough_or_is_waited_for(
    needed: int, sight: Sight, enough: bool, said: str
) -> None:
    tally = Tally([Parent("a", needed)])
    assert tally.see("a", sight) == f"a: {said}"
    assert tally.enough is enough


def test_nothing_is_enough_before_every_parent_was_seen() -> None:
    tally = Tally([Parent("a", 1), Parent("b", 1)])
    tally.see("a", Count(1, 1))
    assert not tally.enough


def test_parents_must_be_ready_at_the_same_time() -> None:
    tally = Tally([Parent("a", 1), Parent("b", 1)])
    tally.see("a", Count(1, 1))
    tally.see("a", Count(1, 0))
    tally.see("b", Count(1, 1))
    assert not tally.enough
    tally.see("a", Count(1, 1))
    assert tally.enough


def test_the_same_is_said_once() -> None:
    tally = Tally([Parent("a", 2)])
    said = [tally.see("a", Count(3, ready)) for ready in (0, 0, 1, 2, 3, 1)]
    assert [bool(line) for line in said] == [True, False, True, True, False, True]


@given(st.lists(st.tuples(st.sampled_from("abc"), SIGHTS), max_size=30))
def test_only_what_was_seen_last_counts(seen: list[tuple[str, Sight]]) -> None:
    parents = [Parent(name, 2) for name in "abc"]
    tally, alone = Tally(parents), Tally(parents)
    for name, sight in seen:
        tally.see(name, sight)
    for name, sight in dict(seen).items():
        alone.see(name, sight)
    assert tally.enough == alone.enough
