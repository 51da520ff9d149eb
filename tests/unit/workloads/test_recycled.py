# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from trellis.api.annotation import RECYCLED
from trellis.api.meta import Metadata
from trellis.api.scheduler.podgang import PodGang, PodGangSpec
from trellis.workloads.recycled import is_up_since, recycled_at, stamps

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def a_gang(text: str | None) -> PodGang:
    annotations = {} if text is None else {RECYCLED: text}
    metadata = Metadata(name="llm-0", annotations=annotations)
    return PodGang(metadata=metadata, spec=PodGangSpec(podgroups=()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, None),
        ('{"a":"2026-01-01T12:00:00Z"}', NOON),
        ('{"b":"2026-01-01T12:00:00Z"}', None),
        ('{"*":"2026-01-01T12:00:00Z"}', NOON),
        ('{"*":"2026-01-01T11:00:00Z","a":"2026-01-01T12:00:00Z"}', NOON),
        ('{"*":"2026-01-01T12:00:00Z","a":"2026-01-01T11:00:00Z"}', NOON),
        ('{"a":"2026-01-01T13:00:00+01:00"}', NOON),
    ],
    ids=[
        "never",
        "by itself",
        "another",
        "with all",
        "with all, then by itself",
        "by itself, then with all",
        "told in another time zone",
    ],
)
def test_a_clique_was_made_anew_by_itself_or_with_all_others(
    text: str | None, expected: datetime | None
) -> None:
    assert recycled_at(a_gang(text), "a") == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"a":5}',
        '{"a":"noon"}',
        '{"a":"2026-01-01T12:00:00"}',
        '{"a":"9999-12-31T23:59:59Z"}',
        '{"a":"9999-12-31T23:59:59-23:00"}',
        '{"a":"0001-01-01T00:00:00+23:00"}',
    ],
    ids=[
        "empty",
        "torn",
        "list",
        "number",
        "no time",
        "no time zone",
        "the end of time",
        "after it",
        "before its beginning",
    ],
)
def test_a_stamp_that_cannot_be_read_or_reckoned_with_is_none(text: str) -> None:
    assert stamps(a_gang(text)) == {}


def test_a_stamp_that_is_none_takes_no_other_along() -> None:
    text = '{"a":"9999-12-31T23:59:59Z","b":"2026-01-01T12:00:00Z"}'
    assert stamps(a_gang(text)) == {"b": NOON}


@pytest.mark.parametrize(
    ("first_available", "recycled", "expected"),
    [
        (None, None, False),
        (None, NOON, False),
        (NOON, None, True),
        (NOON, NOON, False),
        (NOON + timedelta(seconds=1), NOON, True),
    ],
    ids=["never up", "not up since", "up", "up before", "up again"],
)
def test_only_what_was_up_after_it_was_made_anew_is_up_since(
    first_available: datetime | None, recycled: datetime | None, expected: bool
) -> None:
    assert is_up_since(first_available, recycled) is expected
