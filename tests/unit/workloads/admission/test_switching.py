# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.workloads.sets import a_clique, a_set_body
from trellis.api.grove.podclique import PodClique, PodCliqueSpec, PodCliqueStatus
from trellis.api.labels import PART_OF
from trellis.api.meta import Key, Metadata
from trellis.kube.events import Snapshot
from trellis.workloads.admission.policy import NOTHING, Stored
from trellis.workloads.admission.subject import Document, Subject, subject
from trellis.workloads.admission.switching import switching
from trellis.workloads.admission.view import stored
from trellis.workloads.caches import Caches


def a_subject(strategy: str | None) -> Subject:
    body: dict[str, Any] = a_set_body("llm", a_clique("w", 4))
    if strategy is not None:
        body["spec"]["updateStrategy"] = {"type": strategy}
    return subject(msgspec.json.decode(msgspec.json.encode(body), type=Document))


def counting(count: int) -> Stored:
    return Stored(outdated_at=lambda key: count if key == Key("default", "llm") else -1)


@pytest.mark.parametrize(
    ("before", "after", "seen", "said"),
    [
        ("OnDelete", "RollingRecreate", counting(3), "3 pods with an older template"),
        ("OnDelete", None, counting(1), "1 pod with an older template"),
        ("OnDelete", "RollingRecreate", NOTHING, "pods with an older template"),
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


def test_they_are_counted_by_what_the_podcliques_of_the_set_say() -> None:
    caches = Caches()
    told = (("a", "llm", 1), ("b", "llm", 3), ("c", "other", 0))
    cliques = [
        PodClique(
            metadata=Metadata(name=name, namespace="default", labels={PART_OF: owner}),
            spec=PodCliqueSpec(role_name="w", replicas=3, pod_spec=msgspec.Raw(b"{}")),
            status=PodCliqueStatus(replicas=3, updated_replicas=updated),
        )
        for name, owner, updated in told
    ]
    caches.cliques.replace(Snapshot(cliques, "7"))
    count = stored(caches).outdated_at
    assert count is not None
    assert count(Key("default", "llm")) == 2
