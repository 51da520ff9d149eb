# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.transport import bookmark, event, status_object
from tests.unit.kube.builders import ConfigMap, Meta, a_config_map
from trellis.kube import errors
from trellis.kube.events import Change, Moment, Reader

A = ConfigMap(Meta("a", "here", "7"))


def read(line: bytes, into: Any = ConfigMap) -> Moment[Any]:
    return Reader(into, "watch of /x").read(line)


@pytest.mark.parametrize(
    ("line", "want"),
    [
        pytest.param(
            event("ADDED", a_config_map("a", 7)), Moment("7", Change("here", "a", A)), id="added"
        ),
        pytest.param(
            event("MODIFIED", a_config_map("a", 7)),
            Moment("7", Change("here", "a", A)),
            id="modified",
        ),
        pytest.param(
            event("DELETED", a_config_map("a", 7)),
            Moment("7", Change("here", "a", None)),
            id="deleted",
        ),
        pytest.param(bookmark("9"), Moment("9"), id="a bookmark"),
        pytest.param(
            bookmark("9", initial_end=True), Moment("9", initial_end=True), id="the end of all"
        ),
        pytest.param(
            b'{"object":{"metadata":{"name":"a","namespace":"here","resourceVersion":"7"}},'
            b'"type":"ADDED"}',
            Moment("7", Change("here", "a", A)),
            id="in another order",
        ),
    ],
)
def test_lines_are_read(line: bytes, want: Moment[Any]) -> None:
    assert read(line) == want


def test_a_raw_object_is_kept_as_it_came() -> None:
    body = b'{"metadata":{"name":"a","resourceVersion":"1"},  "x": 1}'
    line = b'{"type":"ADDED","object":' + body + b"}"
    assert read(line, bytes).change == Change("", "a", body)


def test_an_error_is_raised_by_its_meaning() -> None:
    with pytest.raises(errors.Expired, match="too old resource version"):
        read(event("ERROR", status_object(410, "Expired", "too old resource version: 1 (9)")))
    with pytest.raises(errors.ServerFailed):
        read(event("ERROR", status_object(500, "InternalError")))


def test_an_odd_object_is_named_and_the_position_is_known() -> None:
    moment = read(event("ADDED", {**a_config_map("a", 7), "data": 5}))
    assert (moment.resource_version, moment.change) == ("7", None)
    assert "here/a is not of the expected shape" in str(moment.unreadable)


def test_an_odd_object_that_is_gone_is_gone_like_any_other() -> None:
    moment = read(event("DELETED", {**a_config_map("a", 7), "data": 5}))
    assert moment == Moment("7", Change("here", "a", None))


def test_of_an_object_that_is_gone_it_is_known_whether_it_was_to_go() -> None:
    body = a_config_map("a", 7)
    body["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    moment = read(event("DELETED", body))
    assert moment == Moment("7", Change("here", "a", None, datetime(2026, 1, 1, tzinfo=UTC)))


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"<html>", id="a page"),
        pytest.param(b'{"type":"ADDED","object":{"meta', id="cut off"),
        pytest.param(b'{"type":"ADDED"}', id="without an object"),
        pytest.param(b'{"type":"ADDED","object":{"metadata":5}}', id="without metadata"),
        pytest.param(b'{"type":"ADDED","object":{"metadata":{}}}', id="without a version"),
        pytest.param(event("SURPRISE", a_config_map()), id="of an unknown type"),
        pytest.param(b"[" * 100_000, id="deep"),
    ],
)
def test_what_is_no_event_is_unreadable(line: bytes) -> None:
    with pytest.raises(errors.Unreadable, match="watch of /x: "):
        read(line)
