# SPDX-License-Identifier: Apache-2.0
"""That a rollout is over only when every part of the set says so, and in true numbers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.views.test_rollout import ON_DELETE, a_clique, a_group, a_set, seen
from trellis.views.rollout import Report, Verdict

Json = dict[str, Any]

GROUP = "grove.io/podcliquescalinggroup"
CLIQUE, SCALING_GROUP = "PodClique train-0-worker", "PodCliqueScalingGroup train-0-group"
UNSEEN = "the operator has yet to see generation 2 of"


def scaled(wanted: int, least: int | None = None, /, **status: Any) -> Json:
    """A PodClique that is to have so many pods, at least so many of them."""
    body: Json = a_clique(**status)
    body["spec"] |= {"replicas": wanted, "minAvailable": wanted if least is None else least}
    return body


def member(**status: Any) -> Any:
    return a_clique("train-0-group-1-w", metadata={"labels": {GROUP: "train-0-group"}}, **status)


def group(replicas: int = 2, least: int = 1, **status: Any) -> Json:
    body: Json = a_group(**status)
    body["spec"] |= {"replicas": replicas, "minAvailable": least}
    return body


@pytest.mark.parametrize(
    ("cliques", "groups", "said"),
    [
        ([scaled(8, 2, observedGeneration=1)], (), f"{UNSEEN} {CLIQUE}"),
        ([scaled(8, 2, observedGeneration=None)], (), f"{UNSEEN} {CLIQUE}"),
        ([], (group(observedGeneration=1, availableReplicas=2),), f"{UNSEEN} {SCALING_GROUP}"),
        ([scaled(4, 2, replicas=4, readyReplicas=1)], (), f"{CLIQUE}: 1 of 2 pods are ready"),
        ([scaled(4, replicas=4, readyReplicas=3)], (), f"{CLIQUE}: 3 of 4 pods are ready"),
        (
            [scaled(4, 1, replicas=4, updatedReplicas=3)],
            (),
            f"{CLIQUE}: 3 of 4 pods have the current template",
        ),
        (
            [],
            (group(3, 2, availableReplicas=1),),
            f"{SCALING_GROUP}: 1 of 2 replicas are available",
        ),
    ],
    ids=[
        "a PodClique that was scaled a moment ago",
        "a PodClique that has said nothing",
        "a group that was scaled a moment ago",
        "a PodClique below its minimum, whatever the set says still",
        "a PodClique of which all are needed",
        "a PodClique with an outdated pod",
        "a group below its minimum",
    ],
)
def test_it_waits_for_the_parts_of_a_set_that_says_it_is_well(
    cliques: list[Json], groups: tuple[Json, ...], said: str
) -> None:
    assert seen(a_set(), *cliques, groups=groups) == Report(Verdict.WAITS, said)


@pytest.mark.parametrize(
    ("cliques", "groups", "said"),
    [
        pytest.param(
            [scaled(20, 2, replicas=20, updatedReplicas=20, readyReplicas=16)],
            (),
            "all 20 pods have the current template, 16 of them are ready",
            id="some have no room",
        ),
        pytest.param(
            [scaled(5, 2, replicas=3, updatedReplicas=3, readyReplicas=3)],
            (),
            "3 of 5 pods have the current template, 3 of them are ready",
            id="some are yet to be made",
        ),
        pytest.param(
            [scaled(2, 1, replicas=4, updatedReplicas=4, readyReplicas=4)],
            (),
            "all 2 pods have the current template",
            id="some are about to go",
        ),
        pytest.param(
            [member(readyReplicas=0), a_clique()],
            (group(availableReplicas=1),),
            "all 8 pods have the current template, 4 of them are ready",
            id="a replica of a group beyond its minimum has no room",
        ),
        pytest.param(
            [scaled(0, replicas=0, updatedReplicas=0, readyReplicas=0)],
            (group(0),),
            "no pods are wanted",
            id="all is scaled to zero",
        ),
    ],
)
def test_it_ends_with_minima_and_says_how_many_are_ready(
    cliques: list[Json], groups: tuple[Json, ...], said: str
) -> None:
    assert seen(a_set(), *cliques, groups=groups) == Report(Verdict.DONE, f"train: {said}")


def test_parts_that_go_are_not_waited_for() -> None:
    going = a_group(observedGeneration=1)
    going["metadata"]["deletionTimestamp"] = "2026-11-01T12:10:00Z"
    assert seen(a_set(), a_clique(), groups=(going,)).verdict is Verdict.DONE


def test_on_delete_leaves_no_pods_that_are_only_yet_to_be_made() -> None:
    found = seen(
        a_set(strategy=ON_DELETE), scaled(5, replicas=3, updatedReplicas=3, readyReplicas=2)
    )
    said = "train: 3 of 5 pods have the current template, 2 of them are ready"
    assert found == Report(Verdict.DONE, said)
