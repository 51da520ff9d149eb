# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.virtual import virtual
from tests.unit.embedded.admission.builders import (
    CONFIGURATIONS,
    MAPS,
    NAMESPACES,
    NODES,
    PODS,
    WIDGETS,
    WIDGETS_V2,
    Room,
    a_map,
    a_review,
    a_rule,
    add,
    an_object,
    golden,
    patch,
    seen,
)
from trellis.embedded.admission import Plugins

if TYPE_CHECKING:
    from trellis.embedded.asking import Object, Review

WATCHED: dict[str, Any] = {"labels": {"x": "y"}}


async def called(room: Room, review: Review) -> bool:
    room.calls.clear()
    await room.admission.validate(review)
    return bool(room.calls)


@pytest.mark.parametrize(
    ("rule", "review", "expected"),
    [
        (a_rule(), a_review(), True),
        (a_rule("configmaps", "UPDATE"), a_review(), False),
        (a_rule("configmaps", "UPDATE"), a_review(a_map(), a_map()), True),
        (a_rule("configmaps", "DELETE"), a_review(None, a_map()), True),
        (a_rule("*"), a_review(), True),
        (a_rule("*", group="*"), a_review(), True),
        (a_rule(group="apps"), a_review(), False),
        (a_rule() | {"apiVersions": ["v2"]}, a_review(), False),
        (a_rule("pods"), a_review(), False),
        (a_rule("pods"), a_review(an_object(PODS), served=PODS, subresource="status"), False),
        (a_rule("pods/status"), a_review(an_object(PODS), served=PODS, subresource="status"), True),
        (a_rule("pods/*"), a_review(an_object(PODS), served=PODS, subresource="status"), True),
        (a_rule("pods/*"), a_review(an_object(PODS), served=PODS), True),
        (a_rule("*/status"), a_review(an_object(PODS), served=PODS), False),
        (a_rule("*/*"), a_review(an_object(PODS), served=PODS, subresource="status"), True),
        (a_rule("*", scope="Cluster"), a_review(), False),
        (a_rule("*", scope="Namespaced"), a_review(), True),
        (a_rule("*", scope="Cluster"), a_review(an_object(NODES), served=NODES), True),
        (
            a_rule("*", scope="Cluster"),
            a_review(an_object(NAMESPACES, "team"), served=NAMESPACES, namespace="team"),
            True,
        ),
        (
            a_rule("*", scope="Namespaced"),
            a_review(an_object(NAMESPACES, "team"), served=NAMESPACES, namespace="team"),
            False,
        ),
        (
            a_rule("*/*", group="*"),
            a_review(an_object(CONFIGURATIONS), served=CONFIGURATIONS),
            False,
        ),
    ],
)
async def test_rules_tell_what_is_reviewed(rule: Any, review: Review, expected: bool) -> None:
    room = Room()
    room.hook("hook", rules=[rule])
    assert await called(room, review) is expected


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (a_map(), None, False),
        (a_map(**WATCHED), None, True),
        (a_map(**WATCHED), a_map(), True),
        (a_map(), a_map(**WATCHED), True),
        (a_map(), a_map(), False),
        (None, a_map(**WATCHED), True),
    ],
    ids=["without", "with", "added", "removed", "never", "deleted"],
)
async def test_an_object_selector_is_met_by_the_old_or_the_new(
    new: Object | None, old: Object | None, expected: bool
) -> None:
    room = Room()
    room.hook("hook", objectSelector={"matchLabels": {"x": "y"}})
    assert await called(room, a_review(new, old)) is expected


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({}, True),
        ({"matchLabels": {"tier": "high"}}, True),
        ({"matchLabels": {"tier": "low"}}, False),
        ({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["low"]}]}, True),
    ],
)
async def test_a_namespace_selector_is_met_by_the_namespaces_labels(
    selector: Object, expected: bool
) -> None:
    room = Room()
    room.hook("hook", namespaceSelector=selector)
    assert await called(room, a_review()) is expected


async def test_a_change_of_a_namespaces_labels_counts_at_once() -> None:
    room = Room()
    room.hook("hook", namespaceSelector={"matchLabels": {"tier": "low"}})
    assert not await called(room, a_review())
    room.put("", NAMESPACES, {"name": "team", "labels": {"tier": "low"}})
    assert await called(room, a_review())


async def test_a_namespace_selector_does_not_keep_cluster_scoped_objects_out() -> None:
    room = Room()
    room.hook("hook", rules=[a_rule("nodes")], namespaceSelector={"matchLabels": {"no": "ne"}})
    assert await called(room, a_review(an_object(NODES), served=NODES))


async def test_a_new_namespace_is_selected_by_its_own_labels() -> None:
    room = Room()
    room.hook("hook", rules=[a_rule("namespaces")], namespaceSelector={"matchLabels": {"x": "y"}})
    new = an_object(NAMESPACES, "new", labels={"x": "y"})
    assert await called(room, a_review(new, served=NAMESPACES, namespace="new"))


async def test_another_version_is_converted_for_equivalent_and_passed_by_for_exact() -> None:
    room = Room()
    rules = [a_rule("widgets", group=WIDGETS)]
    room.hook("equivalent", rules=rules, matchPolicy="Equivalent")
    room.hook("exact", rules=rules, matchPolicy="Exact")
    await room.admission.validate(a_review(an_object(WIDGETS_V2), served=WIDGETS_V2))
    ((name, request),) = room.calls
    assert name == "equivalent"
    assert request["object"]["apiVersion"] == f"{WIDGETS}/v1"
    assert (request["kind"]["version"], request["requestKind"]["version"]) == ("v1", "v2")
    assert (request["resource"]["version"], request["requestResource"]["version"]) == ("v1", "v2")


async def test_a_patch_of_another_version_comes_back_in_the_requests() -> None:
    room = Room()
    rules = [a_rule("widgets", group=WIDGETS)]
    room.hook("hook", lambda _: patch(add("/spec", {"a": 1})), rules=rules, kind="mutating")
    review = a_review(an_object(WIDGETS_V2), served=WIDGETS_V2)
    await room.admission.mutate(review)
    assert review.new is not None
    assert (review.new["apiVersion"], review.new["spec"]) == (f"{WIDGETS}/v2", {"a": 1})


def condition(*expressions: str) -> list[Object]:
    return [{"name": f"c{n}", "expression": each} for n, each in enumerate(expressions)]


@pytest.mark.parametrize(
    ("expressions", "operations"),
    [
        (["true"], ["CREATE", "UPDATE", "DELETE"]),
        (["true", "request.operation == 'UPDATE'"], ["UPDATE"]),
        (["request.userInfo.username == 'admin'"], ["CREATE", "UPDATE", "DELETE"]),
        (["object == null"], ["DELETE"]),
        (["oldObject != null"], ["UPDATE", "DELETE"]),
        (["has(object.data) && object != oldObject"], ["CREATE", "UPDATE"]),
        (
            ["authorizer.group('').resource('pods').check('get').allowed()"],
            ["CREATE", "UPDATE", "DELETE"],
        ),
        (["object.data.missing == 'x'", "false"], []),
        (["object.?data.?missing.hasValue()"], []),
    ],
    ids=lambda value: value[-1] if value else "",
)
async def test_conditions_tell_what_is_reviewed(
    expressions: list[str], operations: list[str]
) -> None:
    room = Room()
    room.hook("hook", matchConditions=condition(*expressions))
    changed = {**a_map(), "data": {"a": "2"}}
    for review in (a_review(), a_review(changed, a_map()), a_review(None, a_map())):
        await room.admission.validate(review)
    assert [request["operation"] for _, request in room.calls] == operations


async def test_a_condition_that_fails_refuses_or_passes_by() -> None:
    room = Room()
    room.hook("hook", matchConditions=condition("object.data.missing == 'x'"))
    refusal = await room.refusal(a_review())
    title = "a matchCondition that fails refuses the request"
    assert refusal.status == seen("webhook_matching", title)
    room.hook(
        "hook",
        matchConditions=condition("object.data.missing == 'x'"),
        failurePolicy="Ignore",
    )
    assert not await called(room, a_review())


@pytest.mark.parametrize(
    ("title", "review"),
    [
        ("a refusal without a reason is 400 and says so", a_review()),
        (
            "a DELETE is reviewed with the old object only",
            a_review(None, a_map(), options={"propagationPolicy": "Background"}),
        ),
        (
            "a binding is reviewed as CREATE of a Binding and of nothing else",
            a_review(
                {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "a"}},
                served=PODS,
                subresource="binding",
                namespace="team",
            ),
        ),
        (
            "an eviction is reviewed as CREATE of an Eviction;"
            " the deletion it causes is not reviewed",
            a_review(
                {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}},
                served=PODS,
                subresource="eviction",
                namespace="team",
            ),
        ),
        (
            "a namespace is reviewed with its own name as namespace",
            a_review(
                an_object(NAMESPACES, "team"), an_object(NAMESPACES, "team"), served=NAMESPACES
            ),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_review_holds_what_the_real_server_sends(title: str, review: Review) -> None:
    room = Room()
    room.hook("hook", rules=[a_rule("*/*")])
    await room.admission.validate(review)
    ((_, request),) = room.calls
    (noted,) = [each for each in golden("webhooks", title) if "note" in each]
    expected = json.loads(json.dumps(noted["value"][-1]["request"]).replace("probe-<id>", "team"))
    for left in ("uid", "object", "oldObject", "options", "name"):
        assert (request.pop(left) is None) == (expected.pop(left) is None)
    assert request == expected


async def test_what_has_no_name_yet_is_reviewed_without() -> None:
    room = Room()
    room.hook("hook", kind="mutating")
    new = a_map()
    del new["metadata"]["name"]
    await room.admission.mutate(a_review(new))
    ((_, request),) = room.calls
    assert "name" not in request


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


PATCHES: dict[str, Object] = {
    "a patch without a patchType is an error": {"allowed": True, "patch": "W10="},
    "a patchType without a patch is an error": {"allowed": True, "patchType": "JSONPatch"},
    "a patch of another patchType is taken for a JSON patch": {
        **{"allowed": True, "patchType": "MergePatch"},
        "patch": "eyJkYXRhIjogeyJiIjogIjIifX0=",
    },
    "a patch that is no list of operations is an error": {
        **{"allowed": True, "patchType": "JSONPatch"},
        "patch": "eyJkYXRhIjogeyJiIjogIjIifX0=",
    },
    "a patch that is not base64 is an error": {
        **{"allowed": True, "patchType": "JSONPatch"},
        "patch": "%%%",
    },
    "a patch whose test fails is an error": patch({"op": "test", "path": "/data/a", "value": "9"}),
    "a patch that removes what is not there is an error": patch(
        {"op": "remove", "path": "/data/z"}
    ),
    "a patch with an unknown operation is an error": patch(
        {"op": "swap", "path": "/data/a", "value": "9"}
    ),
    "a patch that gives a field the wrong type is an error": patch(add("/data/a", 9)),
    "a patch that makes the kind unknown is an error": patch(add("/kind", "Nothing")),
    "a refusal with a patch is a refusal": {**patch(add("/data/b", "2")), "allowed": False},
}


@pytest.mark.parametrize("title", PATCHES)
async def test_a_bad_patch_is_told_as_the_real_server_does(title: str) -> None:
    room = Room()
    room.hook("mutate", lambda _: PATCHES[title], kind="mutating")
    refusal = await room.refusal(a_review(), mutating=True)
    assert refusal.status == seen("webhook_patches", title)


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        (add("/no/way", 1), 'add operation does not apply: doc is missing path: "/no/way"'),
        (
            {"op": "replace", "path": "/no/way", "value": 1},
            "replace operation does not apply: doc is missing path: /no/way",
        ),
        (
            {"op": "test", "path": "/no/way", "value": 1},
            "test operation does not apply: is missing path: /no/way",
        ),
        (
            {"op": "move", "from": "/no/way", "path": "/x"},
            "move operation does not apply: doc is missing from path: /no/way",
        ),
        (
            {"op": "remove", "path": "/metadata/finalizers/3"},
            "error in remove for path: '/metadata/finalizers/3': Unable to access invalid index: 3",
        ),
        ({"op": "add"}, "add operation failed to decode path"),
        ({}, "Unexpected kind: unknown"),
    ],
    ids=["add", "replace", "test", "move", "index", "no path", "nothing"],
)
async def test_a_patch_that_fails_is_told_with_its_place(operation: Object, said: str) -> None:
    room = Room()
    room.hook("mutate", lambda _: patch(operation), kind="mutating")
    review = a_review(a_map(finalizers=["a/b"]))
    assert said in (await room.refusal(review, mutating=True)).message


async def test_an_unknown_field_that_a_patch_adds_is_dropped() -> None:
    room = Room()
    room.hook("mutate", lambda _: patch(add("/colour", "red")), kind="mutating")
    review = a_review()
    await room.admission.mutate(review)
    assert review.new == a_map()


async def test_a_deletion_cannot_be_patched() -> None:
    room = Room()
    room.hook("mutate", lambda _: patch(add("/data/b", "2")), kind="mutating")
    refusal = await room.refusal(a_review(None, a_map()), mutating=True)
    assert "which is not supported for this operation" in refusal.message


async def test_a_patch_from_a_validating_webhook_is_an_error() -> None:
    room = Room()
    room.hook("mutate", lambda _: patch(add("/data/b", "2")))
    refusal = await room.refusal(a_review())
    assert refusal.status == seen(
        "webhook_patches", "a patch from a validating webhook is an error"
    )


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


async def test_a_change_of_a_configuration_counts_at_once() -> None:
    room = Room()
    room.hook("hook", objectSelector={"matchLabels": {"x": "y"}})
    assert not await called(room, a_review())
    room.hook("hook")
    assert await called(room, a_review())


async def test_rules_are_matched_once_for_alike_requests() -> None:
    room = Room()
    room.hook("hook", rules=[a_rule("pods")])
    for _ in range(3):
        assert not await called(room, a_review(served=MAPS))
    reads = room.shelves.reads
    assert not await called(room, a_review(served=MAPS))
    assert room.shelves.reads == reads
