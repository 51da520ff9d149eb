# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.embedded.admission.builders import (
    WIDGETS,
    WIDGETS_V2,
    Room,
    a_map,
    a_review,
    a_rule,
    add,
    an_object,
    patch,
    seen,
)

if TYPE_CHECKING:
    from trellis.embedded.asking import Object


async def test_a_patch_of_another_version_comes_back_in_the_requests() -> None:
    room = Room()
    rules = [a_rule("widgets", group=WIDGETS)]
    room.hook("hook", lambda _: patch(add("/spec", {"a": 1})), rules=rules, kind="mutating")
    review = a_review(an_object(WIDGETS_V2), served=WIDGETS_V2)
    await room.admission.mutate(review)
    assert review.new is not None
    assert (review.new["apiVersion"], review.new["spec"]) == (f"{WIDGETS}/v2", {"a": 1})


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
