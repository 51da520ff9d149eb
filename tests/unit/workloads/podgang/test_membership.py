# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.workloads.podgang.builders import wl2
from tests.unit.workloads.sets import a_clique, a_group, a_set
from trellis.api.labels import of_clique, of_group_replica, of_set_replica
from trellis.workloads.outline import Outline
from trellis.workloads.podgang.membership import Place, expected, is_wanted, place_of

OUTLINE = Outline(wl2(replicas=2))
GROUP = OUTLINE.groups["sg-x"]
BASE = Place(replica=0)
SCALED = Place(replica=0, group=GROUP, index=1)


def labels_of(place: Place, outline: Outline = OUTLINE) -> dict[str, str]:
    """The labels of such a gang itself."""
    group = place.group_place(outline)
    own = of_set_replica(outline.name, place.replica)
    return own | of_group_replica(group) if group else own


@pytest.mark.parametrize("place", [BASE, Place(replica=1), SCALED], ids=str)
def test_a_gang_is_known_by_its_own_labels_and_by_those_of_its_podcliques(place: Place) -> None:
    gang = place.gang(OUTLINE)
    assert place_of(OUTLINE, gang, [labels_of(place)]) == place
    for member in expected(OUTLINE, place, {"sg-x": 5}):
        assert place_of(OUTLINE, gang, [of_clique(member.place)]) == place


@pytest.mark.parametrize(
    "changes",
    [
        {"grove.io/podcliqueset-replica-index": "1"},
        {"grove.io/podcliqueset-replica-index": "-0"},
        {"grove.io/podcliqueset-replica-index": "\N{ARABIC-INDIC DIGIT ZERO}"},
        {"grove.io/podcliqueset-replica-index": "9" * 40},
        {"grove.io/podcliquescalinggroup": "wl2-0-other"},
        {"grove.io/podcliquescalinggroup-replica-index": "2"},
        {"grove.io/podcliquescalinggroup-replica-index": ""},
    ],
    ids=str,
)
def test_labels_that_do_not_lead_back_to_the_name_are_not_believed(changes: dict[str, str]) -> None:
    marked = labels_of(SCALED) | changes
    assert place_of(OUTLINE, SCALED.gang(OUTLINE), [marked]) is None


def test_the_first_labels_that_lead_back_count() -> None:
    gang = SCALED.gang(OUTLINE)
    assert place_of(OUTLINE, gang, [{}, labels_of(BASE), labels_of(SCALED)]) == SCALED
    assert place_of(OUTLINE, gang, []) is None


@pytest.mark.parametrize(
    ("place", "live", "wanted"),
    [
        pytest.param(BASE, {"sg-x": 0}, True, id="a base gang is wanted whatever its groups have"),
        pytest.param(Place(replica=2), {"sg-x": 2}, False, id="beyond the replicas of the set"),
        pytest.param(SCALED, {"sg-x": 2}, True, id="a replica that its group has"),
        pytest.param(SCALED, {"sg-x": 1}, False, id="a replica that its group has no more"),
        pytest.param(SCALED, {}, False, id="of a group that is not there"),
    ],
)
def test_a_gang_is_wanted_while_its_replica_is(
    place: Place, live: dict[str, int], wanted: bool
) -> None:
    assert is_wanted(OUTLINE, place, live) is wanted


@pytest.mark.parametrize(
    ("live", "names"),
    [
        pytest.param(0, ["wl2-0-pc-a"], id="a group at zero is left out"),
        pytest.param(
            1,
            ["wl2-0-pc-a", "wl2-0-sg-x-0-pc-b", "wl2-0-sg-x-0-pc-c"],
            id="the first replicas are in the base gang",
        ),
        pytest.param(
            9,
            ["wl2-0-pc-a", "wl2-0-sg-x-0-pc-b", "wl2-0-sg-x-0-pc-c"],
            id="and never more than minAvailable",
        ),
    ],
)
def test_the_base_gang_holds_what_lives_up_to_the_minimum(live: int, names: list[str]) -> None:
    assert [one.name for one in expected(OUTLINE, BASE, {"sg-x": live})] == names


def test_a_scaled_gang_holds_one_replica_of_its_group() -> None:
    found = expected(OUTLINE, SCALED, {"sg-x": 5})
    assert [one.name for one in found] == ["wl2-0-sg-x-1-pc-b", "wl2-0-sg-x-1-pc-c"]
    assert SCALED.gang(OUTLINE) == "wl2-0-sg-x-0"


@st.composite
def outlines(draw: st.DrawFn) -> Outline:
    """Sets whose cliques and groups have names that could be taken for each other's."""
    words = st.sampled_from(["a", "b", "a-0", "0-a", "0", "1", "x-1", "worker", "gpu-worker"])
    cliques = draw(st.lists(words, min_size=1, max_size=5, unique=True))
    grouped = draw(st.integers(0, len(cliques)))
    names = draw(st.lists(words, min_size=grouped, max_size=grouped, unique=True))
    groups: list[dict[str, Any]] = [
        a_group(name, clique, replicas=draw(st.integers(1, 4)), least=draw(st.integers(1, 3)))
        for name, clique in zip(names, cliques, strict=False)
    ]
    made = [a_clique(name) for name in cliques]
    return Outline(a_set("s", *made, groups=tuple(groups), replicas=draw(st.integers(1, 3))))


@given(outlines())
def test_every_wanted_gang_is_found_by_the_labels_of_any_of_its_podcliques(
    outline: Outline,
) -> None:
    live = {group.name: group.replicas for group in outline.groups.values()}
    for replica in range(outline.replicas):
        places = [Place(replica=replica)]
        for group in outline.groups.values():
            indices = range(group.min_available, group.replicas)
            places += [Place(replica=replica, group=group, index=index) for index in indices]
        members = [member for place in places for member in expected(outline, place, live)]
        assert len({member.name for member in members}) <= len(members)
        for place in places:
            assert is_wanted(outline, place, live)
            for member in expected(outline, place, live):
                assert member.place.gang == place.gang(outline)
                assert place_of(outline, place.gang(outline), [of_clique(member.place)]) == place


@given(outlines())
def test_the_gangs_of_a_replica_share_out_its_podcliques(outline: Outline) -> None:
    """Each PodClique that is to be is in exactly one gang."""
    live = {group.name: group.replicas for group in outline.groups.values()}
    shared: list[tuple[str, int, str]] = []
    for group in outline.groups.values():
        for index in range(group.min_available, group.replicas):
            place = Place(replica=0, group=group, index=index)
            shared += [(group.name, index, m.template.name) for m in expected(outline, place, live)]
    for member in expected(outline, Place(replica=0), live):
        at = member.place.group
        shared.append((at.name if at else "", at.replica if at else 0, member.template.name))
    wanted = [("", 0, template.name) for template in outline.standalone]
    wanted += [
        (group.name, index, name)
        for group in outline.groups.values()
        for index in range(group.replicas)
        for name in group.clique_names
    ]
    assert sorted(shared) == sorted(wanted)
