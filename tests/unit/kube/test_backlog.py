# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.kube.backlog import Backlog, Initial
from trellis.kube.events import Change, Delta, Snapshot


def put(name: str, value: str) -> Change[str]:
    return Change("here", name, value)


def gone(name: str) -> Change[str]:
    return Change("here", name, None)


def test_the_latest_state_of_each_object_is_told_in_the_order_of_their_last_change() -> None:
    backlog: Backlog[str] = Backlog()
    for version, change in enumerate([put("a", "1"), put("b", "1"), put("a", "2")]):
        backlog.add(change, str(version))
    assert backlog.take() == Delta([put("b", "1"), put("a", "2")], "2")
    assert not backlog


def test_a_snapshot_takes_the_place_of_all_before_it() -> None:
    backlog: Backlog[str] = Backlog()
    backlog.add(put("a", "1"), "1")
    backlog.replace(Snapshot(["x"], "5"))
    backlog.add(put("b", "1"), "6")
    assert [backlog.take(), backlog.take()] == [Snapshot(["x"], "5"), Delta([put("b", "1")], "6")]
    assert not backlog


def test_how_far_it_has_come_is_told_even_if_nothing_changed() -> None:
    backlog: Backlog[str] = Backlog()
    backlog.reach("7")
    backlog.reach("8")
    assert backlog.take() == Delta([], "8")
    with pytest.raises(LookupError):
        backlog.take()


NAMES = st.sampled_from("abc")
EVENTS = st.lists(
    st.one_of(
        st.builds(put, NAMES, st.text("xy", max_size=2)),
        st.builds(gone, NAMES),
        st.just("snapshot"),
    )
)


@given(EVENTS, st.lists(st.booleans()))
def test_whenever_it_is_taken_the_reader_ends_with_the_same(
    events: list[Change[str] | str], takes: list[bool]
) -> None:
    backlog: Backlog[str] = Backlog()
    truth: dict[str, str] = {}
    seen: dict[str, str] = {}

    def take() -> None:
        while backlog:
            update = backlog.take()
            if isinstance(update, Snapshot):
                seen.clear()
                seen.update(item.split("=") for item in update.objects)  # type: ignore[misc]
                continue
            for change in update.changes:
                apply(seen, change)

    for version, happened in enumerate(events):
        if isinstance(happened, str):
            items = [f"{name}={value}" for name, value in truth.items()]
            backlog.replace(Snapshot(items, str(version)))
        else:
            apply(truth, happened)
            backlog.add(happened, str(version))
        if version < len(takes) and takes[version]:
            take()
    take()
    assert seen == truth


def apply(state: dict[str, str], change: Change[str]) -> None:
    if change.object is None:
        state.pop(change.name, None)
    else:
        state[change.name] = change.object


def test_initial_events_are_gathered_with_what_happens_meanwhile() -> None:
    initial: Initial[str] = Initial()
    for change in (put("a", "1"), put("b", "1"), put("a", "2"), gone("b"), gone("never")):
        initial.add(change)
    assert initial.snapshot("9") == Snapshot(["2"], "9")
