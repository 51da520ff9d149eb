# SPDX-License-Identifier: Apache-2.0
"""A PodClique or scaling group is scaled within what the names of its whole set may come to."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.workloads.admission.builders import causes, fields, judged
from tests.unit.workloads.admission.stage import Stage
from tests.unit.workloads.sets import a_clique, a_group, a_set, a_set_body
from trellis.webhooks.verdict import Allowed

SET, GROUP, CLIQUE = "p" * 30, "g" * 5, "w" * 20
PER_REPLICA = [{"name": "c" * 20, "scope": "PerReplica"}]


def parts(replicas: int = 10, **more: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The longest host name is just as long as one may be, with ten replicas of the group."""
    group = a_group(GROUP, CLIQUE, replicas=replicas, **more)
    return (SET, a_clique(CLIQUE)), {"groups": (group,)}


@pytest.mark.parametrize("subresource", ["scale", ""], ids=["by /scale", "by a patch"])
def test_a_group_is_scaled_no_further_than_the_host_names_of_its_members_reach(
    subresource: str,
) -> None:
    named, more = parts()
    stage = Stage(a_set(*named, **more))
    group = f"{SET}-0-{GROUP}"

    assert isinstance(stage.scale(group, 10, 1, subresource), Allowed)
    ((field, said),) = causes(stage.scale(group, 11, 10, subresource))

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
