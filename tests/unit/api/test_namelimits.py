# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.api import names
from trellis.api.namelimits import Claim, Clique, Group, Outline, clashes, too_long

SHORT = st.from_regex(r"[a-c0-2](-?[a-c0-2]){0,5}", fullmatch=True)


def test_a_name_that_is_too_long_is_given_whole_with_its_excess() -> None:
    outline = Outline(
        name="x" * 40,
        replicas=11,
        groups=(Group(name="g" * 10, replicas=101, members=(Clique(name="c" * 8, replicas=3),)),),
    )
    (found,) = too_long(outline)
    assert found.name == f"{'x' * 40}-10-{'g' * 10}-100-{'c' * 8}-2"
    assert found.excess == len(found.name) - 63 == 6
    assert str(found) == (
        "the host name of the last pod of clique 'cccccccc' of group 'gggggggggg' would be "
        f"{found.name!r}, 6 more than the 63 characters allowed; "
        "shorten the names it is made of by 6"
    )


@pytest.mark.parametrize(
    ("outline", "what"),
    [
        pytest.param(
            Outline(name="x" * 62), "the headless Service", id="the set alone is too long"
        ),
        pytest.param(
            Outline(name="x" * 30, cliques=(Clique(name="c" * 30, replicas=100),)),
            "the host name of the last pod of clique",
            id="with its clique",
        ),
        pytest.param(
            Outline(name="x" * 30, claims=(Claim(template="t" * 30),)),
            "the claim",
            id="a claim of the set",
        ),
        pytest.param(
            Outline(
                name="x",
                groups=(Group(name="g", claims=(Claim(template="t" * 60, per_replica=True),)),),
            ),
            "of group 'g'",
            id="a claim of a group",
        ),
        pytest.param(
            Outline(name="x", cliques=(Clique(name="c", claims=(Claim(template="t" * 60),)),)),
            "of clique 'c'",
            id="a claim of a clique",
        ),
    ],
)
def test_every_kind_of_name_is_checked(outline: Outline, what: str) -> None:
    (found,) = too_long(outline)
    assert what in found.what


def test_a_number_without_measure_is_not_counted_up_to() -> None:
    huge = 2**31 - 1
    outline = Outline(
        name="a",
        replicas=huge,
        groups=(Group(name="g", replicas=huge, members=(Clique(name="0"),)),),
    )
    assert too_long(outline) == ()
    assert clashes(outline) == ()


@given(st.integers(1, 43), st.integers(1, 43), st.integers(1, 43))
def test_all_that_groves_rule_of_45_characters_admits_is_admitted(
    set_length: int, group_length: int, clique_length: int
) -> None:
    if set_length + group_length + clique_length > 45:
        return
    members = (Clique(name="c" * clique_length, replicas=5_000),)
    outline = Outline(
        name="x" * set_length,
        replicas=1_000,
        cliques=members,
        groups=(Group(name="g" * group_length, replicas=2_000, members=members),),
    )
    assert too_long(outline) == ()


@pytest.mark.parametrize(
    ("outline", "name"),
    [
        pytest.param(
            Outline(
                name="x",
                cliques=(Clique(name="g-0-c"),),
                groups=(Group(name="g", members=(Clique(name="c"),)),),
            ),
            "x-0-g-0-c",
            id="a clique named like a member of a group",
        ),
        pytest.param(
            Outline(
                name="x",
                groups=(
                    Group(name="a", members=(Clique(name="0-b"),)),
                    Group(name="a-0", members=(Clique(name="b"),)),
                ),
            ),
            "x-0-a-0-0-b",
            id="members of two groups",
        ),
    ],
)
def test_cliques_that_would_be_one_object_are_found(outline: Outline, name: str) -> None:
    (found,) = clashes(outline)
    assert found.name == name
    assert "rename one" in str(found)


def test_an_index_that_is_never_reached_clashes_with_nothing() -> None:
    group = Group(name="g", replicas=3, members=(Clique(name="c"),))
    assert clashes(Outline(name="x", cliques=(Clique(name="g-3-c"),), groups=(group,))) == ()
    assert clashes(Outline(name="x", cliques=(Clique(name="g-02-c"),), groups=(group,))) == ()


@given(
    st.lists(SHORT, max_size=3, unique=True),
    st.dictionaries(SHORT, st.lists(SHORT, min_size=1, max_size=2, unique=True), max_size=2),
)
def test_names_are_different_exactly_where_no_clash_is_found(
    cliques: list[str], groups: dict[str, list[str]]
) -> None:
    replicas = 3
    outline = Outline(
        name="x",
        cliques=tuple(Clique(name=name) for name in cliques),
        groups=tuple(
            Group(
                name=name,
                replicas=replicas,
                members=tuple(Clique(name=member) for member in members),
            )
            for name, members in groups.items()
        ),
    )
    made = [names.clique("x", 0, name) for name in cliques]
    made += [
        names.member_clique(names.scaling_group("x", 0, name), index, member)
        for name, members in groups.items()
        for index in range(replicas)
        for member in members
    ]
    assert bool(clashes(outline)) == (len(set(made)) < len(made))


def test_names_full_of_numbers_are_no_work() -> None:
    """Any of them could be an index; only those that follow the name of a group are tried."""
    cliques = tuple(Clique(name="-".join(map(str, range(n, n + 15)))) for n in range(100, 3940, 15))
    group = Group(name="g", replicas=1 << 31, members=cliques)
    tracemalloc.start()
    assert clashes(Outline(name="x", groups=(group,))) == ()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20
