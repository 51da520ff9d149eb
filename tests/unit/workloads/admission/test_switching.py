# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.workloads.sets import a_clique, a_set_body
from trellis.api.grove.podclique import PodClique, PodCliqueSpec, PodCliqueStatus
from trellis.api.labels import PART_OF, SCALING_GROUP, SCALING_GROUP_REPLICA_INDEX
from trellis.api.meta import Key, Metadata
from trellis.kube.events import Snapshot
from trellis.workloads.admission.policy import NOTHING, Stored
from trellis.workloads.admission.subject import Document, Subject, subject
from trellis.workloads.admission.switching import pods_to_roll, switching
from trellis.workloads.admission.view import stored
from trellis.workloads.caches import Caches


def a_subject(strategy: str | None) -> Subject:
    body: dict[str, Any] = a_set_body("llm", a_clique("w", 4))
    if strategy is not None:
        body["spec"]["updateStrategy"] = {"type": strategy}
    return subject(msgspec.json.decode(msgspec.json.encode(body), type=Document))


def counting(count: int) -> Stored:
    return Stored(rolled_at=lambda key: count if key == Key("default", "llm") else -1)


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


def a_told(name: str, updated: int, owner: str = "llm", group: tuple[str, ...] = ()) -> PodClique:
    """A PodClique that says how many of its three pods have its template."""
    keys = (SCALING_GROUP, SCALING_GROUP_REPLICA_INDEX)
    labels = {PART_OF: owner, **dict(zip(keys, group, strict=False))}
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
    assert count(Key("default", "llm")) == 2


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
