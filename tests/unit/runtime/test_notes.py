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


def test_after_a_burst_one_write_in_ten_seconds_is_made_and_another_reason_is_free() -> None:
    book = Notebook()
    sent = [book.say(BOX, note(f"text {number}"), 0.0) for number in range(100)]
    assert sum(each is not None for each in sent) == BURST
    assert book.say(BOX, note("text", "Other"), 0.0) is not None
    assert [len(book.due(float(second))) for second in (5, 10, 15, 20, 30)] == [0, 1, 0, 1, 1]


def test_what_is_forgotten_is_what_was_said_longest_ago() -> None:
    book = Notebook(most=10)
    for number in range(100):
        book.say(Subject(BOXES, "n", "b", f"uid-{number}"), note(), 0.0)
    assert len(book._series) == 10
    assert len(book._allowances) == 10
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
