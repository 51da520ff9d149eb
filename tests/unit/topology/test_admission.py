# SPDX-License-Identifier: Apache-2.0
"""What may be written as a topology, and by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.support.topologies import KEYS
from trellis.topology.admission import binding_handler, clustertopology_handler
from trellis.webhooks.review import Review
from trellis.webhooks.verdict import ALLOWED, Denied

if TYPE_CHECKING:
    from trellis.webhooks.verdict import Verdict

OPERATOR = "system:serviceaccount:grove-system:grove-operator"
GARBAGE_COLLECTOR = "system:serviceaccount:kube-system:generic-garbage-collector"
HANDLE = clustertopology_handler(OPERATOR)
GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
RACK_AND_HOST = [("rack", KEYS["rack"]), ("host", KEYS["host"])]
MANAGED, THEIRS = "grove-topology", "mine"

Levels = list[tuple[str, str]]


def a_body(name: str, levels: Levels, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "ClusterTopology",
        "metadata": {"name": name, **metadata},
        "spec": {"levels": [{"domain": domain, "key": key} for domain, key in levels]},
    }


def a_review(
    operation: str,
    new: dict[str, Any] | None = None,
    old: dict[str, Any] | None = None,
    *,
    user: str = "ann",
    **more: Any,
) -> Review:
    request = {
        "uid": "review",
        "operation": operation,
        "kind": {"group": "grove.io", "version": "v1alpha1", "kind": "ClusterTopology"},
        "resource": {"group": "grove.io", "version": "v1alpha1", "resource": "clustertopologies"},
        "userInfo": {"username": user},
        "object": new,
        "oldObject": old,
        **more,
    }
    return msgspec.json.decode(msgspec.json.encode(request), type=Review)


def created(levels: Levels) -> Review:
    return a_review("CREATE", a_body(THEIRS, levels))


def changed(old: Levels, new: Levels, **metadata: Any) -> Review:
    return a_review("UPDATE", a_body(THEIRS, new, **metadata), a_body(THEIRS, old, **metadata))


def causes(verdict: Verdict) -> list[tuple[str, str]]:
    if not isinstance(verdict, Denied):
        return []
    assert (verdict.code, verdict.reason) == (422, "Invalid")
    return [(cause.field, cause.reason) for cause in verdict.causes]


DUPLICATE, INVALID = "FieldValueDuplicate", "FieldValueInvalid"


@pytest.mark.parametrize(
    ("levels", "want"),
    [
        pytest.param([("rack", "a")], [], id="one level"),
        pytest.param(list(KEYS.items()), [], id="all seven levels"),
        pytest.param(
            [("host", KEYS["host"]), ("zone", KEYS["zone"])], [], id="levels in any order"
        ),
        pytest.param([("rack", f"{'p' * 50}.example.com/x")], [], id="a key with a long prefix"),
        pytest.param(
            [("rack", "a"), ("rack", "b")],
            [("spec.levels[1].domain", DUPLICATE)],
            id="a domain twice",
        ),
        pytest.param(
            [("rack", "a"), ("host", "a")], [("spec.levels[1].key", DUPLICATE)], id="a key twice"
        ),
        pytest.param(
            [("rack", "a"), ("host", "b"), ("rack", "a")],
            [("spec.levels[2].domain", DUPLICATE), ("spec.levels[2].key", DUPLICATE)],
            id="both twice",
        ),
        pytest.param(
            [("rack", "Example.com/rack"), ("host", "b")],
            [("spec.levels[0].key", INVALID)],
            id="an upper-case prefix, which no node label has",
        ),
        pytest.param([("rack", "")], [("spec.levels[0].key", INVALID)], id="an empty key"),
        pytest.param(
            [("rack", "rack\n")], [("spec.levels[0].key", INVALID)], id="a key with a line break"
        ),
        pytest.param(
            [("rack", "a"), ("host", "a/b/c")],
            [("spec.levels[1].key", INVALID)],
            id="a key with two slashes",
        ),
        pytest.param(
            [("rack", "r" * 64)], [("spec.levels[0].key", INVALID)], id="a key that is too long"
        ),
    ],
)
def test_levels(levels: Levels, want: list[tuple[str, str]]) -> None:
    assert causes(HANDLE(created(levels))) == want
    assert causes(binding_handler(created(levels))) == want
    assert causes(HANDLE(changed(RACK_AND_HOST, levels))) == want


def test_a_cause_names_the_value_and_what_is_wrong() -> None:
    verdict = HANDLE(created([("rack", "a"), ("host", "a"), ("zone", 'x"y')]))
    assert isinstance(verdict, Denied)
    assert [cause.message for cause in verdict.causes] == [
        'Duplicate value: "a": spec.levels[0] has it already',
        'Invalid value: "x\\"y": as the key of a node label it must be letters, digits, '
        "'-', '_' and '.', with a letter or digit at both ends",
    ]


def test_a_hostile_value_is_not_repeated_at_length() -> None:
    verdict = HANDLE(created([("rack", "x" * 100_000)]))
    assert isinstance(verdict, Denied)
    assert len(verdict.message) < 500


ODD: Levels = [("rack", "Example.com/rack"), ("host", "b")]


@pytest.mark.parametrize(
    ("review", "want"),
    [
        pytest.param(changed(ODD, ODD), [], id="what is left as it was may stay"),
        pytest.param(
            changed(ODD, [*ODD, ("zone", "c")]), [], id="beside a level that is added to it"
        ),
        pytest.param(changed(ODD, ODD[::-1]), [], id="at another place in the list"),
        pytest.param(
            changed(ODD, [*ODD, ("zone", "Example.com/zone")]),
            [("spec.levels[2].key", INVALID)],
            id="but another like it may not come",
        ),
        pytest.param(
            changed(RACK_AND_HOST, ODD),
            [("spec.levels[0].key", INVALID)],
            id="nor may it come where it was not",
        ),
        pytest.param(
            changed([("rack", "a"), ("host", "a")], [("rack", "a"), ("host", "a"), ("zone", "b")]),
            [],
            id="a key that was twice there may stay so",
        ),
        pytest.param(
            changed([("rack", "a"), ("host", "a")], [("rack", "a"), ("rack", "a")]),
            [("spec.levels[1].domain", DUPLICATE)],
            id="which excuses no domain that is twice there",
        ),
        pytest.param(
            changed(RACK_AND_HOST, ODD, **GOING), [], id="what is being deleted may be anything"
        ),
        pytest.param(a_review("DELETE", old=a_body(THEIRS, ODD)), [], id="anything may be deleted"),
        pytest.param(
            a_review(
                "UPDATE", a_body(THEIRS, ODD), a_body(THEIRS, RACK_AND_HOST), subResource="status"
            ),
            [],
            id="a status says nothing about levels",
        ),
    ],
)
def test_ratchet(review: Review, want: list[tuple[str, str]]) -> None:
    assert causes(HANDLE(review)) == want
    assert causes(binding_handler(review)) == want


def written(operation: str, name: str, user: str, **more: Any) -> Review:
    body = a_body(name, RACK_AND_HOST)
    new = None if operation == "DELETE" else body
    old = None if operation == "CREATE" else body
    return a_review(operation, new, old, user=user, **more)


@pytest.mark.parametrize("operation", ["CREATE", "UPDATE", "DELETE"])
@pytest.mark.parametrize(
    ("name", "user", "allowed"),
    [
        pytest.param(MANAGED, OPERATOR, True, id="the operator writes its own"),
        pytest.param(MANAGED, "ann", False, id="nobody else writes it"),
        pytest.param(MANAGED, "", False, id="nor does nobody"),
        pytest.param(MANAGED, "grove-operator", False, id="nor does a user of a like name"),
        pytest.param(
            MANAGED, "system:serviceaccount:team:grove-operator", False, id="nor in a namespace"
        ),
        pytest.param(MANAGED, f"{OPERATOR}-2", False, id="nor one whose name begins so"),
        pytest.param(MANAGED, OPERATOR.upper(), False, id="nor one that shouts"),
        pytest.param(THEIRS, "ann", True, id="anybody writes another"),
        pytest.param(THEIRS, OPERATOR, True, id="the operator may write another"),
        pytest.param("grove-topology-2", "ann", True, id="a name that begins so is another"),
    ],
)
def test_who_may_write(operation: str, name: str, user: str, allowed: bool) -> None:
    verdict = HANDLE(written(operation, name, user))
    if allowed:
        assert verdict == ALLOWED
    else:
        assert isinstance(verdict, Denied)
        assert (verdict.code, verdict.reason) == (403, "Forbidden")
        assert "change clusterTopology in the operator's configuration" in verdict.message


def test_deleting_all_topologies_at_once_does_not_get_past_the_guard() -> None:
    review = written("DELETE", MANAGED, "ann")
    assert not review.name
    assert isinstance(HANDLE(review), Denied)


def test_a_status_is_guarded_too() -> None:
    review = written("UPDATE", MANAGED, "ann", subResource="status")
    assert isinstance(HANDLE(review), Denied)


def leaving(new: Levels, finalizers: list[str]) -> Review:
    before = a_body(MANAGED, RACK_AND_HOST, finalizers=["foregroundDeletion"], **GOING)
    after = a_body(MANAGED, new, finalizers=finalizers, **GOING)
    return a_review("UPDATE", after, before, user=GARBAGE_COLLECTOR)


def test_the_collector_may_take_finalizers_off_what_is_being_deleted() -> None:
    assert HANDLE(leaving(RACK_AND_HOST, [])) == ALLOWED


def test_what_is_being_deleted_is_not_open_to_changes() -> None:
    assert isinstance(HANDLE(leaving([("rack", "a")], [])), Denied)
