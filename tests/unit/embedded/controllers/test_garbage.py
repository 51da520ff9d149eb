# SPDX-License-Identifier: Apache-2.0
"""What becomes of an object by its owners and dependents, and what a change makes one look at."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from trellis.api.meta import Resource
from trellis.embedded.controllers.collecting.deciding import (
    Action,
    Ask,
    Delete,
    Disown,
    Findings,
    LookAt,
    Release,
    decide,
)
from trellis.embedded.controllers.collecting.directory import Directory, Kind
from trellis.embedded.controllers.collecting.graph import (
    FOREGROUND,
    ORPHAN,
    Graph,
    Head,
    Place,
)

MAPS = Resource("", "v1", "ConfigMap", "configmaps")
CLASSES = Resource("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", namespaced=False)
DIRECTORY = Directory([Kind(MAPS), Kind(CLASSES)])


def by(name: str, **more: Any) -> dict[str, Any]:
    """A reference to the config map of that name."""
    named = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": f"uid-{name}"}
    return {**named, **more}


def head(name: str, *owners: dict[str, Any], **more: Any) -> Head:
    made = {
        "name": name,
        "namespace": "ns",
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        "ownerReferences": list(owners),
        **more,
    }
    if made.pop("deleting", False):
        made["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return msgspec.convert(made, Head)


def graph(*heads: Head, resource: Resource = MAPS) -> Graph:
    found = Graph()
    for each in heads:
        found.put(resource, each)
    return found


def decided(found: Graph, name: str, **findings: frozenset[str]) -> tuple[Action, ...]:
    return decide(found, DIRECTORY, f"uid-{name}", Findings(**findings))


def shown(action: Action) -> tuple[Any, ...]:
    match action:
        case Ask():
            return "ask", action.name
        case Delete():
            return "delete", action.node.head.name, action.policy
        case Disown():
            owners = tuple(sorted(action.owners))
            return ("unblock" if action.unblock else "disown"), action.node.head.name, owners
        case Release():
            return "release", action.node.head.name, action.finalizer
        case LookAt():
            return "look at", action.uids


WAITING = {"deleting": True, "finalizers": [FOREGROUND]}
BLOCKING = {"blockOwnerDeletion": True}
CASES: dict[str, tuple[list[Head], list[tuple[Any, ...]]]] = {
    "nobody owns it": ([head("x")], []),
    "its owner is there": ([head("a"), head("x", by("a"))], []),
    "its owner is unknown": ([head("x", by("a"))], [("ask", "a")]),
    "its owner has another uid": ([head("a"), head("x", by("a", uid="other"))], [("ask", "a")]),
    "its owner is going and waits for nobody": (
        [head("a", deleting=True, finalizers=["b"]), head("x", by("a"))],
        [],
    ),
    "its owner waits for it": (
        [head("a", **WAITING), head("x", by("a", **BLOCKING))],
        [("delete", "x", "Background")],
    ),
    "its owner waits, and it has dependents": (
        [head("a", **WAITING), head("x", by("a", **BLOCKING)), head("y", by("x"))],
        [("delete", "x", "Foreground")],
    ),
    "its owner waits, and so does its dependent": (
        [
            head("a", **WAITING),
            head("x", by("a", **BLOCKING)),
            head("y", by("x", **BLOCKING), **WAITING),
        ],
        [("unblock", "x", ("uid-a",)), ("delete", "x", "Foreground")],
    ),
    "one owner waits, another stays": (
        [head("a", **WAITING), head("b"), head("x", by("a"), by("b"))],
        [("disown", "x", ("uid-a",))],
    ),
    "it goes and leaves orphans": (
        [head("x", deleting=True, finalizers=[ORPHAN]), head("y", by("x"))],
        [("disown", "y", ("uid-x",)), ("release", "x", ORPHAN)],
    ),
    "it waits for one that blocks": (
        [head("x", **WAITING), head("y", by("x", **BLOCKING))],
        [("look at", ("uid-y",))],
    ),
    "it waits for one that is going": (
        [head("x", **WAITING), head("y", by("x", **BLOCKING), deleting=True, finalizers=["f"])],
        [],
    ),
    "it waits for nobody that blocks": (
        [head("x", **WAITING), head("y", by("x"))],
        [("release", "x", FOREGROUND)],
    ),
    "it is going for another reason": ([head("x", by("a"), deleting=True)], []),
    "its owner's kind is not known": ([head("x", by("a", kind="Odd"))], []),
}


@pytest.mark.parametrize(("heads", "expected"), CASES.values(), ids=CASES)
def test_what_becomes_of_an_object(heads: list[Head], expected: list[tuple[Any, ...]]) -> None:
    assert [shown(action) for action in decided(graph(*heads), "x")] == expected


def test_an_object_whose_only_owner_is_gone_is_deleted() -> None:
    found = graph(head("x", by("a")))
    assert [shown(one) for one in decided(found, "x", gone=frozenset({"uid-a"}))] == [
        ("delete", "x", "Background")
    ]


def test_an_owner_that_the_server_still_has_keeps_its_dependent() -> None:
    assert decided(graph(head("x", by("a"))), "x", there=frozenset({"uid-a"})) == ()


def test_of_two_owners_the_dead_one_is_struck_off() -> None:
    found = graph(head("b"), head("x", by("a"), by("b")))
    gone = frozenset({"uid-a"})
    assert [shown(one) for one in decided(found, "x", gone=gone)] == [("disown", "x", ("uid-a",))]


def test_an_owner_that_was_seen_to_go_need_not_be_asked_for() -> None:
    found = graph(head("a"), head("x", by("a")))
    assert found.remove(Place("configmaps", "ns", "a")) == ["uid-x"]
    assert [shown(one) for one in decided(found, "x")] == [("delete", "x", "Background")]


def test_an_owner_whose_kind_was_forgotten_is_asked_for() -> None:
    found = graph(head("a"), head("x", by("a")))
    found.forget(Place("configmaps", "ns", "a"))
    assert [shown(one) for one in decided(found, "x")] == [("ask", "a")]


def test_an_owner_in_another_namespace_is_no_owner() -> None:
    found = graph(head("a", namespace="elsewhere"), head("x", by("a")))
    assert [shown(one) for one in decided(found, "x")] == [("ask", "a")]


def test_a_cluster_wide_dependent_of_a_namespaced_owner_is_left_alone() -> None:
    found = graph(head("x", by("a"), namespace=""), resource=CLASSES)
    assert decided(found, "x") == ()


def test_an_owner_that_was_never_seen_and_is_gone_wakes_its_dependents() -> None:
    found = graph(head("x", by("a")), head("y", by("b")))
    assert found.remove(Place("configmaps", "ns", "a")) == ["uid-x"]


def test_a_name_that_passes_to_another_object_wakes_the_dependents_of_the_first() -> None:
    found = graph(head("a"), head("x", by("a")))
    assert found.put(MAPS, head("a", uid="second")) == ["uid-x", "second"]


def test_an_owner_that_waits_looks_again_when_a_dependent_is_gone_or_stops_blocking() -> None:
    found = graph(head("a", **WAITING), head("x", by("a", **BLOCKING)), head("y", by("a")))
    assert "uid-a" in found.put(MAPS, head("x", by("a")))
    assert "uid-a" in found.remove(Place("configmaps", "ns", "y"))


def test_a_change_that_concerns_neither_owners_nor_end_is_nobodys_business() -> None:
    found = graph(head("x", by("a")))
    assert found.put(MAPS, head("x", by("a"), resourceVersion="2", finalizers=["b"])) == []
