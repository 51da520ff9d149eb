# SPDX-License-Identifier: Apache-2.0
"""Normalising hides what must differ between two runs, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.conformance.goldens import difference
from tests.conformance.normalise import Normaliser

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
UID_A = "3f0e8a52-1c9b-4a6e-9d3a-0f4c6b1e2d11"
UID_B = "9d1c2b3a-4e5f-4a6b-8c7d-1e2f3a4b5c6d"


def shown(*raw: dict[str, Any], **names: str) -> list[dict[str, Any]]:
    return Normaliser(dict(names), NOW).observations(list(raw))


def seen(**metadata: Any) -> dict[str, Any]:
    return {"body": {"kind": "ConfigMap", "metadata": metadata}}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param([seen(uid=UID_A)], [seen(uid=UID_B)], id="another uid"),
        pytest.param(
            [seen(creationTimestamp="2026-05-01T11:59:58Z")],
            [seen(creationTimestamp="2026-05-01T12:00:02Z")],
            id="another second of the run",
        ),
        pytest.param(
            [seen(resourceVersion="100"), seen(resourceVersion="107")],
            [seen(resourceVersion="5"), seen(resourceVersion="2000")],
            id="other resourceVersions in the same order",
        ),
        pytest.param(
            [seen(generateName="job-", name="job-x7k2f")],
            [seen(generateName="job-", name="job-b4h9z")],
            id="another generated suffix",
        ),
        pytest.param(
            [{"body": {"items": [], "metadata": {"resourceVersion": "3"}}}],
            [{"body": {"items": [], "metadata": {"resourceVersion": "9"}}}],
            id="another resourceVersion of a list",
        ),
    ],
)
def test_what_must_differ_is_hidden(one: list[Any], other: list[Any]) -> None:
    assert shown(*one) == shown(*other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            [seen(uid=UID_A), seen(uid=UID_A)],
            [seen(uid=UID_A), seen(uid=UID_B)],
            id="the same object or another one",
        ),
        pytest.param(
            [seen(resourceVersion="7"), seen(resourceVersion="7")],
            [seen(resourceVersion="7"), seen(resourceVersion="8")],
            id="an unchanged or a newer resourceVersion",
        ),
        pytest.param(
            [seen(resourceVersion="7"), seen(resourceVersion="9")],
            [seen(resourceVersion="9"), seen(resourceVersion="7")],
            id="a newer or an older resourceVersion",
        ),
        pytest.param(
            [seen(resourceVersion="7")], [seen(resourceVersion="0")], id="a resourceVersion of 0"
        ),
        pytest.param([seen(resourceVersion="7")], [seen()], id="no resourceVersion at all"),
        pytest.param(
            [seen(creationTimestamp="2026-05-01T12:00:00Z")],
            [seen(creationTimestamp="2001-01-01T00:00:00Z")],
            id="a time that a probe had sent",
        ),
        pytest.param(
            [seen(creationTimestamp="2026-05-01T12:00:00Z")],
            [seen(creationTimestamp=None)],
            id="a time or null",
        ),
        pytest.param(
            [seen(uid=UID_A)],
            [seen(uid="00000000-0000-4000-8000-000000000001")],
            id="a uid that a probe had sent",
        ),
        pytest.param(
            [seen(generateName="job-", name="job-x7k2f")],
            [seen(generateName="job-", name="job-aeiou")],
            id="a suffix of letters that are not used",
        ),
        pytest.param(
            [seen(generateName="job-", name="job-x7k2f")],
            [seen(generateName="job-", name="job-x7k2")],
            id="a suffix too short",
        ),
        pytest.param([{"body": {"a": 1}}], [{"body": {"a": True}}], id="a number or a boolean"),
    ],
)
def test_what_may_not_differ_is_kept(one: list[Any], other: list[Any]) -> None:
    assert difference(shown(*one), shown(*other))


def invalid(*causes: tuple[str, str]) -> dict[str, Any]:
    listed = [{"field": field, "message": message} for field, message in causes]
    together = ", ".join(f"{field}: {message}" for field, message in causes)
    return {
        "body": {"message": f'Widget "a" is invalid: [{together}]', "details": {"causes": listed}}
    }


def test_causes_in_another_order_are_the_same() -> None:
    a, b = ("spec.a", "Required value"), ("spec.b", "Invalid value: 3: too small, really")
    assert shown(invalid(a, b)) == shown(invalid(b, a))


def test_a_message_that_lists_something_else_than_the_causes_is_left_alone() -> None:
    odd = invalid(("spec.a", "Required value"), ("spec.b", "Required value"))
    odd["body"]["message"] = odd["body"]["message"].replace("spec.b", "spec.c")
    assert shown(odd)[0]["body"]["message"] == odd["body"]["message"]


def test_the_names_of_a_run_are_hidden_in_texts_and_in_keys() -> None:
    raw = {"body": {"message": "namespaces probe-k3d8 not found", "k3d8": 1}}
    assert shown(raw, k3d8="<id>") == [
        {"body": {"<id>": 1, "message": "namespaces probe-<id> not found"}}
    ]
