# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from tests.support.reviews import UID, Gate, a_body, a_thing
from tests.unit.webhooks.builders import StandingClock
from trellis.api import strictjson
from trellis.webhooks.intake import Answer, Intake, Limits
from trellis.webhooks.metrics import Metrics
from trellis.webhooks.refusals import CAUSES, NotAReview
from trellis.webhooks.verdict import ALLOWED, Allowed, Cause, Denied, Verdict, invalid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trellis.webhooks.review import Review
    from trellis.webhooks.verdict import Handler

PATH = "/things"
CANARY = "hunter2"


class Desk:
    """An intake with one route, and what it counts."""

    def __init__(self, handler: Handler, **limits: Any) -> None:
        self.registry = CollectorRegistry()
        self.intake = Intake(
            {PATH: handler},
            clock=StandingClock(),
            metrics=Metrics(self.registry, [PATH]),
            limits=Limits(**limits),
        )

    async def ask(self, body: bytes | None = None, path: str = PATH) -> Answer:
        async def read() -> bytes:
            return a_body() if body is None else body

        return await self.intake.answer(path, read)

    def count(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(f"trellis_admission_{name}", labels)

    def reviews(self, verdict: str, operation: str = "CREATE") -> float | None:
        return self.count("reviews_total", path=PATH, operation=operation, verdict=verdict)


@asynccontextmanager
async def desk(handler: Handler, **limits: Any) -> AsyncIterator[Desk]:
    made = Desk(handler, **limits)
    yield made
    made.intake.stop()


def grow(review: Review) -> Verdict:
    thing = review.new()
    thing["spec"]["size"] = max(2, thing["spec"]["size"])
    return Allowed(object=thing)


def deny(_: Review) -> Verdict:
    return Denied(message="not today")


@pytest.mark.parametrize(
    ("handler", "verdict", "allowed"),
    [
        pytest.param(lambda _: ALLOWED, "allowed", True, id="allowed"),
        pytest.param(grow, "patched", True, id="patched"),
        pytest.param(deny, "denied", False, id="denied"),
    ],
)
async def test_a_review_is_answered_and_counted(
    handler: Handler, verdict: str, allowed: bool
) -> None:
    async with desk(handler) as at:
        answer = await at.ask()
    assert (answer.status, answer.headers) == (200, {"Content-Type": "application/json"})
    response = json.loads(answer.body)["response"]
    assert (response["uid"], response["allowed"]) == (UID, allowed)
    assert at.reviews(verdict) == 1
    assert at.count("review_seconds_count", path=PATH) == 1


async def test_a_mutator_that_is_asked_again_about_its_own_result_changes_nothing() -> None:
    async with desk(grow) as at:
        again = await at.ask(a_body(object=a_thing(size=2)))
    assert "patch" not in json.loads(again.body)["response"]


class Shape(msgspec.Struct):
    spec: dict[str, str]


async def test_an_object_of_another_shape_is_denied_and_no_failure() -> None:
    def handler(review: Review) -> Verdict:
        review.new_as(Shape)
        return ALLOWED

    async with desk(handler) as at:
        answer = await at.ask()
    assert json.loads(answer.body)["response"]["status"]["code"] == 422
    assert at.reviews("denied") == 1


def nested(depth: int) -> Any:
    return json.loads("[" * depth + "]" * depth)


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        pytest.param(
            a_thing(sizes=[{"size": 1 << 63}]),
            "spec.sizes[0].size: the JSON has 9223372036854775808…, beyond a 64-bit integer",
            id="an integer of more than 64 bits",
        ),
        pytest.param(
            # As Go writes 2**64 once it has read it as a float.
            a_thing(sizes=[1, 18446744073709552000]),
            "spec.sizes[1]: the JSON has 18446744073709552000…, beyond a 64-bit integer",
            id="an integer of more than 64 bits, without a sign",
        ),
        pytest.param(
            a_thing(deep=nested(100)), "the JSON is nested deeper than the 64", id="100 levels deep"
        ),
        pytest.param(
            a_thing(many={f"k{index}": 1 for index in range(100_001)}),
            "the JSON has more keys than the 100000 allowed",
            id="100,001 keys",
        ),
    ],
)
async def test_an_object_that_is_too_much_to_read_is_denied_to_its_writer_and_no_failure(
    thing: dict[str, Any], said: str
) -> None:
    """To the API server, every answer but a verdict is a failure of ours: a 500 to the user."""
    async with desk(lambda _: ALLOWED) as at:
        answer = await at.ask(a_body(object=thing))
    assert answer.status == 200
    response = json.loads(answer.body)["response"]
    assert (response["uid"], response["allowed"]) == (UID, False)
    assert response["status"]["code"] == 422
    assert response["status"]["message"].startswith(said)
    assert at.reviews("denied") == 1


@pytest.mark.parametrize(
    ("body", "status", "cause"),
    [
        pytest.param(b"{", 400, "InvalidJson", id="no JSON"),
        pytest.param(b"[" * 100_000, 400, "InvalidJson", id="100,000 levels deep"),
        pytest.param(b"{}", 400, "NotAReview", id="no review"),
        pytest.param(a_body("PATCH"), 400, "NotAReview", id="an unknown operation"),
    ],
)
async def test_what_is_no_review_is_refused_in_one_line_and_counted(
    body: bytes, status: int, cause: str
) -> None:
    async with desk(lambda _: ALLOWED) as at:
        with capture_logs() as logs:
            answer = await at.ask(body)
    assert answer.status == status
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert answer.body.count(b"\n") == 1
    assert b"Traceback" not in answer.body
    assert at.count("refused_total", cause=cause) == 1
    assert logs == [], "anybody could fill the log with it"


async def test_a_path_that_is_not_served_is_not_found_and_its_body_not_read() -> None:
    async with desk(lambda _: ALLOWED) as at:
        answer = await at.ask(path="/elsewhere")
        assert answer.status == 404
        assert at.count("refused_total", cause="NoSuchPath") == 1


async def test_a_review_of_nearly_3_mib_is_heard() -> None:
    room = strictjson.REVIEW.size - len(a_body(object=a_thing(fill="")))
    body = a_body(object=a_thing(fill="x" * room))
    assert len(body) == strictjson.REVIEW.size
    async with desk(grow) as at:
        answer = await at.ask(body)
        larger = await at.ask(body + b" ")
    assert answer.status == 200
    assert len(answer.body) < 1000
    assert larger.status == 400


def explode(_: Review) -> Verdict:
    raise ValueError(f"password {CANARY}")


def exhaust(_: Review) -> Verdict:
    return next(iter(()))


def leave(_: Review) -> Verdict:
    raise SystemExit(1)


def give_up(_: Review) -> Verdict:
    raise TimeoutError


def overdo(review: Review) -> Verdict:
    return Allowed(object={"spec": object(), "metadata": review.new()["metadata"]})


@pytest.mark.parametrize(
    ("handler", "error"),
    [
        pytest.param(explode, "ValueError", id="with an exception"),
        pytest.param(exhaust, "RuntimeError", id="with StopIteration, which no future can carry"),
        pytest.param(leave, "RuntimeError", id="by asking the process to end"),
        pytest.param(give_up, "TimeoutError", id="with a timeout of its own, in time"),
        pytest.param(overdo, "TypeError", id="by returning what is no JSON"),
    ],
)
async def test_a_handler_that_fails_is_an_internal_error_that_tells_no_tales(
    handler: Handler, error: str
) -> None:
    async with desk(handler) as at:
        with capture_logs() as logs:
            answer = await at.ask()
    assert answer.status == 500
    assert answer.body == f"the webhook {PATH} failed (review {UID})\n".encode()
    assert at.reviews("failed") == 1
    (entry,) = logs
    assert (entry["log_level"], entry["uid"], entry["error"]) == ("error", UID, error)
    assert entry["at"], "where it was raised"
    assert CANARY not in str(entry)


async def test_one_that_failed_costs_the_next_one_nothing() -> None:
    async with desk(explode, workers=1, in_flight=1) as at:
        for _ in range(3):
            assert (await at.ask()).status == 500


async def test_handlers_that_are_late_are_internal_errors_with_their_uid() -> None:
    gate = Gate()
    async with desk(gate, workers=1, budget_seconds=1) as at:
        with capture_logs() as logs:
            begun = asyncio.create_task(at.ask())
            await gate.holding(1)
            never_begun = await at.ask(a_body("DELETE"))
        late = await begun
        assert at.intake.stuck
        gate.open()
    assert (late.status, never_begun.status) == (500, 500)
    assert f"did not answer within 1 s (review {UID})".encode() in late.body
    assert b"(a review still unread)" in never_begun.body
    assert (at.reviews("late"), at.reviews("late", "unread")) == (1, 1)
    assert {entry["event"] for entry in logs} == {"a webhook handler was late"}
    assert [entry.get("uid") for entry in logs] == [UID, None]


async def test_above_the_cap_reviews_are_turned_away_with_a_time_to_come_back() -> None:
    gate = Gate()
    async with desk(gate, workers=1, in_flight=3) as at:
        held = [asyncio.create_task(at.ask()) for _ in range(3)]
        await gate.holding(1)
        assert (at.intake.in_flight, at.count("in_flight")) == (3, 3)
        turned_away = await at.ask()
        assert turned_away.status == 429
        assert turned_away.headers["Retry-After"] == "1"
        assert at.count("refused_total", cause="TooManyInFlight") == 1
        gate.open()
        assert [(await one).status for one in held] == [200, 200, 200]
        assert (at.intake.in_flight, at.count("in_flight")) == (0, 0)
        assert (await at.ask()).status == 200


async def test_a_body_that_does_not_come_gives_its_place_back() -> None:
    async def never() -> bytes:
        await asyncio.Event().wait()
        raise AssertionError

    async with desk(lambda _: ALLOWED, budget_seconds=0.05) as at:
        answer = await at.intake.answer(PATH, never)
        assert answer.status == 408
        assert b"did not arrive within 0.05 s" in answer.body
        assert at.intake.in_flight == 0


async def test_a_reader_may_refuse_too() -> None:
    async def broken() -> bytes:
        raise NotAReview("broken off")

    async with desk(lambda _: ALLOWED) as at:
        answer = await at.intake.answer(PATH, broken)
        assert (answer.status, answer.body) == (400, b"broken off\n")


async def test_a_connection_that_is_lost_is_nobodys_failure() -> None:
    async def lost() -> bytes:
        raise ConnectionResetError

    async with desk(lambda _: ALLOWED) as at:
        with pytest.raises(ConnectionResetError):
            await at.intake.answer(PATH, lost)
        assert at.intake.in_flight == 0


async def test_a_denial_is_logged_by_names_and_fields_and_without_values() -> None:
    def handler(review: Review) -> Verdict:
        said = f"{review.new()['spec']['token']} is no token"
        return invalid(Cause(field="spec.token", message=said))

    async with desk(handler) as at:
        with capture_logs() as logs:
            await at.ask(a_body(object=a_thing(token=CANARY)))
    assert logs == [
        {
            "event": "a review was denied",
            "log_level": "info",
            "path": PATH,
            "uid": UID,
            "operation": "CREATE",
            "resource": "things.example.com",
            "namespace": "team",
            "name": "one",
            "user": "ann",
            "code": 422,
            "reason": "Invalid",
            "fields": ["spec.token"],
        }
    ]


async def test_every_series_is_there_before_the_first_review() -> None:
    async with desk(lambda _: ALLOWED) as at:
        for operation in ("CREATE", "UPDATE", "DELETE", "CONNECT"):
            for verdict in ("allowed", "patched", "denied", "failed", "late"):
                assert at.reviews(verdict, operation) == 0
        assert at.count("review_seconds_count", path=PATH) == 0
        assert at.count("in_flight") == 0
        assert at.count("certificate_expiry_timestamp_seconds") == 0
        assert at.count("certificate_failures_total") == 0
        for cause in CAUSES:
            assert at.count("refused_total", cause=cause) == 0
