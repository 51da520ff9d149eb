# SPDX-License-Identifier: Apache-2.0
"""No gang is let in that lists more pods than can be stored."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.workloads.admission.builders import causes, fields, judged
from tests.unit.workloads.admission.stage import Stage
from tests.unit.workloads.sets import POD_SPEC, a_clique, a_group, a_set, a_set_body
from trellis.api import names
from trellis.api.annotation import POD_LEDGER
from trellis.api.config.types import Limits, SchedulerProfile, Schedulers
from trellis.webhooks.verdict import Allowed
from trellis.workloads.admission.ledgers import characters
from trellis.workloads.admission.policy import Policy

Json = dict[str, Any]
KAI = {"kai.scheduler/queue": "team"}
FOR_KAI: Json = {"podSpec": POD_SPEC | {"schedulerName": "kai-scheduler"}}
WITH_KAI = Schedulers(profiles=(SchedulerProfile(name="kai-scheduler"),))
ROOMY = Limits(clique_replicas=50_000, pods_per_set=200_000)
CLIQUES = "spec.template.cliques"


def of_kai(*counts: int, **more: Any) -> Json:
    cliques = [
        a_clique(f"worker-{index}", count, 1, **FOR_KAI) for index, count in enumerate(counts)
    ]
    body = a_set_body("inference", *cliques, **more)
    body["metadata"]["labels"] = KAI
    return body


def test_a_gang_of_kai_lists_what_an_annotation_holds() -> None:
    policy = Policy(schedulers=WITH_KAI)
    assert fields(judged(of_kai(5000), policy=policy)) == []
    assert fields(judged(of_kai(5000, replicas=4), policy=policy)) == [], "gangs of their own"
    ((field, said),) = causes(judged(of_kai(5000, 5000), policy=policy))
    assert field == CLIQUES
    assert "one gang would list 10000 pods" in said
    assert "262144; put fewer pods into one gang" in said


def test_nothing_is_refused_that_can_be_stored() -> None:
    """As it is written, with the names that pods really get."""
    policy = Policy(schedulers=WITH_KAI, limits=ROOMY)
    for count in (7000, 7500, 8000, 8500, 9000):
        listed = {
            "inference-0-worker-0": [
                names.pod("inference-0-worker-0", index, "abcde") for index in range(count)
            ]
        }
        size = len(POD_LEDGER) + len(msgspec.json.encode(listed))
        verdict = judged(of_kai(count), policy=policy)
        assert fields(verdict) == ([CLIQUES] if size > 262_144 + 20 else []), count


@pytest.mark.parametrize("clique", [10, 55, 58, 63])
@pytest.mark.parametrize("pods", [0, 1, 10, 11, 1234])
def test_names_are_as_long_together_as_one_by_one(clique: int, pods: int) -> None:
    named = (names.pod("x" * clique, index, "abcde") for index in range(pods))
    exact = sum(map(len, named))
    assert exact - pods <= characters(clique, pods) <= exact


def test_replicas_of_a_group_beyond_its_minimum_are_gangs_of_their_own() -> None:
    policy = Policy(schedulers=WITH_KAI)
    for least, want in ((1, []), (10, [CLIQUES])):
        group = a_group("g", "worker-0", replicas=10, least=least)
        assert fields(judged(of_kai(1000, groups=(group,)), policy=policy)) == want


def test_a_gang_of_any_scheduler_lists_what_the_store_takes() -> None:
    cliques = [a_clique(f"{index}{'w' * 40}", 5000) for index in range(4)]
    assert fields(judged(a_set_body("llm", *cliques))) == [CLIQUES]
    assert fields(judged(a_set_body("llm", *cliques[:2]))) == []
    short = [a_clique(f"w{index}", 5000) for index in range(4)]
    assert fields(judged(a_set_body("llm", *short))) == []


def test_what_is_too_much_already_stays_and_may_shrink() -> None:
    policy = Policy(schedulers=WITH_KAI)
    assert fields(judged(of_kai(4999, 5000), of_kai(5000, 5000), policy)) == []
    assert fields(judged(of_kai(5000, 5000), of_kai(4999, 5000), policy)) == [CLIQUES]


@pytest.mark.parametrize(
    ("least", "most"),
    [
        pytest.param(1, 7000, id="in a scaled gang"),
        # The other replica of the group is in it too, with 5000.
        pytest.param(2, 2000, id="in the base gang"),
    ],
)
def test_a_clique_is_scaled_within_the_gang_that_it_is_in(least: int, most: int) -> None:
    group = a_group("g", "worker", replicas=2, least=least)
    clique = a_clique("worker", 5000, **FOR_KAI)
    stage = Stage(
        a_set("inference", clique, groups=(group,)), Policy(schedulers=WITH_KAI, limits=ROOMY)
    )
    assert isinstance(stage.scale("inference-0-g-1-worker", most), Allowed)
    ((field, said),) = causes(stage.scale("inference-0-g-1-worker", most + 1000))
    assert field == "spec.replicas"
    assert "put fewer pods into one gang" in said
    shrunk = stage.scale("inference-0-g-1-worker", most + 1000, most + 2000)
    assert isinstance(shrunk, Allowed)
