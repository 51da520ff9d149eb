# SPDX-License-Identifier: Apache-2.0
"""A PodClique or scaling group is scaled within what names and pods of its whole set may be."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.workloads.admission.builders import causes, fields, judged
from tests.unit.workloads.admission.stage import Stage
from tests.unit.workloads.sets import a_clique, a_group, a_set, a_set_body
from trellis.api.config.types import Limits
from trellis.webhooks.verdict import Allowed
from trellis.workloads.admission.policy import Policy

SET, GROUP, CLIQUE = "p" * 30, "g" * 5, "w" * 20
PER_REPLICA = [{"name": "c" * 20, "scope": "PerReplica"}]
CALLED_ALIKE = a_set(
    "llm", a_clique("g-1-m"), a_clique("m"), groups=(a_group("g", "m"),), replicas=2
)
BOTH_WAYS = pytest.mark.parametrize("way", ["scale", ""], ids=["by /scale", "by a patch"])


def parts(replicas: int = 10, **more: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The longest host name is just as long as one may be, with ten replicas of the group."""
    group = a_group(GROUP, CLIQUE, replicas=replicas, **more)
    return (SET, a_clique(CLIQUE)), {"groups": (group,)}


@BOTH_WAYS
def test_a_group_is_scaled_no_further_than_the_host_names_of_its_members_reach(way: str) -> None:
    named, more = parts()
    stage = Stage(a_set(*named, **more))
    group = f"{SET}-0-{GROUP}"

    assert isinstance(stage.scale(group, 10, 1, way), Allowed)
    ((field, said),) = causes(stage.scale(group, 11, 10, way))

    assert field == "spec.replicas"
    assert f"'{group}-10-{CLIQUE}-0', 1 more than the 63 characters allowed" in said
    named, more = parts(11)
    assert fields(judged(a_set_body(*named, **more))) == ["metadata.name"], "as when it is made"


def test_a_member_is_scaled_no_further_than_its_own_host_names_reach() -> None:
    named, more = parts()
    stage = Stage(a_set(*named, **more))
    member = f"{SET}-0-{GROUP}-9-{CLIQUE}"

    assert isinstance(stage.scale(member, 10), Allowed)
    ((_, said),) = causes(stage.scale(member, 11))
    assert f"'{member}-10', 1 more" in said


def test_a_group_is_scaled_no_further_than_the_names_of_its_claims_reach() -> None:
    group = a_group("g", "w", resourceSharing=PER_REPLICA)
    stage = Stage(a_set("p" * 36, a_clique("w"), groups=(group,)))
    name = f"{'p' * 36}-0-g"

    assert isinstance(stage.scale(name, 10), Allowed)
    ((_, said),) = causes(stage.scale(name, 11))
    assert f"'{name}-10-{'c' * 20}', 1 more" in said


def test_a_clique_is_scaled_no_further_than_the_names_of_its_claims_reach() -> None:
    stage = Stage(a_set("p" * 36, a_clique("w") | {"resourceSharing": PER_REPLICA}))
    name = f"{'p' * 36}-0-w"

    assert isinstance(stage.scale(name, 10), Allowed)
    ((_, said),) = causes(stage.scale(name, 11))
    assert f"'{name}-10-{'c' * 20}', 1 more" in said


def test_what_is_too_long_already_may_shrink_and_change_in_other_ways() -> None:
    named, more = parts()
    stage = Stage(a_set(*named, **more))
    group = f"{SET}-0-{GROUP}"

    assert isinstance(stage.scale(group, 11, 11, ""), Allowed)
    assert isinstance(stage.scale(group, 50, 90), Allowed)
    assert fields(stage.scale(group, 101, 11)) == ["spec.replicas"], "longer still"


def test_what_is_of_no_set_that_is_known_is_judged_by_its_own_name() -> None:
    named, more = parts()
    stage = Stage(a_set(*named, **more))
    assert isinstance(stage.scale(f"{SET}-0-other", 11), Allowed)
    assert fields(stage.scale("x" * 61, 11)) == ["spec.replicas"]


@BOTH_WAYS
def test_a_group_is_scaled_no_further_than_to_a_name_that_is_taken(way: str) -> None:
    ((field, said),) = causes(Stage(CALLED_ALIKE).scale("llm-1-g", 2, 1, way))

    assert field == "spec.replicas"
    assert "clique 'g-1-m' and clique 'm' of replica 1 of group 'g'" in said
    assert "would both be the PodClique 'llm-1-g-1-m'; rename one" in said


def test_a_group_whose_names_are_taken_already_may_shrink() -> None:
    stage = Stage(CALLED_ALIKE)
    assert isinstance(stage.scale("llm-0-g", 2, 5), Allowed)
    assert isinstance(stage.scale("llm-0-g", 0, 2), Allowed)


def test_a_name_is_taken_by_another_group_only_where_that_is_scaled_so_far() -> None:
    two = (a_group("g", "0-m"), a_group("g-1", "m"))
    found = a_set("llm", a_clique("0-m"), a_clique("m"), groups=two, replicas=2)
    for scaled, free in (({"llm-0-g-1": 0}, True), ({"llm-1-g-1": 0}, False), ({}, False)):
        verdict = Stage(found, scaled=scaled).scale("llm-0-g", 2)
        assert isinstance(verdict, Allowed) is free


def test_a_part_is_scaled_no_further_than_to_a_claim_that_is_made_already() -> None:
    taken = a_clique("w-1") | {"resourceSharing": [{"name": "c", "scope": "AllReplicas"}]}
    wide = a_clique("w") | {"resourceSharing": [{"name": "all-c", "scope": "PerReplica"}]}
    stage = Stage(a_set("llm", wide, taken))
    assert isinstance(stage.scale("llm-0-w", 1, 2), Allowed)
    ((field, said),) = causes(stage.scale("llm-0-w", 2))
    assert field == "spec.replicas"
    assert "would both make the ResourceClaim 'llm-0-w-1-all-c'" in said


@BOTH_WAYS
def test_a_group_is_scaled_no_further_than_one_set_may_have_pods(way: str) -> None:
    stage = Stage(a_set("llm", a_clique("m", 39), groups=(a_group("g", "m"),)))

    assert isinstance(stage.scale("llm-0-g", 512, 1, way), Allowed)
    ((field, said),) = causes(stage.scale("llm-0-g", 513, 1, way))

    assert field == "spec.replicas"
    assert "513: replicas lead to 20007 pods, and 20000 are allowed" in said
    assert "trellis.limits.podsPerSet" in said
    assert isinstance(stage.scale("llm-0-g", 600, 700, way), Allowed), "less is no worse"


@pytest.mark.parametrize(
    ("scaled", "most"),
    [
        pytest.param({}, 61, id="as the templates say"),
        pytest.param({"llm-1-g": 2}, 51, id="another group is larger"),
        pytest.param({"llm-1-g": 0}, 71, id="another group is off"),
        pytest.param({"llm-0-w": 15}, 56, id="a clique is larger"),
        pytest.param({"llm-1-g-0-m": 4}, 67, id="a member is smaller"),
        pytest.param({"llm-0-g": 3}, 41, id="the group that it is in is larger"),
        pytest.param({"llm-0-g-0-m": 30}, 61, id="what it has itself does not count"),
    ],
)
def test_pods_are_counted_as_the_other_parts_are_scaled_now(
    scaled: dict[str, int], most: int
) -> None:
    """Two replicas, each of 10 pods and a group of 10: 40, of which 10 are those it has."""
    found = a_set(
        "llm", a_clique("w", 10), a_clique("m", 10), groups=(a_group("g", "m"),), replicas=2
    )
    stage = Stage(found, Policy(limits=Limits(pods_per_set=91)), scaled)
    assert isinstance(stage.scale("llm-0-g-0-m", most), Allowed)
    assert fields(stage.scale("llm-0-g-0-m", most + 1)) == ["spec.replicas"]
