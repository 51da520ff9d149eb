# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from tests.unit.workloads.podcliqueset.builders import WHEN, World, a_gang
from tests.unit.workloads.sets import a_clique, a_group, a_set
from trellis.api.annotation import APPLIED, HASH_ALIASES
from trellis.api.meta import owner
from trellis.workloads.outline import Outline
from trellis.workloads.podcliqueset.layout import Layouts

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.api.grove.podcliqueset import PodCliqueSet


def a_world(replicas: int = 2) -> World:
    """Each replica: a clique of 3 that needs 2, and a group of two replicas that needs one."""
    cliques = (a_clique("worker", 3, 2), a_clique("lead"), a_clique("m"))
    group = a_group("g", "lead", "m", replicas=2)
    return World(a_set("llm", *cliques, groups=(group,), replicas=replicas))


def test_a_set_that_is_well() -> None:
    seen = a_world().look()
    assert (seen.available, seen.updated) == (2, 2)
    # Of each replica: a PodClique, a group, and the group's four.
    assert (seen.wanted, seen.behind) == (12, 0)
    assert seen.waits_for == seen.first_behind == ""
    assert seen.pods_wanted
    assert seen.group_replicas == {"llm-0-g": 2, "llm-1-g": 2}


def lose_clique(world: World) -> None:
    del world.cliques["llm-1-worker"]


def lose_group(world: World) -> None:
    del world.groups["llm-1-g"]


def lose_member(world: World) -> None:
    del world.cliques["llm-1-g-1-m"]


def take_clique(world: World) -> None:
    """As the PodClique of an earlier set of the same name, which is yet to be collected."""
    other = owner(a_set("llm", metadata={"uid": "uid-of-another"}))
    world.change_clique("llm-1-worker", owner_references=(other,))


def end_clique(world: World) -> None:
    world.change_clique("llm-1-worker", deletion_timestamp=WHEN)


@pytest.mark.parametrize(
    ("break_it", "available", "updated", "behind", "waits_for"),
    [
        pytest.param(lambda _: None, 2, 2, 0, "", id="all well"),
        pytest.param(lose_clique, 1, 1, 1, "PodClique llm-1-worker", id="no PodClique"),
        pytest.param(take_clique, 1, 1, 1, "PodClique llm-1-worker", id="somebody else's"),
        pytest.param(end_clique, 1, 1, 1, "PodClique llm-1-worker", id="a PodClique that goes"),
        pytest.param(lose_group, 1, 1, 1, "PodCliqueScalingGroup llm-1-g", id="no group"),
        pytest.param(lose_member, 2, 2, 1, "", id="a member is missing: the group knows how it is"),
        pytest.param(
            lambda world: world.clique("llm-0-worker", ready_replicas=2),
            2,
            2,
            0,
            "",
            id="the minimum is ready",
        ),
        pytest.param(
            lambda world: world.clique("llm-0-worker", ready_replicas=1),
            1,
            1,
            0,
            "PodClique llm-0-worker (1 of 2 pods ready)",
            id="too few are ready",
        ),
        pytest.param(
            lambda world: world.group("llm-0-g", available_replicas=0),
            1,
            1,
            0,
            "PodCliqueScalingGroup llm-0-g (0 of 1 replicas available)",
            id="no replica of the group is available",
        ),
        pytest.param(
            lambda world: world.clique("llm-0-worker", updated_replicas=1),
            2,
            1,
            0,
            "",
            id="too few of the current template",
        ),
        pytest.param(
            lambda world: world.clique("llm-0-worker", current_pod_template_hash="v1-old"),
            2,
            1,
            0,
            "",
            id="not all pods have reached it",
        ),
        pytest.param(
            lambda world: world.change_clique("llm-0-worker", annotations={APPLIED: "v1-old"}),
            2,
            1,
            1,
            "",
            id="an older template",
        ),
        pytest.param(
            lambda world: world.group("llm-0-g", updated_replicas=0),
            2,
            1,
            0,
            "",
            id="a group that is not updated",
        ),
        pytest.param(
            lambda world: world.group("llm-0-g", current_pod_clique_set_generation_hash="v1-old"),
            2,
            1,
            0,
            "",
            id="a group that has not converged",
        ),
    ],
)
def test_counting(
    break_it: Callable[[World], None], available: int, updated: int, behind: int, waits_for: str
) -> None:
    world = a_world()
    break_it(world)
    seen = world.look()
    assert (seen.available, seen.updated, seen.behind) == (available, updated, behind)
    assert seen.waits_for == waits_for


def test_what_is_scaled_to_zero_holds_nothing_up() -> None:
    world = a_world(1)
    world.scale_clique("llm-0-worker", 0)
    world.clique("llm-0-worker", ready_replicas=0, updated_replicas=0, current_pod_template_hash="")
    seen = world.look()
    assert (seen.available, seen.updated, seen.pods_wanted) == (1, 1, True)

    world.scale_group("llm-0-g", 0)
    world.group("llm-0-g", available_replicas=0, updated_replicas=0)
    seen = world.look()
    assert (seen.available, seen.updated, seen.pods_wanted) == (1, 1, False)


def test_what_is_scaled_below_its_minimum_needs_all_it_has() -> None:
    world = a_world(1)
    world.scale_clique("llm-0-worker", 1)
    world.clique("llm-0-worker", ready_replicas=0)
    assert world.look().waits_for == "PodClique llm-0-worker (0 of 1 pods ready)"
    world.clique("llm-0-worker", ready_replicas=1, updated_replicas=1)
    assert world.look().available == 1


def test_members_are_expected_by_the_live_number_of_replicas() -> None:
    world = a_world(1)
    world.scale_group("llm-0-g", 3)
    assert world.look().first_behind == "llm-0-g-2-lead"
    world.scale_group("llm-0-g", 1)
    assert world.look().behind == 0


def test_a_hash_that_was_taken_over_counts_as_current() -> None:
    world = a_world(1)
    found = world.cliques["llm-0-worker"]
    own = world.outline.template_hashes["worker"]
    aliases = f'{{"{own}": ["groves"]}}'
    annotations = found.metadata.annotations | {HASH_ALIASES: aliases}
    world.change_clique("llm-0-worker", annotations=annotations)
    world.clique("llm-0-worker", current_pod_template_hash="groves")
    assert world.look().updated == 1


ANOTHER = a_set("other")
FORMER = a_set("llm", metadata={"uid": "uid-of-before"})


@pytest.mark.parametrize(
    ("gang", "holder", "expected"),
    [
        pytest.param("llm-0", ANOTHER, ["llm-0 belongs to PodCliqueSet other"], id="a base gang"),
        pytest.param(
            "llm-0-g-0", ANOTHER, ["llm-0-g-0 belongs to PodCliqueSet other"], id="scaled"
        ),
        pytest.param("llm-0", FORMER, [], id="of a former set of its name"),
        pytest.param("llm-0", a_set("llm"), [], id="its own"),
        pytest.param("llm-0-g-1", ANOTHER, [], id="of a replica that is not there"),
        pytest.param("llm-1", ANOTHER, [], id="of a replica that is not asked for"),
    ],
)
def test_a_gang_of_somebody_else_is_in_the_way(
    gang: str, holder: PodCliqueSet, expected: list[str]
) -> None:
    world = a_world(1)
    world.gangs[gang] = a_gang(holder, gang)
    assert [str(one) for one in world.look().conflicts] == expected


def test_a_gang_of_somebody_else_is_in_nobodys_way_where_no_pods_are_wanted() -> None:
    world = a_world(1)
    world.gangs["llm-0"] = a_gang(ANOTHER, "llm-0")
    world.scale_clique("llm-0-worker", 0)
    world.scale_group("llm-0-g", 0)
    assert world.look().conflicts == []


@settings(max_examples=25)
@given(st.lists(st.sampled_from(range(4)), unique=True))
def test_each_replica_is_counted_by_itself(broken: list[int]) -> None:
    world = a_world(4)
    for index in broken:
        world.clique(f"llm-{index}-worker", ready_replicas=0)
    seen = world.look()
    assert seen.available == seen.updated == 4 - len(broken)
    assert bool(seen.waits_for) == bool(broken)


def test_a_layout_is_worked_out_once_for_an_outline() -> None:
    layouts = Layouts(most=2)
    outline = Outline(a_set("llm"))
    assert layouts.of(outline) is layouts.of(outline)
    again = Outline(structs.replace(outline.set))
    assert layouts.of(again).outline is again
    for name in ("a", "b"):
        layouts.of(Outline(a_set(name)))
    assert layouts.of(outline).outline is outline
