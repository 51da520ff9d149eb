# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.unit.workloads.sets import a_clique, a_group, a_set
from trellis.api.grove.template import EXPLICIT, IN_ORDER
from trellis.workloads.outline import Member, Outline


def wl(startup: str, groups_least: int = 2, after: dict[str, list[str]] | None = None) -> Outline:
    """Upstream's workload: pc-a alone, pc-b and pc-c in the group sg-x."""
    cliques = [
        a_clique("pc-a", 2, 2),
        a_clique("pc-b", 1, 1),
        a_clique("pc-c", 3, 3),
    ]
    for clique in cliques:
        clique["spec"]["startsAfter"] = (after or {}).get(clique["name"], [])
    group = a_group("sg-x", "pc-b", "pc-c", replicas=2, least=groups_least)
    return Outline(a_set("wl", *cliques, groups=(group,), startup=startup))


def parents(outline: Outline, member: Member) -> list[str]:
    return [f"{parent.name}:{parent.needed}" for parent in outline.parents(member)]


def the(members: tuple[Member, ...], name: str) -> Member:
    return next(member for member in members if member.name == name)


def test_the_base_gang_holds_standalone_cliques_and_the_minimum_of_every_group() -> None:
    outline = wl(IN_ORDER, groups_least=1)
    names = [member.name for member in outline.base_members(0, {"sg-x": 2})]
    assert names == ["wl-0-pc-a", "wl-0-sg-x-0-pc-b", "wl-0-sg-x-0-pc-c"]


@pytest.mark.parametrize(
    ("live", "count"),
    [
        pytest.param(0, 1, id="a group at zero is left out"),
        pytest.param(1, 3, id="a group below its minimum is there with what it has"),
        pytest.param(2, 5, id="a group at its minimum"),
        pytest.param(9, 5, id="a group above it"),
    ],
)
def test_the_base_gang_holds_no_more_of_a_group_than_there_is(live: int, count: int) -> None:
    assert len(wl(IN_ORDER).base_members(0, {"sg-x": live})) == count


def test_gangs_beyond_the_minimum_are_numbered_from_zero_and_know_their_base() -> None:
    outline = wl(IN_ORDER, groups_least=1)
    (group,) = outline.groups.values()
    places = [member.place for member in outline.grouped(3, group, 2)]
    assert [place.gang for place in places] == ["wl-3-sg-x-1"] * 2
    assert {place.base_gang for place in places} == {"wl-3"}
    assert [place.base_gang for place in (m.place for m in outline.grouped(3, group, 0))] == [
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("outline", "member", "expected"),
    [
        pytest.param(wl(IN_ORDER), "wl-0-pc-a", [], id="in order: the first waits for nobody"),
        pytest.param(
            wl(IN_ORDER), "wl-0-sg-x-1-pc-b", ["wl-0-pc-a:2"], id="in order: for the one before it"
        ),
        pytest.param(
            wl(IN_ORDER),
            "wl-0-sg-x-0-pc-c",
            ["wl-0-sg-x-0-pc-b:1", "wl-0-sg-x-1-pc-b:1"],
            id="in order: for all of a group that are in the base gang",
        ),
        pytest.param(
            wl(EXPLICIT, after={"pc-c": ["pc-a"], "pc-b": ["pc-c"]}),
            "wl-0-sg-x-0-pc-b",
            ["wl-0-sg-x-0-pc-c:3", "wl-0-sg-x-1-pc-c:3"],
            id="explicit: for those that are named",
        ),
    ],
)
def test_whom_a_clique_of_the_base_gang_waits_for(
    outline: Outline, member: str, expected: list[str]
) -> None:
    assert parents(outline, the(outline.base_members(0, {"sg-x": 2}), member)) == expected


@pytest.mark.parametrize(
    ("startup", "after", "member", "expected"),
    [
        pytest.param(IN_ORDER, {}, "pc-b", [], id="in order: the first of its group for nobody"),
        pytest.param(
            IN_ORDER, {}, "pc-c", ["wl-0-sg-x-1-pc-b:1"], id="in order: for its own replica"
        ),
        pytest.param(
            EXPLICIT,
            {"pc-c": ["pc-a", "pc-b"]},
            "pc-c",
            ["wl-0-sg-x-1-pc-b:1"],
            id="explicit: only for those of its own group",
        ),
    ],
)
def test_whom_a_clique_of_a_scaled_gang_waits_for(
    startup: str, after: dict[str, Any], member: str, expected: list[str]
) -> None:
    outline = wl(startup, groups_least=1, after=after)
    (group,) = outline.groups.values()
    found = the(outline.grouped(0, group, 1), f"wl-0-sg-x-1-{member}")
    assert parents(outline, found) == expected


def test_in_order_a_scaled_member_waits_for_the_nearest_member_before_it() -> None:
    """Upstream drops the order when a clique outside the group stands between the two."""
    cliques = [a_clique("lead"), a_clique("alone"), a_clique("follow")]
    group = a_group("g", "lead", "follow", replicas=2)
    outline = Outline(a_set("wl", *cliques, groups=(group,), startup=IN_ORDER))
    (template,) = outline.groups.values()
    found = the(outline.grouped(0, template, 1), "wl-0-g-1-follow")
    assert parents(outline, found) == ["wl-0-g-1-lead:1"]


def test_cliques_whose_names_end_alike_are_told_apart() -> None:
    outline = Outline(a_set("wl", a_clique("worker", 1), a_clique("gpu-worker", 2)))
    found = {member.name: member.template.spec.replicas for member in outline.alone(0)}
    assert found == {"wl-0-worker": 1, "wl-0-gpu-worker": 2}


def test_a_set_in_any_order_waits_for_nobody() -> None:
    assert not Outline(a_set("wl", a_clique("a"), a_clique("b"))).waits
    assert Outline(a_set("wl", a_clique("a"), a_clique("b"), startup=IN_ORDER)).waits
    assert not Outline(a_set("wl", a_clique("a"), startup=IN_ORDER)).waits
