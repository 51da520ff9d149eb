# SPDX-License-Identifier: Apache-2.0
"""What differs and is not explained is a problem, and so is an explanation of nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.differences import FIRST, Known, Likeness, judge, likeness, read
from tests.conformance.probe import Registered
from tests.conformance.runner import Seen, all_probes


async def _nothing(_: Any) -> None:
    """A probe that is never run."""


def answered(status: int = 200, **body: Any) -> dict[str, Any]:
    return {"request": "GET /a", "status": status, "headers": {}, "body": body}


def refusal(reason: str, message: str, code: int = 409) -> dict[str, Any]:
    return answered(code, kind="Status", reason=reason, message=message)


def seen(*observations: dict[str, Any], area: str = "tables", broken: str | None = None) -> Seen:
    return Seen(Registered(area, "it does", _nothing, 0), list(observations), broken)


@pytest.mark.parametrize(
    ("golden", "now", "expected"),
    [
        (answered(a=1), answered(a=1), Likeness.IDENTICAL),
        (answered(a=1), answered(a=2), Likeness.SAME_REASONS),
        (answered(a=1), answered(201, a=1), Likeness.DIFFERENT),
        (refusal("Conflict", "a"), refusal("Conflict", "b"), Likeness.SAME_REASONS),
        (refusal("Conflict", "a"), refusal("AlreadyExists", "a"), Likeness.DIFFERENT),
    ],
    ids=["the same", "another body", "another code", "another message", "another reason"],
)
def test_what_was_seen_is_as_like_as(
    golden: dict[str, Any], now: dict[str, Any], expected: Likeness
) -> None:
    assert likeness([golden], seen(now)) is expected


def test_a_watch_is_compared_by_its_events_too() -> None:
    events = [{"type": "ADDED", "object": {}}, {"type": "DELETED", "object": {}}]
    golden = {**answered(), "events": events}
    assert likeness([golden], seen({**answered(), "events": events[:1]})) is Likeness.DIFFERENT


def test_a_difference_that_is_not_listed_is_a_problem() -> None:
    report = judge({"tables: it does": [answered(a=1)]}, {"k": seen(answered(a=2))}, [])
    (problem,) = report.problems
    assert "is not explained" in problem


def test_a_difference_that_is_listed_is_none() -> None:
    known = [Known("tables: it *", "because")]
    report = judge({"tables: it does": [answered(a=1)]}, _by_key(seen(answered(201))), known)
    assert not report.problems
    assert "1 known to differ" in report.summary


def test_what_every_client_meets_must_have_the_same_codes_even_if_it_is_listed() -> None:
    known = [Known("create: it does", "because")]
    now = _by_key(seen(answered(201), area="create"))
    assert judge({"create: it does": [answered()]}, now, known).problems
    now = _by_key(seen(answered(a=2), area="create"))
    assert not judge({"create: it does": [answered(a=1)]}, now, known).problems


def test_a_line_that_nothing_differs_by_any_more_is_a_problem() -> None:
    known = [Known("tables: it does", "because"), Known("tables: nobody ran this", "because")]
    report = judge({"tables: it does": [answered()]}, _by_key(seen(answered())), known)
    assert report.stale == known[:1]


def test_a_broken_probe_is_different() -> None:
    now = _by_key(seen(broken="it ended"))
    assert "it ended" in judge({"tables: it does": []}, now, []).problems[0]


def test_brackets_in_a_key_stand_for_themselves() -> None:
    assert Known("a: [b]?", "because").covers("a: [b]?")
    assert not Known("a: [b]?", "because").covers("a: bx")


def test_every_line_of_the_list_is_about_a_probe_or_a_client() -> None:
    keys = [entry.key for entry in all_probes()]
    for known in read():
        assert known.reason
        assert known.probe.startswith("kubectl-") or any(map(known.covers, keys)), known.probe


def test_every_area_that_must_be_the_same_has_probes() -> None:
    assert {entry.area for entry in all_probes()} >= FIRST


def _by_key(*outcomes: Seen) -> dict[str, Seen]:
    return {outcome.probe.key: outcome for outcome in outcomes}
