# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.embedded.admission.builders import (
    NAMESPACES,
    NODES,
    Room,
    a_kind,
    a_map,
    a_review,
    an_object,
)

if TYPE_CHECKING:
    from trellis.embedded.asking import Object, Review

GOING = {"phase": "Terminating"}


def elsewhere(namespace: str) -> Object:
    item = a_map()
    item["metadata"]["namespace"] = namespace
    return item


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE"])
async def test_what_is_written_into_a_namespace_that_is_not_there_is_404(operation: str) -> None:
    new = elsewhere("none")
    review = a_review(new, None if operation == "CREATE" else new)
    refusal = await Room().refusal(review, mutating=True)
    assert refusal.status["message"] == 'namespaces "none" not found'
    assert refusal.code == 404


@pytest.mark.parametrize(
    ("metadata", "name"),
    [({"name": "a"}, "a"), ({"generateName": "b-"}, "b-"), ({}, "Unknown")],
    ids=["named", "to be named", "nameless"],
)
async def test_nothing_is_made_in_a_namespace_that_is_going(
    metadata: dict[str, str], name: str
) -> None:
    room = Room()
    room.put("", NAMESPACES, {"name": "team"}, status=GOING)
    new = {**a_map(), "metadata": {**metadata, "namespace": "team"}}
    status = (await room.refusal(a_review(new), mutating=True)).status
    why = "unable to create new content in namespace team because it is being terminated"
    assert status["message"] == f'configmaps "{name}" is forbidden: {why}'
    assert status["details"]["causes"] == [
        {
            "reason": "NamespaceTerminating",
            "message": "namespace team is being terminated",
            "field": "metadata.namespace",
        }
    ]


async def test_what_is_there_may_still_change_in_a_namespace_that_is_going() -> None:
    room = Room()
    room.put("", NAMESPACES, {"name": "team"}, status=GOING)
    await room.admission.mutate(a_review(a_map(), a_map()))
    await room.admission.mutate(a_review(None, a_map()))


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
async def test_some_namespaces_may_not_be_deleted(name: str) -> None:
    review = a_review(None, an_object(NAMESPACES, name), served=NAMESPACES)
    refusal = await Room().refusal(review, mutating=True)
    assert refusal.message == f'namespaces "{name}" is forbidden: this namespace may not be deleted'


REVIEWS = a_kind(
    "LocalSubjectAccessReview", "localsubjectaccessreviews", group="authorization.k8s.io"
)


@pytest.mark.parametrize(
    "review",
    [
        a_review(None, an_object(NAMESPACES, "team"), served=NAMESPACES),
        a_review(an_object(NAMESPACES, "new"), served=NAMESPACES, namespace="new"),
        a_review(an_object(NODES), served=NODES),
        a_review(None, elsewhere("none")),
        a_review(elsewhere("none"), served=REVIEWS),
        a_review(elsewhere("none"), operation="CONNECT"),
    ],
    ids=["a namespace", "a new one", "cluster-scoped", "deleted", "a review", "connected"],
)
async def test_others_need_no_namespace(review: Review) -> None:
    await Room().admission.mutate(review)


async def test_a_namespace_that_came_is_noticed_at_once() -> None:
    room = Room()
    await room.refusal(a_review(elsewhere("late")), mutating=True)
    room.put("", NAMESPACES, {"name": "late"})
    await room.admission.mutate(a_review(elsewhere("late")))
