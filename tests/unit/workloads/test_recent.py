# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from trellis.workloads.recent import Recent


def test_what_was_noted_longest_ago_goes_first() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.note("a", 1)
    recent.note("b", 2)
    recent.note("a", 3)
    recent.note("c", 4)
    assert [recent.get(key) for key in "abc"] == [3, None, 4]
    assert "b" not in recent
    assert len(recent) == 2


def test_what_is_forgotten_makes_room() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.note("a", 1)
    recent.note("b", 2)
    recent.forget("a")
    recent.forget("never there")
    recent.note("c", 3)
    assert [recent.get(key) for key in "abc"] == [None, 2, 3]
