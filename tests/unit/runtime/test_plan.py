# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import structs

from tests.unit.runtime.builders import (
    GONE,
    Ball,
    BallSpec,
    a_ball,
    a_box,
    a_wanted_ball,
    an_owner,
)
from trellis.runtime.plan import (
    Draft,
    Edit,
    NotMarked,
    NotOwned,
    Plan,
    WantedTwice,
    by_fields,
    by_mark,
    by_name,
    plan,
)

BOX = a_box()
COMPARE = by_fields("spec")


@pytest.mark.parametrize(
    ("have", "want", "planned"),
    [
        pytest.param([], [], Plan(), id="nothing wanted, nothing there"),
        pytest.param(
            [], [a_wanted_ball("a")], Plan(create=(a_wanted_ball("a"),)), id="missing is made"
        ),
        pytest.param([a_ball("a")], [a_wanted_ball("a")], Plan(), id="there is left alone"),
        pytest.param([a_ball("a")], [], Plan(delete=(a_ball("a"),)), id="surplus is deleted"),
        pytest.param(
            [a_ball("a")],
            [a_wanted_ball("a", colour="blue")],
            Plan(edit=(Edit(a_ball("a"), {"spec": {"colour": "blue"}}),)),
            id="what differs is patched with the difference",
        ),
        pytest.param(
            [a_ball("a", deletion_timestamp=GONE)],
            [a_wanted_ball("a")],
            Plan(blocked=("a",)),
            id="a name held by a dying object is waited for",
        ),
        pytest.param(
            [a_ball("a", deletion_timestamp=GONE)], [], Plan(), id="who is dying is not killed"
        ),
        pytest.param(
            [a_ball("a", owner="uid-other"), a_ball("b", owner=None)],
            [a_wanted_ball("a", colour="blue")],
            Plan(foreign=(a_ball("a", owner="uid-other"),)),
            id="what others control is neither changed nor deleted",
        ),
    ],
)
def test_plan(have: list[Ball], want: list[Ball], planned: Plan[Ball]) -> None:
    assert plan(BOX, have, want, COMPARE) == planned


def test_a_child_that_names_no_owner_is_refused_before_it_is_made_for_ever() -> None:
    with pytest.raises(
        NotOwned, match="nursery/a is not controlled by nursery/box with the uid 'uid-box'"
    ):
        plan(BOX, [], [a_wanted_ball("a", owner="uid-other")], COMPARE)


def test_one_name_wanted_twice_is_a_mistake() -> None:
    with pytest.raises(WantedTwice, match="nursery/a is wanted twice by nursery/box"):
        plan(BOX, [], [a_wanted_ball("a"), a_wanted_ball("a", colour="blue")], COMPARE)


def test_a_draft_is_written_only_when_it_is_needed() -> None:
    def unneeded() -> bytes:
        raise AssertionError("nobody needs it")

    there = Draft(a_wanted_ball("a").metadata, unneeded)
    assert plan(BOX, [a_ball("a")], [there], by_name) == Plan()


@pytest.mark.parametrize(
    ("have", "want", "patch"),
    [
        pytest.param({"labels": {"theirs": "1"}}, {}, {}, id="labels of others stay"),
        pytest.param(
            {"labels": {"a": "1"}},
            {"labels": {"a": "2"}},
            {"metadata": {"labels": {"a": "2"}}},
            id="ours are set",
        ),
        pytest.param(
            {"generation": 7, "creation_timestamp": GONE}, {}, {}, id="what the server fills in"
        ),
        pytest.param(
            {"owner_references": (an_owner("uid-2", controller=False),)},
            {},
            {},
            id="owners of others stay",
        ),
        pytest.param(
            {"finalizers": ("theirs",)},
            {"finalizers": ("ours",)},
            {"metadata": {"finalizers": ["theirs", "ours"], "resourceVersion": "1"}},
            id="a list that others add to is guarded by the version",
        ),
    ],
)
def test_metadata(have: dict[str, Any], want: dict[str, Any], patch: Any) -> None:
    assert COMPARE(a_ball("a", **have), a_wanted_ball("a", **want)) == patch


def test_an_owner_that_is_missing_is_added_to_the_others() -> None:
    have = a_ball("a", owner=None, owner_references=(an_owner("uid-2", controller=False),))
    patch = COMPARE(have, a_wanted_ball("a"))
    assert [each["uid"] for each in patch["metadata"]["ownerReferences"]] == ["uid-2", "uid-box"]
    assert patch["metadata"]["resourceVersion"] == "1"


def test_a_section_of_ours_loses_what_is_not_wanted_any_more() -> None:
    have = structs.replace(a_ball("a"), spec=BallSpec(options={"old": "1", "kept": "1"}))
    want = structs.replace(a_wanted_ball("a"), spec=BallSpec(options={"kept": "1"}))
    assert by_fields("spec.options")(have, want) == {"spec": {"options": {"old": None}}}
    assert by_fields()(have, want) == {}


def test_raw_parts_are_compared_by_what_they_say() -> None:
    have, want = (
        structs.replace(ball, spec=BallSpec(template=msgspec.Raw(text)))
        for ball, text in (
            (a_ball("a"), b'{"b": 2, "a": [1]}'),
            (a_wanted_ball("a"), b'{"a":[1],"b":2}'),
        )
    )
    assert COMPARE(have, want) == {}


@pytest.mark.parametrize("where", ["labels", "annotations"])
def test_a_mark_stands_for_all_that_was_written(where: str) -> None:
    compare = by_mark("hash", otherwise=COMPARE)
    first: Any = {where: {"hash": "1"}}
    second: Any = {where: {"hash": "2"}}
    have = a_ball("a", **first)
    same = a_wanted_ball("a", colour="blue", **first)
    other = a_wanted_ball("a", colour="blue", **second)
    assert compare(have, same) == {}
    assert compare(have, other) == {
        "metadata": {where: {"hash": "2"}},
        "spec": {"colour": "blue"},
    }


def test_what_is_compared_by_its_mark_must_have_one() -> None:
    with pytest.raises(NotMarked, match="nursery/a has neither a label nor an annotation 'hash'"):
        by_mark("hash", otherwise=COMPARE)(a_ball("a"), a_wanted_ball("a"))
