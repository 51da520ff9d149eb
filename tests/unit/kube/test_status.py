# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.transport import answer, failure
from trellis.kube import errors
from trellis.kube.errors import Cause, KubeError, Refused, clipped
from trellis.kube.status import refused

if TYPE_CHECKING:
    from trellis.kube.transport import Response

CAUSE = {"reason": "FieldValueRequired", "message": "Required value", "field": "spec.size"}


@pytest.mark.parametrize(
    ("response", "want"),
    [
        pytest.param(failure(400, "BadRequest"), errors.BadRequest, id="400"),
        pytest.param(failure(401, "Unauthorized"), errors.Unauthorized, id="401"),
        pytest.param(failure(403, "Forbidden"), errors.Forbidden, id="403"),
        pytest.param(failure(404, "NotFound"), errors.NotFound, id="404"),
        pytest.param(failure(405, "MethodNotAllowed"), errors.Unsupported, id="405"),
        pytest.param(failure(415, "UnsupportedMediaType"), errors.Unsupported, id="415"),
        pytest.param(failure(409, "AlreadyExists"), errors.AlreadyExists, id="a name is taken"),
        pytest.param(failure(409, "Conflict"), errors.Conflict, id="an object has changed"),
        pytest.param(failure(410, "Expired"), errors.Expired, id="history is gone"),
        pytest.param(failure(410, "Gone"), errors.Expired, id="gone is the same"),
        pytest.param(failure(413, "RequestEntityTooLarge"), errors.TooLarge, id="413"),
        pytest.param(failure(422, "Invalid"), errors.Invalid, id="422"),
        pytest.param(failure(429, "TooManyRequests"), errors.Throttled, id="429"),
        pytest.param(
            failure(429, "TooManyRequests", causes=[{"reason": "DisruptionBudget"}]),
            errors.EvictionBlocked,
            id="a budget that blocks is no throttling",
        ),
        pytest.param(
            failure(403, "Forbidden", causes=[{"reason": "NamespaceTerminating"}]),
            errors.NamespaceTerminating,
            id="a namespace that is going",
        ),
        pytest.param(failure(500, "InternalError"), errors.ServerFailed, id="500"),
        pytest.param(failure(500, "ServerTimeout"), errors.TimedOut, id="500 that ran out of time"),
        pytest.param(failure(503, "ServiceUnavailable"), errors.Unavailable, id="503"),
        pytest.param(failure(504, "Timeout"), errors.TimedOut, id="504"),
        pytest.param(failure(409, "SomethingNew"), errors.Conflict, id="an unknown reason"),
        pytest.param(failure(418), Refused, id="an unknown code"),
        pytest.param(failure(502), errors.ServerFailed, id="an unknown code of the server's fault"),
        pytest.param(answer(b"<html>", 404), errors.NotFound, id="no Status, but a code"),
        pytest.param(answer(b"", 429), errors.Throttled, id="nothing, but a code"),
        pytest.param(answer([1], 403), errors.Forbidden, id="JSON of another kind"),
    ],
)
def test_every_refusal_has_the_class_of_its_meaning(
    response: Response, want: type[Refused]
) -> None:
    assert type(refused("GET /x", response)) is want


@pytest.mark.parametrize(
    ("error", "uncertain"),
    [
        pytest.param(errors.Unreachable("x"), False, id="never sent"),
        pytest.param(errors.Ambiguous("x"), True, id="lost on the way"),
        pytest.param(errors.Unreadable("x"), True, id="garbage came back"),
        pytest.param(refused("", failure(429)), False, id="throttled"),
        pytest.param(refused("", failure(409)), False, id="conflict"),
        pytest.param(refused("", failure(500)), True, id="the server failed"),
        pytest.param(refused("", failure(504)), True, id="the server timed out"),
    ],
)
def test_an_error_says_whether_a_write_may_have_happened(error: KubeError, uncertain: bool) -> None:
    assert error.may_have_happened is uncertain


def test_a_refusal_says_what_was_asked_and_why_it_failed() -> None:
    error = refused("GET /x", failure(404, "NotFound", 'pods "a" not found', name="a", kind="pods"))
    assert str(error) == 'GET /x: 404 pods "a" not found'
    assert (error.failure.kind, error.failure.name) == ("pods", "a")


def test_an_object_and_a_kind_that_are_not_found_differ() -> None:
    missing = refused("", failure(404, "NotFound", name="a"))
    unserved = refused("", answer(b"404 page not found\n", 404, content_type="text/plain"))
    assert isinstance(missing, errors.NotFound)
    assert isinstance(unserved, errors.NotFound)
    assert (missing.unserved, unserved.unserved) == (False, True)
    assert str(unserved).endswith("404 page not found")


def test_an_invalid_object_comes_with_its_causes() -> None:
    error = refused("", failure(422, "Invalid", causes=[CAUSE]))
    assert isinstance(error, errors.Invalid)
    assert error.causes == (Cause("FieldValueRequired", "Required value", "spec.size"),)


@pytest.mark.parametrize(
    ("response", "want"),
    [
        pytest.param(failure(429), None, id="not said"),
        pytest.param(failure(429, retryAfterSeconds=3), 3, id="in the details"),
        pytest.param(answer({}, 429, retry_after="7"), 7, id="in the header"),
        pytest.param(answer({}, 429, retry_after="soon"), None, id="a word"),
        pytest.param(answer({}, 429, retry_after="-1"), None, id="negative"),
        pytest.param(answer({}, 429, retry_after="\u0661"), None, id="digits of another script"),
    ],
)
def test_how_long_to_wait_is_read(response: Response, want: float | None) -> None:
    assert refused("", response).retry_after == want


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<html><body>Bearer abc.def</body></html>", id="a page"),
        pytest.param(b'{"kind":"Status","mess', id="cut off"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b"\xff\xfe\x00", id="no text"),
        pytest.param(b'{"kind":"Status","message":5}', id="a Status of another shape"),
    ],
)
def test_garbage_is_described_and_not_shown(body: bytes) -> None:
    error = refused("GET /x", answer(body, 502, content_type="text/html; charset=utf-8"))
    assert str(error) == (
        f"GET /x: 502 {len(body)} bytes of text/html where the API answers with a Status"
    )


def test_a_long_message_is_clipped() -> None:
    error = refused("GET /x", failure(422, "Invalid", "m" * 100_000, causes=[CAUSE] * 1000))
    assert len(str(error)) < 1100
    assert len(error.failure.causes) == 50


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("one\n two\t three ", "one two three", id="on one line"),
        pytest.param("a\x1b[31mred", "a�[31mred", id="without control characters"),
        pytest.param("x" * 20, "x" * 9 + "…", id="no longer than asked"),
    ],
)
def test_text_of_others_is_made_fit_to_show(text: str, want: str) -> None:
    assert clipped(text, 10 if len(text) == 20 else 100) == want
