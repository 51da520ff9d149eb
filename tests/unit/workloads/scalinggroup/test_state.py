# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from tests.unit.workloads.members.builders import stored
from tests.unit.workloads.scalinggroup.builders import (
    a_live,
    a_scaling_group,
    a_state,
    rolls_of,
    the_set,
)
from trellis.api.labels import SET_REPLICA_INDEX
from trellis.api.meta import OwnerReference
from trellis.workloads.members import clique
from trellis.workloads.outline import Outline
from trellis.workloads.scalinggroup.desired import plan
from trellis.workloads.scalinggroup.roster import Rosters
from trellis.workloads.scalinggroup.state import Place, place_of


@pytest.mark.parametrize(
    ("name", "label", "replicas", "found"),
    [
        ("llm-0-pd", "0", 1, True),
        ("llm-0-pd", "0", 0, False),
        ("llm-1-pd", "1", 1, False),
        ("llm-0-pd", "1", 2, False),
        ("llm-0-dp", "0", 1, False),
        ("llm-0-pd", "", 1, False),
        ("llm-0-pd", "-1", 1, False),
        ("llm-0-pd", "9999999999", 1, False),
    ],
    ids=[
        "of a replica that is wanted",
        "the set is scaled to zero",
        "of a replica that is no more",
        "the label of another replica",
        "no group of the set",
        "without the label",
        "no index",
        "no index that could be",
    ],
)
def test_a_group_has_a_place_while_its_replica_of_the_set_is_wanted(
    name: str, label: str, replicas: int, found: bool
) -> None:
    outline = Outline(the_set(replicas))
    group = a_scaling_group(outline.set)
    labels = group.metadata.labels | {SET_REPLICA_INDEX: label}
    metadata = structs.replace(group.metadata, name=name, labels=labels)

    place = place_of(structs.replace(group, metadata=metadata), outline)

    assert (place is not None) is found


def test_members_that_are_as_wanted_are_found_once_and_then_left_alone() -> None:
    state = a_state()

    first = plan(state, rolls_of(state))
    settled = {found.metadata.name for found in first.settled}

    assert (first.have, first.want, first.complete) == ((), (), True)
    assert settled == {seat.member.name for seat in state.seats}
    replicas = tuple(
        replace(one, seats=tuple(replace(seat, settled=True) for seat in one.seats))
        for one in state.replicas
    )
    assert plan(replace(state, replicas=replicas), rolls_of(state)).settled == ()


def test_a_missing_member_is_wanted_and_what_is_left_over_is_surplus() -> None:
    state = a_state(1, live={"llm-0-pd-0-worker": None})
    outline, group = state.place.outline, state.group
    beyond = a_live(group, outline, outline.grouped(0, outline.groups["pd"], 1)[0])

    planned = plan(replace(state, others=(beyond,)), rolls_of(state))

    assert [one.metadata.name for one in planned.want] == ["llm-0-pd-0-worker"]
    assert planned.have == (beyond,)
    assert not planned.complete


@pytest.mark.parametrize(
    ("kind", "name", "wanted"),
    [
        ("PodCliqueScalingGroup", "llm-0-pd", []),
        ("PodCliqueScalingGroup", "other", ["llm-0-pd-0-worker"]),
        ("PodCliqueSet", "llm-0-pd", ["llm-0-pd-0-worker"]),
    ],
    ids=["of a former group of that name", "of another group", "of a set"],
)
def test_a_name_that_a_former_group_holds_is_waited_for(
    kind: str, name: str, wanted: list[str]
) -> None:
    state = a_state(1, live={"llm-0-pd-0-worker": None})
    outline = state.place.outline
    member = outline.grouped(0, outline.groups["pd"], 0)[1]
    holder = stored(clique(outline, member, state.group, None))
    owner = OwnerReference(
        api_version="grove.io/v1alpha1", kind=kind, name=name, uid="former", controller=True
    )
    metadata = structs.replace(holder.metadata, owner_references=(owner,))

    others = (structs.replace(holder, metadata=metadata),)
    planned = plan(replace(state, others=others), rolls_of(state))

    assert [one.metadata.name for one in planned.want] == wanted
    assert not planned.complete


class TestRosters:
    outline = Outline(the_set())
    place = Place(outline=outline, replica=0, config=outline.groups["pd"])

    def test_members_are_worked_out_once(self) -> None:
        roster = Rosters().of("a", self.place)

        assert roster.members(3) is roster.members(3)
        assert [one.name for one in roster.members(3)] == ["llm-0-pd-3-leader", "llm-0-pd-3-worker"]

    def test_a_member_is_settled_until_anything_but_its_status_changes(self) -> None:
        roster = Rosters().of("a", self.place)
        group = a_scaling_group(self.outline.set)
        live = a_live(group, self.outline, roster.members(0)[0])
        assert not roster.is_settled(live)

        roster.settle(live)

        moved = structs.replace(live.metadata, resource_version="99")
        assert roster.is_settled(structs.replace(live, metadata=moved))
        changes: list[dict[str, Any]] = [
            {"generation": 2},
            {"uid": "another"},
            {"labels": {}},
            {"annotations": {}},
        ]
        for change in changes:
            other = structs.replace(live.metadata, **change)
            assert not roster.is_settled(structs.replace(live, metadata=other)), change

    def test_what_was_scaled_away_is_forgotten(self) -> None:
        roster = Rosters().of("a", self.place)
        group = a_scaling_group(self.outline.set)
        kept, gone = (a_live(group, self.outline, roster.members(index)[0]) for index in (0, 1))
        roster.settle(kept)
        roster.settle(gone)

        roster.shrink(1)

        assert roster.is_settled(kept)
        assert not roster.is_settled(gone)

    def test_a_new_outline_is_a_new_roster(self) -> None:
        rosters = Rosters()
        first = rosters.of("a", self.place)

        again = rosters.of("a", replace(self.place))
        changed = rosters.of("a", replace(self.place, outline=Outline(the_set())))

        assert again is first
        assert changed is not first
        assert len(rosters) == 1

    def test_the_groups_not_looked_at_for_longest_are_forgotten(self) -> None:
        rosters = Rosters(most=2)
        first = rosters.of("a", self.place)
        rosters.of("b", self.place)
        assert rosters.of("a", self.place) is first

        rosters.of("c", self.place)

        assert len(rosters) == 2
        assert rosters.of("a", self.place) is first
        rosters.forget("a")
        rosters.forget("never known")
        assert rosters.of("a", self.place) is not first
