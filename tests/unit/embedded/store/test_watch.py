# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.virtual import settle, virtual
from tests.unit.embedded.store.builders import create, drained, keys, remove, told, update
from trellis.embedded.store.changes import line
from trellis.embedded.store.interest import Interest
from trellis.embedded.store.problems import TooOld
from trellis.embedded.store.store import Limits, Store
from trellis.embedded.store.subscription import BATCH, Ending, Room

if TYPE_CHECKING:
    from trellis.embedded.store.shelf import Shelf

MINE = {"mine": "yes"}
ONLY_MINE = Interest(labels=lambda labels: labels.get("mine") == "yes")


def a_shelf(room: Room | None = None) -> Shelf:
    return Store(limits=Limits(room=room or Room())).shelf("", "things")


def test_without_a_version_what_there_is_comes_first_sorted_then_what_happens() -> None:
    shelf = a_shelf()
    for name in "ba":
        create(shelf, name)
    watch = shelf.watch()
    create(shelf, "c")
    assert told(drained(watch)) == [
        ("ADDED", "default/a", 2),
        ("ADDED", "default/b", 1),
        ("ADDED", "default/c", 3),
    ]


def test_from_a_version_every_step_after_it_comes() -> None:
    shelf = a_shelf()
    record = create(shelf)
    watch_all = shelf.watch(0)
    remove(shelf, update(shelf, record))
    steps = [
        ("ADDED", "default/a", 1),
        ("MODIFIED", "default/a", 2),
        ("DELETED", "default/a", 3),
    ]
    assert told(drained(watch_all)) == steps
    assert told(drained(shelf.watch(1))) == steps[1:]
    assert drained(shelf.watch(3)) == []


def test_from_a_version_of_the_future_nothing_comes_until_then() -> None:
    shelf = a_shelf()
    watch = shelf.watch(2)
    for name in "abc":
        create(shelf, name)
    assert told(drained(watch)) == [("ADDED", "default/c", 3)]


def test_a_version_that_is_no_longer_remembered_is_refused() -> None:
    store = Store(limits=Limits(events=2))
    shelf = store.shelf("", "things")
    for name in "abc":
        create(shelf, name)
    with pytest.raises(TooOld) as caught:
        shelf.watch(0)
    assert (caught.value.asked, caught.value.oldest) == (0, 1)
    assert told(drained(shelf.watch(1))) == [("ADDED", "default/b", 2), ("ADDED", "default/c", 3)]
    assert shelf.watchers == 1


def content(labels: dict[str, str] | None, step: int) -> dict[str, Any]:
    return {"labels": labels, "data": {"step": step}}


@pytest.mark.parametrize("late", [False, True], ids=["as it happens", "from an old version"])
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (MINE, MINE, [("ADDED", 1, 1), ("MODIFIED", 2, 2)]),
        (MINE, None, [("ADDED", 1, 1), ("DELETED", 1, 2)]),
        (None, MINE, [("ADDED", 2, 2)]),
        (None, None, []),
    ],
    ids=["stays in", "leaves with its old content at the new version", "enters", "stays out"],
)
def test_an_update_is_what_it_means_to_a_selector(
    before: dict[str, str] | None,
    after: dict[str, str] | None,
    expected: list[tuple[str, int, int]],
    late: bool,
) -> None:
    shelf = a_shelf()
    watch = None if late else shelf.watch(0, ONLY_MINE)
    update(shelf, create(shelf, **content(before, 1)), **content(after, 2))
    seen = []
    for event in drained(watch or shelf.watch(0, ONLY_MINE)):
        obj = event.record.decoded()
        assert obj["metadata"]["resourceVersion"] == str(event.version)
        seen.append((event.type, obj["data"]["step"], event.version))
    assert seen == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [(MINE, [("DELETED", "default/a", 2)]), (None, [])],
    ids=["inside the selector", "outside of it"],
)
def test_a_deletion_is_told_to_those_who_saw_the_object(
    labels: dict[str, str] | None, expected: list[tuple[str, str, int]]
) -> None:
    shelf = a_shelf()
    record = create(shelf, labels=labels)
    watch = shelf.watch(1, ONLY_MINE)
    remove(shelf, record)
    assert told(drained(watch)) == expected


NARROW = {
    "a namespace": (Interest(namespace="x"), ["x/a", "x/b"]),
    "a name in a namespace": (Interest(namespace="x", name="a"), ["x/a"]),
    "a name anywhere": (Interest(name="a"), ["x/a", "y/a"]),
    "a node": (Interest(pinned=("spec.nodeName", "n1")), ["x/a", "y/a"]),
    "a node in a namespace": (Interest(namespace="y", pinned=("spec.nodeName", "n1")), ["y/a"]),
    "a field by a callable": (Interest(fields=lambda record: record.name == "b"), ["x/b"]),
    "everything": (Interest(), ["x/a", "x/b", "y/a"]),
}


@pytest.mark.parametrize(("interest", "expected"), NARROW.values(), ids=NARROW)
def test_a_narrow_watch_sees_its_part_from_the_state_the_history_and_the_news(
    interest: Interest, expected: list[str]
) -> None:
    shelf = a_shelf()
    news = shelf.watch(0, interest)
    create(shelf, "a", "x", node="n1")
    create(shelf, "b", "x", node="n2")
    create(shelf, "a", "y", node="n1")
    for watch in (news, shelf.watch(0, interest), shelf.watch(None, interest)):
        assert keys(event.record for event in drained(watch)) == expected
        watch.close()
    assert shelf.watchers == 0


def test_an_object_that_moves_from_node_to_node_leaves_one_watch_and_enters_the_other() -> None:
    shelf = a_shelf()
    one, two = (shelf.watch(0, Interest(pinned=("spec.nodeName", name))) for name in ("n1", "n2"))
    update(shelf, update(shelf, create(shelf), node="n1"), node="n2")
    assert told(drained(one)) == [("ADDED", "default/a", 2), ("DELETED", "default/a", 3)]
    assert told(drained(two)) == [("ADDED", "default/a", 3)]


def test_thousands_of_narrow_watches_are_not_asked_about_what_is_not_theirs() -> None:
    asked: list[str] = []

    def ask(labels: object) -> bool:
        asked.append(str(labels))
        return True

    shelf = a_shelf()
    for number in range(1000):
        shelf.watch(0, Interest(pinned=("spec.nodeName", f"n{number}"), labels=ask))
        shelf.watch(0, Interest(name=f"o{number}", labels=ask))
        shelf.watch(0, Interest(namespace=f"ns{number}", name="a", labels=ask))
        shelf.watch(0, Interest(namespace=f"ns{number}", labels=ask))
    create(shelf, "a", "ns7", node="n3")
    assert len(asked) == 3


def test_an_event_is_encoded_once_for_all_who_see_it() -> None:
    shelf = a_shelf()
    watches = [shelf.watch(0), shelf.watch(0, ONLY_MINE), shelf.watch(0, Interest(name="a"))]
    record = create(shelf, labels=MINE)
    events = [drained(watch)[0] for watch in watches]
    assert events[0].line == b'{"type":"ADDED","object":%b}\n' % record.data
    assert len({id(event.line) for event in events}) == 1
    calls: list[str] = []

    def shape(shaped: Any) -> bytes:
        calls.append(shaped.key)
        return b'{"kind":"Row"}'

    lines = [event.shaped("row", shape) for event in events]
    assert (lines[0], calls) == (b'{"type":"ADDED","object":{"kind":"Row"}}\n', ["default/a"])
    assert json.loads(line("BOOKMARK", b"{}")) == {"type": "BOOKMARK", "object": {}}


def test_a_bookmark_never_runs_ahead_of_what_was_handed_out() -> None:
    store = Store()
    shelf, other = store.shelf("", "things"), store.shelf("", "others")
    create(shelf)
    watch = shelf.watch()
    assert (watch.caught_up, watch.bookmark, watch.began) == (False, None, 1)
    drained(watch)
    assert (watch.caught_up, watch.bookmark) == (True, 1)
    create(other)
    assert watch.bookmark == 2
    create(shelf, "b")
    assert watch.bookmark == 1
    drained(watch)
    assert watch.bookmark == 3
    assert shelf.watch(1).bookmark == 1
    assert shelf.watch(100).bookmark == 100


@virtual
async def test_the_state_comes_in_portions_and_never_mixed_with_news() -> None:
    shelf = a_shelf()
    for number in range(BATCH + 1):
        create(shelf, f"o{number:05}")
    watch = shelf.watch()
    create(shelf, "news")
    assert (len(await watch.batch()), watch.caught_up) == (BATCH, False)
    assert (len(await watch.batch()), watch.caught_up, watch.bookmark) == (1, True, BATCH + 1)
    assert told(await watch.batch()) == [("ADDED", "default/news", BATCH + 2)]


@virtual
async def test_a_long_past_comes_in_portions_too() -> None:
    shelf = a_shelf(Room(events=0))
    for number in range(BATCH + 1):
        create(shelf, f"o{number:05}")
    watch = shelf.watch(0)
    assert (len(await watch.batch()), watch.bookmark) == (BATCH, BATCH)
    assert (len(await watch.batch()), watch.bookmark) == (1, BATCH + 1)


@virtual
async def test_a_reader_waits_and_gets_all_that_happened_in_one_go() -> None:
    shelf = a_shelf()
    watch = shelf.watch(0)
    reader = asyncio.create_task(watch.batch())
    await settle()
    assert not reader.done()
    for name in "abc":
        create(shelf, name)
    assert keys(event.record for event in await reader) == ["default/a", "default/b", "default/c"]


@virtual
async def test_a_reader_who_gives_up_waiting_loses_nothing() -> None:
    shelf = a_shelf()
    watch = shelf.watch(0)
    reader = asyncio.create_task(watch.batch())
    await settle()
    create(shelf)
    reader.cancel()
    await settle()
    assert reader.cancelled()
    assert told(await watch.batch()) == [("ADDED", "default/a", 1)]


@pytest.mark.parametrize(
    "room", [Room(events=2), Room(size=250)], ids=["too many events", "too many bytes"]
)
@virtual
async def test_a_slow_reader_gets_what_is_queued_then_the_end_and_resumes_without_a_gap(
    room: Room,
) -> None:
    shelf = a_shelf(room)
    slow, quick = shelf.watch(0), shelf.watch(0)
    for name in "abcde":
        create(shelf, name)
        drained(quick)
    assert (slow.ending, quick.ending, shelf.watchers) == (Ending.SLOW, None, 1)
    seen = [told(events) async for events in slow]
    assert seen == [[("ADDED", "default/a", 1), ("ADDED", "default/b", 2)]]
    assert (slow.bookmark, await slow.batch()) == (2, [])
    assert keys(event.record for event in drained(shelf.watch(2))) == [
        "default/c",
        "default/d",
        "default/e",
    ]


def test_one_event_larger_than_all_room_ends_the_watch_too() -> None:
    shelf = a_shelf(Room(size=10))
    watch = shelf.watch(0)
    create(shelf)
    assert (watch.ending, watch.pending, watch.bookmark) == (Ending.SLOW, 0, 0)


@virtual
async def test_closing_lets_the_waiting_reader_go_and_drops_what_is_queued() -> None:
    shelf = a_shelf()
    watch, queued = shelf.watch(0), shelf.watch(0)
    reader = asyncio.create_task(watch.batch())
    await settle()
    watch.close()
    watch.close()
    assert (await reader, watch.ending, shelf.watchers) == ([], Ending.CLOSED, 1)
    create(shelf)
    queued.close()
    assert (queued.pending, await queued.batch(), shelf.watchers) == (0, [], 0)


@virtual
async def test_a_resource_that_is_defined_anew_ends_its_watches_and_forgets_its_past() -> None:
    shelf = a_shelf()
    create(shelf)
    watch = shelf.watch(0)
    pinned = shelf.watch(0, Interest(pinned=("spec.nodeName", "n1")))
    shelf.forget()
    assert [told(events) async for events in watch] == [[("ADDED", "default/a", 1)]]
    assert (watch.ending, pinned.ending, shelf.watchers) == (
        Ending.FORGOTTEN,
        *[Ending.FORGOTTEN],
        0,
    )
    with pytest.raises(TooOld):
        shelf.watch(0)
    create(shelf, "b")
    assert told(drained(shelf.watch(1))) == [("ADDED", "default/b", 2)]
