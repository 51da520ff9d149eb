# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.virtual import virtual
from tests.unit.embedded.admission.builders import Room, a_review, add, called, patch, seen
from trellis.embedded.admission import Plugins

if TYPE_CHECKING:
    from trellis.embedded.asking import Object, Review


def append(letter: str) -> Any:
    return lambda request: patch(add("/data/a", request["object"]["data"]["a"] + letter))


async def test_mutating_webhooks_run_by_the_names_of_their_configurations() -> None:
    room = Room()
    for name in ("z", "m", "b"):
        room.hook(name, append(name), kind="mutating")
    review = a_review()
    await room.admission.mutate(review)
    assert review.new is not None
    assert review.new["data"] == {"a": "1bmz"}


@pytest.mark.parametrize(
    ("policy", "change", "first", "later"),
    [
        ("IfNeeded", patch(add("/data/b", "2")), 2, 1),
        ("IfNeeded", patch(add("/data/a", "1")), 2, 1),
        ("IfNeeded", patch(), 1, 1),
        ("Never", patch(add("/data/b", "2")), 1, 1),
    ],
    ids=["a change", "a change to the same", "nothing", "never"],
)
async def test_a_webhook_is_asked_again_after_a_later_change(
    policy: str, change: Object, first: int, later: int
) -> None:
    room = Room()
    room.hook("first", kind="mutating", reinvocationPolicy=policy)
    room.hook("later", lambda _: change, kind="mutating", reinvocationPolicy=policy)
    await room.admission.mutate(a_review())
    names = [name for name, _ in room.calls]
    assert (names.count("first"), names.count("later")) == (first, later)


async def test_plugins_run_again_after_a_webhooks_change() -> None:
    def count(review: Review) -> None:
        assert review.new is not None
        labels = review.new["metadata"].setdefault("labels", {})
        labels["runs"] = str(int(labels.get("runs", "0")) + 1)

    room = Room(Plugins(mutating=[count]))
    room.hook("hook", lambda _: patch(add("/data/b", "2")), kind="mutating")
    review = a_review()
    await room.admission.mutate(review)
    assert review.new is not None
    assert review.new["metadata"]["labels"] == {"runs": "2"}


async def test_after_a_refusal_no_other_webhook_is_called() -> None:
    room = Room()
    room.hook("deny", lambda _: {"allowed": False}, kind="mutating")
    room.hook("later", kind="mutating")
    refusal = await room.refusal(a_review(), mutating=True)
    assert refusal.status == seen(
        "webhook_refusals", "after a mutating webhook's refusal no other webhook is called"
    )
    assert [name for name, _ in room.calls] == ["deny"]


@pytest.mark.parametrize("kind", ["mutating", "validating"])
async def test_a_failure_may_be_ignored(kind: str) -> None:
    room = Room()
    room.hook("hook", lambda _: {"raw": b""}, kind=kind, failurePolicy="Ignore")
    review = a_review()
    await room.admission.mutate(review)
    await room.admission.validate(review)
    assert len(room.calls) == 1


async def test_all_validating_webhooks_are_called_and_the_first_refusal_is_told() -> None:
    room = Room()
    done = asyncio.Event()

    async def slow(_: Object) -> Object:
        await done.wait()
        return {"allowed": False, "status": {"message": "slow"}}

    async def fast(_: Object) -> Object:
        done.set()
        return {"allowed": False, "status": {"message": "fast"}}

    room.hook("a", slow)
    room.hook("b", fast)
    assert (await room.refusal(a_review())).message.endswith("fast")
    assert len(room.calls) == 2


async def test_warnings_are_handed_on_with_a_refusal_too() -> None:
    room = Room()
    room.hook("hook", lambda _: {"allowed": False, "warnings": ["beware"]})
    review = a_review()
    await room.refusal(review)
    assert review.warnings == ["beware"]


@pytest.mark.parametrize("effects", ["Some", "Unknown", ""])
async def test_a_dry_run_is_refused_to_a_webhook_with_side_effects(effects: str) -> None:
    room = Room()
    room.hook("hook", sideEffects=effects)
    refusal = await room.refusal(a_review(dry_run=True))
    assert refusal.status["message"] == 'admission webhook "hook" does not support dry run'
    assert refusal.code == 400
    assert not room.calls


@pytest.mark.parametrize("effects", ["None", "NoneOnDryRun"])
async def test_a_dry_run_is_told_to_a_webhook_without(effects: str) -> None:
    room = Room()
    room.hook("hook", sideEffects=effects)
    await room.admission.validate(a_review(dry_run=True))
    ((_, request),) = room.calls
    assert request["dryRun"] is True


async def test_a_webhook_without_a_known_version_fails() -> None:
    room = Room()
    room.hook("hook", admissionReviewVersions=["v7"])
    message = (await room.refusal(a_review())).message
    assert "webhook does not accept known AdmissionReview versions (v1, v1beta1)" in message


@virtual
async def test_a_webhook_that_does_not_answer_in_time_fails() -> None:
    room = Room()

    async def never(_: Object) -> Object:
        await asyncio.Event().wait()
        return {}

    room.hook("hook", never, timeoutSeconds=1)
    refusal = await room.refusal(a_review())
    expected = seen("webhook_failures", "a webhook that does not answer in time fails")
    assert refusal.message == expected["message"].replace("<webhook>", "127.0.0.1:1")


async def test_a_function_that_fails_is_a_webhook_that_fails() -> None:
    def broken(_: Object) -> Object:
        raise KeyError("a")

    room = Room()
    room.hook("hook", broken)
    refusal = await room.refusal(a_review())
    assert refusal.code == 500
    assert refusal.message.endswith("KeyError: 'a'")


async def test_a_service_that_nobody_answers_for_is_not_found() -> None:
    room = Room()
    service = {"namespace": "team", "name": "hook", "path": "/here"}
    room.hook("hook", clientConfig={"service": service}, served_as=None)
    refusal = await room.refusal(a_review())
    assert refusal.status == seen(
        "webhook_failures", "a webhook of a service that is not there fails"
    )


async def test_a_service_may_be_answered_for_by_a_function() -> None:
    room = Room()
    service = {"namespace": "team", "name": "hook", "path": "here"}
    room.hook("hook", clientConfig={"service": service}, served_as=("team", "hook", "/here"))
    assert await called(room, a_review())
