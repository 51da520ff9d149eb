# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.embedded.store.builders import create, drained, keys, remove, told, update
from trellis.embedded.store.problems import TooOld
from trellis.embedded.store.store import Limits, Store

if TYPE_CHECKING:
    from trellis.embedded.store.changes import Change

Seen = list[tuple[str, str, int]]


def seen_by(store: Store) -> Seen:
    seen: Seen = []
    store.subscribe(
        lambda change: seen.append((change.resource.plural, change.type, change.version))
    )
    return seen


def test_an_observer_is_told_of_every_commit_before_the_write_returns() -> None:
    store = Store()
    seen = seen_by(store)
    record = create(store.shelf("", "things"))
    assert seen == [("things", "ADDED", 1)]
    remove(store.shelf("", "things"), update(store.shelf("", "things"), record))
    create(store.shelf("apps", "others"))
    assert seen[1:] == [
        ("things", "MODIFIED", 2),
        ("things", "DELETED", 3),
        ("others", "ADDED", 4),
    ]


def test_an_observer_sees_the_change_in_the_store_and_queued_for_watchers() -> None:
    store = Store()
    shelf = store.shelf("", "things")
    watch = shelf.watch(0)
    found: list[object] = []

    def look(change: Change) -> None:
        found.extend((change.old, change.new is shelf.get("default", "a"), watch.pending))

    store.subscribe(look)
    create(shelf)
    assert found == [None, True, 1]


def test_what_an_observer_writes_is_told_to_all_after_the_change_that_made_it_write() -> None:
    store = Store()
    shelf = store.shelf("", "things")

    def follow(change: Change) -> None:
        if change.record.name == "a":
            create(shelf, "follower")
            assert shelf.get("default", "follower") is not None

    store.subscribe(follow)
    seen = seen_by(store)
    watch = shelf.watch(0)
    create(shelf)
    assert [version for _, _, version in seen] == [1, 2]
    assert told(drained(watch)) == [("ADDED", "default/a", 1), ("ADDED", "default/follower", 2)]


def test_what_an_observer_raises_comes_out_when_all_know_of_a_change_that_stands() -> None:
    store = Store()
    shelf = store.shelf("", "things")

    def complain(change: Change) -> None:
        raise AssertionError(f"no {change.record.name} here")

    forget = store.subscribe(complain)
    seen = seen_by(store)
    with pytest.raises(AssertionError, match="no a here"):
        create(shelf)
    assert (keys(shelf.list()), seen) == (["default/a"], [("things", "ADDED", 1)])
    forget()
    create(shelf, "b")
    assert len(seen) == 2


@pytest.mark.parametrize(
    "limits", [Limits(events=3), Limits(size=3 * 650)], ids=["by events", "by bytes"]
)
def test_the_oldest_of_all_resources_is_forgotten_first(limits: Limits) -> None:
    store = Store(limits=limits)
    quiet, busy = store.shelf("", "quiet"), store.shelf("", "busy")
    create(quiet)
    for name in "abc":
        create(busy, name)
    with pytest.raises(TooOld):
        quiet.watch(0)
    assert drained(quiet.watch(1)) == []
    assert len(drained(busy.watch(0))) == 3
    create(quiet, "b")
    with pytest.raises(TooOld):
        busy.watch(1)
    assert told(drained(quiet.watch(1))) == [("ADDED", "default/b", 5)]


def test_a_compaction_holds_for_every_resource_also_for_those_to_come() -> None:
    store = Store()
    shelf = store.shelf("", "things")
    for name in "abc":
        create(shelf, name)
    store.compact(2)
    for each in (shelf, store.shelf("", "later")):
        with pytest.raises(TooOld, match=r"1 \(2\)"):
            each.watch(1)
    assert told(drained(shelf.watch(2))) == [("ADDED", "default/c", 3)]
    store.compact(1000)
    assert drained(shelf.watch(3)) == []
