# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.embedded.admission.builders import (
    Room,
    a_map,
    a_review,
    envelope,
    golden,
    seen,
)
from trellis.embedded.admission.answers import Unusable, read
from trellis.embedded.admission.responses import answer_problem
from trellis.embedded.admission.warning_headers import warning_headers

FAILURES = "webhook_failures"


def whole(**changes: Any) -> bytes:
    body = {**envelope(), "response": {"uid": "u", "allowed": True}, **changes}
    return json.dumps({key: body[key] for key in body if body[key] is not None}).encode()


def complaint(problem: object) -> str:
    return f'Internal error occurred: failed calling webhook "hook": {problem}'


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        (b'{"kind": "AdmissionReview", ', "a webhook whose answer is cut JSON fails"),
        (b"hello", "a webhook whose answer is text fails"),
        (whole(kind="Pod"), "a webhook whose answer has another kind fails"),
        (whole(apiVersion="v1"), "a webhook whose answer has another apiVersion fails"),
        (whole(apiVersion="admission.k8s.io/v1beta1"), "a webhook that answers in v1beta1 fails"),
        (whole(apiVersion=None), "a webhook whose answer has no apiVersion fails"),
        (whole(response=None), "a webhook whose answer has no response fails"),
        (
            whole(response={"uid": "1", "allowed": True}),
            "a webhook that answers with another uid fails",
        ),
        (whole(response={"allowed": True}), "a webhook that answers without a uid fails"),
        (
            whole(response={"uid": "u", "allowed": "yes"}),
            "a webhook whose allowed is a word fails",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_that_cannot_be_used_is_told_as_the_real_server_does(
    answer: bytes, title: str
) -> None:
    with pytest.raises(Unusable) as problem:
        read(answer, "u", "v1", mutating=False)
    expected = seen(FAILURES, title)["message"].replace("<uid:1>", "u")
    assert complaint(problem.value) == expected


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ([], "cannot unmarshal array into Go struct field AdmissionReview.response"),
        ({"warnings": "x"}, "field AdmissionResponse.response.warnings of type []string"),
        ({"warnings": [1]}, "field AdmissionResponse.response.warnings of type string"),
        ({"status": 1}, "field AdmissionResponse.response.status of type v1.Status"),
        ({"status": {"code": "x"}}, "field Status.response.status.code of type int32"),
        (
            {"status": {"details": {"retryAfterSeconds": "1\r\nX: y"}}},
            "field StatusDetails.response.status.details.retryAfterSeconds of type int32",
        ),
        ({"patch": 1}, "field AdmissionResponse.response.patch of type []uint8"),
    ],
    ids=["list", "warnings", "warning", "status", "code", "details", "patch"],
)
def test_an_answer_of_wrong_types_is_refused(response: Any, said: str) -> None:
    with pytest.raises(Unusable, match="cannot unmarshal") as problem:
        read(whole(response=response), "u", "v1", mutating=True)
    assert said in str(problem.value)


@given(st.binary(max_size=64))
def test_whatever_a_webhook_answers_it_is_read_or_refused(answer: bytes) -> None:
    with pytest.raises(Unusable):
        read(answer, "u", "v1", mutating=True)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
)
NAMES = ("uid", "allowed", "status", "patch", "patchType", "warnings", "auditAnnotations")


@given(st.dictionaries(st.sampled_from(NAMES), JSON_VALUES))
def test_whatever_a_response_holds_it_is_read_or_refused(response: dict[str, Any]) -> None:
    try:
        verdict = read(whole(response={"uid": "u", **response}), "u", "v1", mutating=True)
    except Unusable:
        return
    assert isinstance(verdict.allowed, bool)


@pytest.mark.parametrize(
    ("status", "kind", "body", "title"),
    [
        (500, "application/json", b"it broke", "a webhook that answers 500 fails"),
        (
            500,
            "text/plain",
            b"it broke",
            "a webhook that answers 500 in plain text fails and is quoted",
        ),
        (404, "application/json", b"", "a webhook that answers 404 without a body fails"),
        (302, "application/json", b"", "a webhook that answers 302 fails"),
        (
            200,
            "application/json; charset=utf-8",
            b"",
            "a webhook whose answer is empty fails",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_that_is_no_success_is_told_as_the_real_server_does(
    status: int, kind: str, body: bytes, title: str
) -> None:
    said = f"failed to call webhook: {answer_problem(status, kind, body)}"
    assert complaint(said) == seen(FAILURES, title)["message"]


def test_the_words_of_a_server_that_forbids_are_kept() -> None:
    assert answer_problem(403, "text/plain", b" not you ") == "not you"


REFUSALS: dict[str, dict[str, Any]] = {
    "a refusal with a message is 400 without a reason": {"message": "no such thing"},
    "a refusal with a reason and no message quotes the reason": {"reason": "Forbidden"},
    "a refusal's code, reason, message and details are passed on": {
        "code": 409,
        "reason": "Conflict",
        "message": "already taken",
        "details": {
            "name": "a",
            "group": "example.com",
            "kind": "things",
            "uid": "00000000-0000-4000-8000-000000000001",
            "causes": [{"reason": "FieldValueInvalid", "message": "is bad", "field": "data.a"}],
            "retryAfterSeconds": 7,
        },
    },
    "a refusal with a code and no reason passes the code on": {"code": 418, "message": "a teapot"},
    "a refusal with a reason and a message is 400 with the reason": {
        "reason": "Gone",
        "message": "x",
    },
    "a refusal with code 200 is 400": {"code": 200, "message": "fine"},
    "a refusal with code 301 is 400": {"code": 301, "message": "elsewhere"},
    "a refusal that calls itself a success is a failure": {"status": "Success", "message": "odd"},
    "a refusal's metadata is passed on": {"metadata": {"remainingItemCount": 3}, "message": "x"},
    "a refusal with retryAfterSeconds and 429 sets the header": {
        "code": 429,
        "reason": "TooManyRequests",
        "message": "later",
        "details": {"retryAfterSeconds": 3},
    },
}


@pytest.mark.parametrize("title", REFUSALS)
async def test_a_refusal_is_passed_on(title: str) -> None:
    room = Room()
    room.hook("hook", lambda _: {"allowed": False, "status": REFUSALS[title]})
    refusal = await room.refusal(a_review(a_map()))
    assert refusal.status == seen("webhook_refusals", title)
    wait = (REFUSALS[title].get("details") or {}).get("retryAfterSeconds")
    assert refusal.headers.get("Retry-After") == (str(wait) if wait else None)


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        (
            ["first thing", 'a "quoted" \\ thing', "naïve"],
            "each warning becomes a header of its own, quoted",
        ),
        (["same", "same"], "a warning given twice is sent once"),
        (
            ["two\nlines", "a\ttab", ""],
            "a warning with a control character or without text is not sent",
        ),
        (["w" * 600], "a long warning is sent whole"),
        (
            [f"{number:02}" + "w" * 300 for number in range(20)],
            "warnings of more than 4096 characters together are cut to 256 each and end early",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_warnings_become_headers(texts: list[str], title: str) -> None:
    expected = golden("webhook_refusals", title)[0]["headers"].get("Warning", [])
    assert warning_headers(texts) == ([expected] if isinstance(expected, str) else expected)
