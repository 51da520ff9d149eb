# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.waiter.events import (
    Expired,
    News,
    Refused,
    Unreadable,
    of_event,
    of_list,
    refusal,
)
from trellis.waiter.tally import Count, Missing

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "object", "items", "metadata", "resourceVersion", "spec", "status", "code"]
            ),
            inner,
            max_size=4,
        )
    ),
)


def a_clique(replicas: Any = 3, ready: Any = 1, version: str = "7") -> dict[str, Any]:
    return {
        "metadata": {"resourceVersion": version},
        "spec": {"replicas": replicas},
        "status": {"readyReplicas": ready},
    }


def a_list(*items: Any, version: str = "9") -> bytes:
    return json.dumps({"metadata": {"resourceVersion": version}, "items": [*items]}).encode()


def an_event(kind: str, subject: Any) -> bytes:
    return json.dumps({"type": kind, "object": subject}).encode()


@pytest.mark.parametrize(
    ("content", "news"),
    [
        pytest.param(a_list(a_clique()), News("9", Count(3, 1)), id="it is there"),
        pytest.param(a_list(), News("9", Missing.ABSENT), id="it is not"),
        pytest.param(
            a_list({"spec": {"replicas": 2}}), News("9", Count(2, 0)), id="without a status"
        ),
    ],
)
def test_a_list_is_read(content: bytes, news: News) -> None:
    assert of_list(content) == news


@pytest.mark.parametrize(
    ("line", "news"),
    [
        pytest.param(an_event("ADDED", a_clique()), News("7", Count(3, 1)), id="made"),
        pytest.param(an_event("MODIFIED", a_clique(2, 2)), News("7", Count(2, 2)), id="changed"),
        pytest.param(an_event("DELETED", a_clique()), News("7", Missing.ABSENT), id="deleted"),
        pytest.param(
            an_event("BOOKMARK", {"metadata": {"resourceVersion": "8"}}), News("8"), id="a bookmark"
        ),
    ],
)
def test_an_event_is_read(line: bytes, news: News) -> None:
    assert of_event(line) == news


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"[]", id="no object"),
        pytest.param(b'{"metadata":{}}', id="no version"),
        pytest.param(b'{"metadata":{"resourceVersion":"1"},"items":{"a":1}}', id="no list"),
        pytest.param(a_list({}), id="no number of replicas"),
        pytest.param(a_list(a_clique(replicas="3")), id="a number in quotes"),
        pytest.param(a_list(a_clique(replicas=True)), id="no number at all"),
        pytest.param(b'{"a":' * 100_000, id="as deep as a well"),
    ],
)
def test_what_no_server_says_is_not_taken_for_ready(content: bytes) -> None:
    with pytest.raises(Unreadable):
        of_list(content)


@pytest.mark.parametrize("content", [b"", b"5", b'{"type":"ADDED"}', an_event("ADDED", {})])
def test_a_line_that_no_server_sends_is_told_apart(content: bytes) -> None:
    with pytest.raises(Unreadable):
        of_event(content)


def test_an_error_in_a_watch_is_raised() -> None:
    with pytest.raises(Expired):
        of_event(an_event("ERROR", {"code": 410}))
    with pytest.raises(Refused, match="500 broken"):
        of_event(an_event("ERROR", {"code": 500, "message": "broken"}))
    with pytest.raises(Refused, match="500"):
        of_event(an_event("ERROR", {}))


@pytest.mark.parametrize(
    ("after", "seconds"),
    [("", 0.0), ("3", 3.0), ("-1", 0.0), ("1e9", 0.0), ("999999", 0.0), ("soon", 0.0)],
)
def test_a_refusal_says_how_long_to_rest(after: str, seconds: float) -> None:
    found = refusal(429, b'{"message":"slow down"}', after)
    assert isinstance(found, Refused)
    assert (str(found), found.after) == ("429 slow down", seconds)


def test_a_refusal_of_what_is_forgotten_begins_anew() -> None:
    assert isinstance(refusal(410, b"gone"), Expired)
    assert str(refusal(502, b"<html>")) == "502"


@given(JSON)
def test_nothing_a_server_sends_breaks_it(sent: Any) -> None:
    content = json.dumps(sent).encode()
    for read in (of_list, of_event):
        with suppress(Unreadable, Expired, Refused):
            news = read(content)
            assert isinstance(news.version, str)
