# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.workloads.sets import a_clique, a_set_body
from trellis.api.grove.podclique import PodClique, PodCliqueSpec, PodCliqueStatus
from trellis.api.labels import (
    PART_OF,
    SCALING_GROUP,
    SCALING_GROUP_REPLICA_INDEX,
    SHORT_CLIQUE_NAME,
)
from trellis.api.meta import Key, Metadata
from trellis.kube.events import Snapshot
from trellis.workloads.admission.policy import NOTHING, Stored
from trellis.workloads.admission.subject import Document, Subject, subject
from trellis.workloads.admission.switching import changed_cliques, pods_to_roll, switching
from trellis.workloads.admission.view import stored
from trellis.workloads.caches import Caches

OTHER = {"containers": [{"name": "main", "image": "registry.example/app:2"}]}


def a_subject(strategy: str | None, *cliques: dict[str, Any], **template: Any) -> Subject:
    body = a_set_body("llm", *(cliques or (a_clique("w", 4),)), **template)
    if strategy is not None:
        body["spec"]["updateStrategy"] = {"type": strategy}
    return subject(msgspec.json.decode(msgspec.json.encode(body), type=Document))


def counting(count: int) -> Stored:
    return Stored(rolled_at=lambda key, _: count if key == Key("default", "llm") else -1)


@pytest.mark.parametrize(
    ("before", "after", "seen", "said"),
    [
        ("OnDelete", "RollingRecreate", counting(3), ": 3 pods will be replaced"),
        ("OnDelete", None, counting(1), ": 1 pod will be replaced"),
        ("OnDelete", "RollingRecreate", NOTHING, ": pods will be replaced"),
        ("OnDelete", "RollingRecreate", counting(0), ""),
        ("OnDelete", "OnDelete", counting(3), ""),
        ("RollingRecreate", "OnDelete", counting(3), ""),
        (None, "RollingRecreate", counting(3), ""),
    ],
)
def test_a_switch_to_rolling_says_how_many_pods_it_will_replace(
    before: str | None, after: str | None, seen: Stored, said: str
) -> None:
    found = list(switching(a_subject(after), a_subject(before), seen))
    if not said:
        assert found == []
        return
    (warning,) = found
    assert warning.startswith("spec.updateStrategy.type: ")
    assert said in warning


def a_told(
    name: str, updated: int, owner: str = "llm", group: tuple[str, ...] = (), clique: str = "w"
) -> PodClique:
    """A PodClique that says how many of its three pods have its template."""
    keys = (SCALING_GROUP, SCALING_GROUP_REPLICA_INDEX)
    labels = {PART_OF: owner, SHORT_CLIQUE_NAME: clique, **dict(zip(keys, group, strict=False))}
    return PodClique(
        metadata=Metadata(name=name, namespace="default", labels=labels),
        spec=PodCliqueSpec(role_name="w", replicas=3, pod_spec=msgspec.Raw(b"{}")),
        status=PodCliqueStatus(replicas=3, updated_replicas=updated),
    )


def test_they_are_counted_by_what_the_podcliques_of_the_set_say() -> None:
    caches = Caches()
    cliques = [a_told("a", 1), a_told("b", 3), a_told("c", 0, owner="other")]
    caches.cliques.replace(Snapshot(cliques, "7"))
    count = stored(caches).rolled_at
    assert count is not None
    assert count(Key("default", "llm"), ()) == 2


def test_with_another_template_in_the_same_breath_all_pods_of_that_clique_are_counted() -> None:
    caches = Caches()
    cliques = [a_told("a", 3, clique="w"), a_told("b", 2, clique="w"), a_told("c", 2, clique="v")]
    caches.cliques.replace(Snapshot(cliques, "7"))
    old = a_subject("OnDelete", a_clique("w", 3), a_clique("v", 3))
    new = a_subject("RollingRecreate", a_clique("w", 3, podSpec=OTHER), a_clique("v", 3))
    (warning,) = switching(new, old, stored(caches))
    assert ": 7 pods will be replaced" in warning


@pytest.mark.parametrize(
    ("new", "changed"),
    [
        pytest.param(a_subject(None, a_clique("w"), a_clique("v")), set(), id="nothing"),
        pytest.param(a_subject(None, a_clique("w", 9), a_clique("v")), set(), id="a scale"),
        pytest.param(
            a_subject(None, a_clique("w", podSpec=OTHER), a_clique("v")), {"w"}, id="a pod spec"
        ),
        pytest.param(
            a_subject(None, a_clique("w"), a_clique("v", labels={"a": "b"})), {"v"}, id="a label"
        ),
        pytest.param(
            a_subject(None, a_clique("w"), a_clique("v"), priorityClassName="high"),
            {"v", "w"},
            id="the priority of the whole set",
        ),
        pytest.param(a_subject(None, a_clique("w"), a_clique("u")), set(), id="another clique"),
    ],
)
def test_a_clique_is_changed_where_its_pods_would_be_others(
    new: Subject, changed: set[str]
) -> None:
    old = a_subject("OnDelete", a_clique("w"), a_clique("v"))
    assert changed_cliques(new, old) == changed


@pytest.mark.parametrize("pod_spec", [None, [], 1, {"containers": [1]}])
def test_a_pod_spec_that_cannot_be_read_is_no_change(pod_spec: Any) -> None:
    new = a_subject(None, a_clique("w", podSpec=pod_spec), priorityClassName="high")
    assert changed_cliques(new, a_subject("OnDelete", a_clique("w"))) == set()


@pytest.mark.parametrize(
    ("group", "changed", "count"),
    [
        pytest.param((), {"w"}, 3, id="outside of groups, all of that clique and no other"),
        pytest.param((), {"v", "w"}, 6, id="outside of groups, all of both"),
        pytest.param(("x", "0"), {"w"}, 6, id="the whole replica of a group"),
        pytest.param(("x", "0"), {"other"}, 0, id="a clique that is not in the group"),
    ],
)
def test_what_podcliques_say_does_not_count_for_a_changed_template(
    group: tuple[str, ...], changed: set[str], count: int
) -> None:
    cliques = [a_told("a", 3, group=group, clique="w"), a_told("b", 3, group=group, clique="v")]
    assert pods_to_roll(cliques, changed) == count


@pytest.mark.parametrize(
    ("cliques", "count"),
    [
        pytest.param([a_told("a", 2), a_told("b", 3)], 1, id="outside of groups, pod by pod"),
        pytest.param(
            [a_told("x-0-a", 2, group=("x", "0")), a_told("x-0-b", 3, group=("x", "0"))],
            6,
            id="a replica of a group with all that is in it",
        ),
        pytest.param(
            [a_told("x-0-a", 2, group=("x", "0")), a_told("x-1-a", 3, group=("x", "1"))],
            3,
            id="another replica of that group is all new",
        ),
        pytest.param(
            [a_told("x-0-a", 2, group=("x", "0")), a_told("y-0-a", 3, group=("y", "0"))],
            3,
            id="another group is all new",
        ),
    ],
)
def test_a_replica_of_a_scaling_group_counts_as_a_whole(
    cliques: list[PodClique], count: int
) -> None:
    assert pods_to_roll(cliques) == count
