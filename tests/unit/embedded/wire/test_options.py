# SPDX-License-Identifier: Apache-2.0
"""What queries and bodies ask for, and what is refused before any object is looked at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.embedded.wire.builders import ask, customs, golden, natives, refusal
from trellis.embedded.exchange import Ask
from trellis.embedded.refusals import Refusal
from trellis.embedded.wire.options import (
    DeleteOptions,
    ListOptions,
    WriteOptions,
    check_timeout,
    delete_options,
    list_options,
    list_version,
    object_version,
    patch_options,
    write_options,
)

if TYPE_CHECKING:
    from trellis.embedded.served import Served

_PATH = re.compile(r"/(?:api|apis/(?P<group>[^/]+))/[^/]+/(?:namespaces/[^/]+/)?(?P<plural>[^/?]+)")
LISTS = [
    (f"{area}: {title} ({place})", seen)
    for area in ("list", "list_selectors", "watch", "watch_list", "resource_versions")
    for title, observed in golden(area).items()
    for place, seen in enumerate(observed)
    if seen.get("status") in (400, 422)
    and seen["request"].startswith("GET")
    and "continue=" not in seen["request"]
    and not seen["body"]["message"].startswith("invalid resource version")
]


def served_at(path: str) -> Served:
    found = _PATH.match(path)
    assert found is not None
    group, plural = found["group"] or "", found["plural"]
    return next(
        each for each in (*natives(), *customs()) if (each.group, each.plural) == (group, plural)
    )


@pytest.mark.parametrize("seen", [seen for _, seen in LISTS], ids=[name for name, _ in LISTS])
def test_a_list_or_watch_is_refused_as_recorded(seen: dict[str, Any]) -> None:
    path, _, query = seen["request"].removeprefix("GET ").replace("<rv>", "1").partition("?")
    pairs = tuple(parse_qsl(query, keep_blank_values=True))
    with pytest.raises(Refusal) as refused:
        list_options(Ask(method="GET", path=path, query=pairs), served_at(path))
    body = seen["body"]
    assert refused.value.code == seen["status"]
    assert refused.value.message == body["message"]
    causes = body.get("details", {}).get("causes", [])
    told = (refused.value.details or {}).get("causes", [])
    assert sorted(map(str, told)) == sorted(str(_ordered(cause)) for cause in causes)


def _ordered(cause: dict[str, str]) -> dict[str, str]:
    return {name: cause[name] for name in ("reason", "message", "field")}


def test_the_options_of_a_list_are_read() -> None:
    query = {
        "labelSelector": "a=b",
        "fieldSelector": "metadata.name=x",
        "watch": "",
        "allowWatchBookmarks": "TRUE",
        "resourceVersion": "5",
        "timeoutSeconds": "7",
        "limit": "-3",
    }
    found = list_options(ask(query=query), served_at("/api/v1/pods"))
    assert found.watch
    assert found.bookmarks
    assert (found.resource_version, found.timeout, found.limit) == ("5", 7, 0)
    assert found.labels.matches({"a": "b"})
    assert found.fields.equal("metadata.name") == "x"


def test_no_query_asks_for_everything() -> None:
    assert list_options(ask(), served_at("/api/v1/pods")) == ListOptions()


@pytest.mark.parametrize("word", ["0", "false", "FALSE"])
def test_only_these_words_are_false(word: str) -> None:
    found = list_options(ask(query={"watch": word}), served_at("/api/v1/pods"))
    assert not found.watch


WRITES = [
    (f"{area}: {title} ({place})", seen)
    for area in ("dry_run", "field_validation", "apply_refusals")
    for title, observed in golden(area).items()
    for place, seen in enumerate(observed)
    if seen.get("status") == 422
    and "Options.meta" in seen["body"]["message"]
    # What a body says is not recorded.
    and ("?" in seen["request"] or "fieldManager" in seen["body"]["message"])
]


@pytest.mark.parametrize("seen", [seen for _, seen in WRITES], ids=[name for name, _ in WRITES])
def test_a_write_is_refused_as_recorded(seen: dict[str, Any]) -> None:
    method, _, rest = seen["request"].partition(" ")
    path, _, query = rest.partition("?")
    pairs = tuple(parse_qsl(query, keep_blank_values=True))
    asked = Ask(method=method, path=path, query=pairs)
    message, kind = seen["body"]["message"], seen["body"]["details"]["kind"]
    reading = {
        "PATCH": lambda: patch_options(asked, apply="fieldManager: Required" in message),
        "DELETE": lambda: delete_options(asked, None),
    }
    refused = refusal(reading.get(method) or (lambda: write_options(asked, kind)))
    assert refused is not None
    assert refused.message == message
    assert refused.status["details"]["kind"] == kind


def test_the_options_of_a_write_are_read_and_told_to_admission() -> None:
    query = {"fieldManager": "me", "dryRun": "All", "fieldValidation": "Strict"}
    found = write_options(ask(query=query), "CreateOptions")
    assert (found.field_manager, found.field_validation, found.dry_run) == ("me", "Strict", True)
    assert found.spoken("CreateOptions") == {
        "kind": "CreateOptions",
        "apiVersion": "meta.k8s.io/v1",
        "dryRun": ["All"],
        "fieldManager": "me",
        "fieldValidation": "Strict",
    }


def test_a_write_that_says_nothing_is_warned_of_unknown_fields() -> None:
    assert write_options(ask(), "UpdateOptions") == WriteOptions()
    assert WriteOptions().field_validation == "Warn"


@pytest.mark.parametrize(
    ("manager", "why"),
    [
        ("m" * 129, "fieldManager: Too long: may not be more than 128 bytes"),
        ("a\nb", "invalid character U+000A (at position 1)"),
    ],
    ids=["too long", "not printable"],
)
def test_a_manager_that_cannot_be(manager: str, why: str) -> None:
    with pytest.raises(Refusal, match=re.escape(why)):
        write_options(ask(query={"fieldManager": manager}), "CreateOptions")


def test_force_is_of_patches_alone() -> None:
    assert patch_options(ask(query={"fieldManager": "m", "force": ""}), apply=True).force is True
    assert write_options(ask(query={"force": "1"}), "CreateOptions").force is None


DELETES = [
    ("gracePeriodSeconds", "x", "string into Go struct field DeleteOptions.gracePeriodSeconds"),
    (
        "orphanDependents",
        1,
        "number into Go struct field DeleteOptions.orphanDependents of type bool",
    ),
    ("preconditions", [], "array into Go struct field DeleteOptions.preconditions"),
    ("dryRun", [1], "number into Go struct field DeleteOptions.dryRun of type string"),
]


@pytest.mark.parametrize(("name", "value", "why"), DELETES, ids=[name for name, *_ in DELETES])
def test_a_body_of_wrong_types_is_400(name: str, value: Any, why: str) -> None:
    with pytest.raises(Refusal, match=re.escape(why)) as refused:
        delete_options(ask(method="DELETE"), {name: value})
    assert refused.value.code == 400


REFUSED_DELETES: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown policy": (
        {"propagationPolicy": "Slow"},
        'Unsupported value: "Slow": supported values: "Foreground", "Background", "Orphan", "nil"',
    ),
    "two policies": (
        {"propagationPolicy": "Background", "orphanDependents": True},
        'Invalid value: "Background": orphanDependents and deletionPropagation cannot be both set',
    ),
}


@pytest.mark.parametrize("case", REFUSED_DELETES)
def test_a_deletion_is_refused_for(case: str) -> None:
    body, why = REFUSED_DELETES[case]
    with pytest.raises(Refusal, match=re.escape(why)) as refused:
        delete_options(ask(), body)
    assert refused.value.code == 422


def test_the_body_of_a_deletion_wins_over_its_query() -> None:
    query = {"gracePeriodSeconds": "5", "propagationPolicy": "Orphan"}
    assert delete_options(ask(query=query), None).grace == 5
    body = {"preconditions": {"uid": "u"}, "gracePeriodSeconds": 0}
    found = delete_options(ask(query=query), body)
    assert (found.grace, found.uid, found.propagation) == (0, "u", "")
    assert found.spoken("DeleteOptions")["preconditions"] == {"uid": "u"}
    assert delete_options(ask(), None) == DeleteOptions(said={})


def test_a_version_that_is_no_number_is_400_of_a_list_and_500_of_anything_else() -> None:
    with pytest.raises(Refusal) as of_list:
        list_version("x")
    with pytest.raises(Refusal) as of_object:
        object_version("x")
    recorded = [seen for observed in golden("resource_versions").values() for seen in observed]
    messages = {seen["body"]["message"] for seen in recorded if seen.get("status") in (400, 500)}
    assert of_list.value.message in messages
    assert of_object.value.message in messages
    assert (of_list.value.code, of_object.value.code) == (400, 500)
    assert list_version("") == object_version("") == 0


def test_a_timeout_must_be_a_duration() -> None:
    for seen in golden("routing")[
        "an unknown query parameter is ignored, a timeout must be a duration"
    ]:
        query = dict(parse_qsl(seen["request"].partition("?")[2]))
        if seen["status"] == 200:
            check_timeout(ask(query=query))
            continue
        with pytest.raises(Refusal) as refused:
            check_timeout(ask(query=query))
        assert refused.value.message == seen["body"]["message"]


_KEYS = (
    "limit",
    "watch",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeoutSeconds",
    "continue",
)


@given(st.lists(st.tuples(st.sampled_from(_KEYS), st.text(max_size=8)), max_size=6))
def test_no_query_of_a_list_does_anything_but_be_read_or_refused(pairs: list[Any]) -> None:
    asked = Ask(method="GET", path="/", query=tuple(pairs))
    refused = refusal(lambda: list_options(asked, served_at("/api/v1/pods")))
    assert refused is None or refused.code in (400, 422)
