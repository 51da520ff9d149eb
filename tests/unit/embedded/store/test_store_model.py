# SPDX-License-Identifier: Apache-2.0
"""The store against a model that keeps everything: all objects, and all that ever happened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.unit.embedded.store.builders import NODE, an_object, drained, told
from trellis.embedded.store.interest import Interest
from trellis.embedded.store.problems import AlreadyThere, Stale, TooOld
from trellis.embedded.store.shelf import ABSENT
from trellis.embedded.store.store import Limits, Store
from trellis.embedded.store.subscription import Ending, Room

if TYPE_CHECKING:
    from trellis.embedded.store.shelf import Shelf
    from trellis.embedded.store.subscription import Subscription

REMEMBERED = 12
ROOM = 6

PLURALS = ("things", "others")
PLACES = [(namespace, name) for namespace in ("a", "a-b") for name in ("x", "y", "z")]
WANTED: dict[str, dict[str, Any]] = {
    "everything": {},
    "a namespace": {"namespace": "a"},
    "a name": {"name": "x"},
    "one object": {"namespace": "a-b", "name": "x"},
    "a node": {"node": "n1"},
    "a node in a namespace": {"namespace": "a", "node": "n1"},
    "a label": {"label": "1"},
    "a label of one object": {"namespace": "a", "name": "x", "label": "1"},
}

plurals = st.sampled_from(PLURALS)
places = st.sampled_from(PLACES)
labels = st.sampled_from(["", "1", "2"])
nodes = st.sampled_from(["", "n1", "n2"])


@dataclass(frozen=True)
class Thing:
    place: tuple[str, str]
    label: str
    node: str
    version: int

    @property
    def key(self) -> str:
        return "/".join(self.place)


@dataclass(frozen=True)
class Step:
    version: int
    plural: str
    old: Thing | None
    new: Thing | None


@dataclass
class Watching:
    subscription: Subscription
    plural: str
    wanted: dict[str, Any]
    since: int
    state: dict[str, int] | None = None
    """By key the version; what the reader believes. None: nobody told it where it begins."""
    heard: int = 0
    versions: list[int] = field(default_factory=list)


def sees(wanted: dict[str, Any], thing: Thing | None) -> bool:
    return thing is not None and all(
        {
            "namespace": thing.place[0],
            "name": thing.place[1],
            "node": thing.node,
            "label": thing.label,
        }[part]
        == value
        for part, value in wanted.items()
    )


def interest_of(wanted: dict[str, Any]) -> Interest:
    label = wanted.get("label")
    return Interest(
        namespace=wanted.get("namespace"),
        name=wanted.get("name"),
        pinned=(NODE, wanted["node"]) if "node" in wanted else None,
        labels=None if label is None else lambda found: found.get("label") == label,
    )


class StoreModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        limits = Limits(events=REMEMBERED, room=Room(events=ROOM))
        self.store = Store(limits=limits)
        self.objects: dict[str, dict[str, Thing]] = {plural: {} for plural in PLURALS}
        self.steps: list[Step] = []
        self.floors = dict.fromkeys(PLURALS, 0)
        self.watching: list[Watching] = []

    def shelf(self, plural: str) -> Shelf:
        return self.store.shelf("", plural)

    def happened(self, plural: str, old: Thing | None, new: Thing | None) -> None:
        self.steps.append(Step(len(self.steps) + 1, plural, old, new))
        for step in self.steps[:-REMEMBERED][-1:]:
            self.floors[step.plural] = max(self.floors[step.plural], step.version)

    def put(self, plural: str, thing: Thing, expected: int) -> None:
        body = an_object(thing.place[1], thing.place[0], labels={"label": thing.label})
        fields = {NODE: thing.node} if thing.node else {}
        record = self.shelf(plural).put(body, fields, expected)
        assert record.version == thing.version
        self.happened(plural, self.objects[plural].get(thing.key), thing)
        self.objects[plural][thing.key] = thing

    @rule(writes=st.lists(st.tuples(plurals, places, labels, nodes), min_size=1, max_size=8))
    def write(self, writes: list[tuple[str, tuple[str, str], str, str]]) -> None:
        """Creates what is not there and changes what is."""
        for plural, place, label, node in writes:
            thing = Thing(place, label, node, len(self.steps) + 1)
            old = self.objects[plural].get(thing.key)
            self.put(plural, thing, old.version if old else ABSENT)

    @rule(plural=plurals, place=places)
    def write_at_the_wrong_version(self, plural: str, place: tuple[str, str]) -> None:
        thing = Thing(place, "", "", len(self.steps) + 1)
        old = self.objects[plural].get(thing.key)
        if old is not None:
            with pytest.raises(AlreadyThere):
                self.put(plural, thing, ABSENT)
        wrong = old.version + 1 if old else 1
        with pytest.raises(Stale):
            self.put(plural, thing, wrong)
        with pytest.raises(Stale):
            self.shelf(plural).remove(*place, wrong)

    @rule(plural=plurals, places=st.lists(places, unique=True, min_size=1))
    def remove(self, plural: str, places: list[tuple[str, str]]) -> None:
        for place in places:
            old = self.objects[plural].pop("/".join(place), None)
            if old is not None:
                self.shelf(plural).remove(*place, old.version)
                self.happened(plural, old, None)

    @rule(data=st.data(), plural=plurals, namespace=st.sampled_from([None, "a", "a-b"]))
    def list_at(self, data: st.DataObject, plural: str, namespace: str | None) -> None:
        at = data.draw(st.integers(0, len(self.steps)), label="at")
        after = data.draw(st.sampled_from(["", "a-b/x", "a/x", "a/x\0", "b"]), label="after")
        if at < self.floors[plural]:
            with pytest.raises(TooOld) as caught:
                self.shelf(plural).list(namespace, at=at, after=after)
            assert caught.value.oldest == self.floors[plural]
            return
        then: dict[str, Thing] = {}
        for step in self.steps[:at]:
            if step.plural == plural and step.new:
                then[step.new.key] = step.new
            elif step.plural == plural and step.old:
                del then[step.old.key]
        expected = sorted(
            (thing.key, thing.version)
            for thing in then.values()
            if namespace in {None, thing.place[0]} and thing.key > after
        )
        found = self.shelf(plural).list(namespace, at=at, after=after)
        assert [(record.key, record.version) for record in found] == expected

    @rule(data=st.data(), plural=plurals, what=st.sampled_from(sorted(WANTED)))
    def watch(self, data: st.DataObject, plural: str, what: str) -> None:
        wanted = WANTED[what]
        newest = len(self.steps)
        since = data.draw(st.none() | st.integers(-REMEMBERED, 2), label="since")
        since = None if since is None else max(0, newest + since)
        if since is not None and since < self.floors[plural]:
            with pytest.raises(TooOld):
                self.shelf(plural).watch(since, interest_of(wanted))
            return
        subscription = self.shelf(plural).watch(since, interest_of(wanted))
        watching = Watching(subscription, plural, wanted, newest if since is None else since)
        watching.heard = watching.since
        if since is None:
            watching.state = {}
        elif since == newest:
            watching.state = self.seen(plural, wanted)
        self.watching.append(watching)

    @rule()
    def read_all(self) -> None:
        for watching in list(self.watching):
            self.read(watching)

    @precondition(lambda self: self.watching)
    @rule(data=st.data())
    def read_one(self, data: st.DataObject) -> None:
        self.read(data.draw(st.sampled_from(self.watching), label="watching"))

    def read(self, watching: Watching) -> None:
        subscription = watching.subscription
        initial = not subscription.caught_up
        events = drained(subscription)
        for event in events:
            assert event.record.decoded()["metadata"]["resourceVersion"] == str(event.version)
        if initial:
            events = self.check_state(watching, events)
        upto = len(self.steps)
        if subscription.ending is Ending.SLOW:
            assert subscription.bookmark is not None
            upto = max(subscription.bookmark, watching.heard)
        assert told(events) == self.expected(watching, upto)
        self.believe(watching, events)
        watching.heard = max(upto, watching.heard)
        assert subscription.bookmark == watching.heard
        if subscription.ending:
            self.watching.remove(watching)
        elif watching.state is not None:
            assert watching.state == self.seen(watching.plural, watching.wanted)

    def check_state(self, watching: Watching, events: list[Any]) -> list[Any]:
        """The events that came after the state, which must be sorted and whole."""
        count = len([event for event in events if event.version <= watching.since])
        state = [(event.record.key, event.version) for event in events[:count]]
        assert state == sorted(state)
        assert {event.type for event in events[:count]} == {"ADDED"}
        watching.state = dict(state)
        return events[count:]

    def believe(self, watching: Watching, events: list[Any]) -> None:
        for event in events:
            assert event.version > (watching.versions or [watching.since])[-1]
            watching.versions.append(event.version)
            if watching.state is None:
                continue
            key = event.record.key
            assert (event.type == "ADDED") == (key not in watching.state)
            if event.type == "DELETED":
                del watching.state[key]
            else:
                watching.state[key] = event.version

    def expected(self, watching: Watching, upto: int) -> list[tuple[str, str, int]]:
        events = []
        for step in self.steps[watching.heard : upto]:
            was, is_ = sees(watching.wanted, step.old), sees(watching.wanted, step.new)
            thing = step.new if is_ else step.old
            if step.plural == watching.plural and (was or is_) and thing:
                type_ = "DELETED" if not is_ else "MODIFIED" if was else "ADDED"
                events.append((type_, thing.key, step.version))
        return events

    def seen(self, plural: str, wanted: dict[str, Any]) -> dict[str, int]:
        things = self.objects[plural].values()
        return {thing.key: thing.version for thing in things if sees(wanted, thing)}

    @precondition(lambda self: self.watching)
    @rule(data=st.data())
    def close(self, data: st.DataObject) -> None:
        watching = data.draw(st.sampled_from(self.watching), label="watching")
        watching.subscription.close()
        self.watching.remove(watching)

    @rule(data=st.data())
    def compact(self, data: st.DataObject) -> None:
        version = data.draw(st.integers(0, len(self.steps)), label="version")
        self.store.compact(version)
        for plural in PLURALS:
            self.shelf(plural)
            self.floors[plural] = max(self.floors[plural], version)

    def teardown(self) -> None:
        self.read_all()

    @invariant()
    def the_present_is_what_the_model_has(self) -> None:
        assert self.store.version == len(self.steps)
        for plural in PLURALS:
            found = {record.key: record.version for record in self.shelf(plural).list()}
            assert found == {key: each.version for key, each in self.objects[plural].items()}
            live = [each for each in self.watching if each.plural == plural]
            slow = [each for each in live if each.subscription.ending]
            assert self.shelf(plural).watchers == len(live) - len(slow)


StoreModel.TestCase.settings = settings(max_examples=60, stateful_step_count=50, deadline=None)
TestStoreModel = StoreModel.TestCase
