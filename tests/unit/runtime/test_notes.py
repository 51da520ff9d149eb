# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.runtime.builders import BOXES
from trellis.runtime.notes import BURST, Note, Notebook, Subject, clipped

BOX = Subject(BOXES, "nursery", "box", "uid-box")


def note(text: str = "3 balls are missing", reason: str = "BallsMissing") -> Note:
    return Note(reason, text)


def test_the_same_said_again_is_counted_and_told_after_ten_seconds() -> None:
    book = Notebook()
    first = book.say(BOX, note(), 0.0)
    assert first is not None
    first.name = "event"
    assert [book.say(BOX, note(), float(second)) for second in range(1, 10)] == [None] * 9
    assert book.due(9.9) == []
    assert book.due(10.0) == [first]
    assert (first.count, first.sent) == (10, 10)
    assert book.due(100.0) == []


def test_different_things_about_one_object_are_different_events() -> None:
    book = Notebook()
    said = [
        book.say(BOX, note("one"), 0.0),
        book.say(BOX, note("two"), 0.0),
        book.say(BOX, note("one", "Other"), 0.0),
        book.say(Subject(BOXES, "nursery", "box", "uid-2"), note("one"), 0.0),
    ]
    assert len({id(each) for each in said}) == 4
    assert None not in said


def test_after_a_burst_all_that_follows_is_one_event_in_ten_seconds_that_counts_it() -> None:
    book = Notebook()
    sent = [book.say(BOX, note(f"text {number}"), 0.0) for number in range(100)]
    assert sum(each is not None for each in sent) == BURST
    assert book.say(BOX, note("text", "Other"), 0.0) is not None
    assert book.due(5.0) == []
    (combined,) = book.due(10.0)
    assert combined.note == note("(combined from similar events): text 99")
    assert (combined.count, combined.sent) == (100 - BURST, 100 - BURST)
    assert book.due(1000.0) == []


def test_what_streams_is_told_every_ten_seconds_and_nothing_of_it_long_after() -> None:
    book = Notebook()
    told = []
    for second in range(200):
        at = float(second)
        told += [book.say(BOX, note(f"step {second}"), at), *book.due(at)]
    told += book.due(210.0)
    events = [each for each in told if each is not None]
    assert sum(each.count for each in events) == 200
    assert BURST + 19 <= len(events) <= BURST + 22
    assert events[-1].note.text.endswith("step 199")
    assert book.due(1000.0) == []


def test_one_that_waited_alone_is_told_in_its_own_words_and_counted_on() -> None:
    book = Notebook()
    for number in range(BURST + 1):
        book.say(BOX, note(f"text {number}"), 0.0)
    last = note(f"text {BURST}")
    (event,) = book.due(10.0)
    assert (event.note, event.count) == (last, 1)
    assert book.say(BOX, last, 20.0) is event
    assert event.count == 2


def test_what_is_forgotten_is_what_was_said_longest_ago() -> None:
    book = Notebook(most=10)
    for number in range(100):
        book.say(Subject(BOXES, "n", "b", f"uid-{number}"), note(), 0.0)
    assert len(book._series) == 10
    assert len(book._topics) == 10
    assert ("uid-99", note()) in book._series


@given(st.text(), st.text(max_size=300))
def test_a_note_is_cut_to_what_the_api_takes(text: str, reason: str) -> None:
    cut = clipped(Note(reason, text * 20))
    assert len(cut.text.encode()) <= 1024
    assert len(cut.reason) <= 128


def test_a_short_note_is_left_alone() -> None:
    assert clipped(note("в очереди: 3 шара")) == note("в очереди: 3 шара")


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.floats(0, 5))))
def test_no_more_is_ever_sent_than_allowed(said: list[tuple[str, str, float]]) -> None:
    book = Notebook()
    now = 0.0
    sent: Counter[str] = Counter()
    for reason, text, pause in said * 3:
        now += pause
        for series in [book.say(BOX, note(text, reason), now), *book.due(now)]:
            if series is not None:
                sent[series.note.reason] += 1
    assert all(count <= BURST + now / 10 + 1 for count in sent.values())
