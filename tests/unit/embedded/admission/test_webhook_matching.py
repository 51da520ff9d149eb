# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

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
    an_object,
    called,
    golden,
    seen,
)

if TYPE_CHECKING:
    from trellis.embedded.asking import Object, Review

WATCHED: dict[str, Any] = {"labels": {"x": "y"}}


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
