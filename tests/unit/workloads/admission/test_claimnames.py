# SPDX-License-Identifier: Apache-2.0
"""No two claims of a set have one name."""

from __future__ import annotations

from itertools import islice
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.workloads.admission.builders import causes, fields, judged
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from trellis.api import names
from trellis.workloads.admission.claimnames import claim_name_problems
from trellis.workloads.admission.podcliqueset import MOST_PROBLEMS
from trellis.workloads.admission.subject import Document, subject

Json = dict[str, Any]
WORDS = st.sampled_from(["a", "0", "1", "01", "all", "a-0", "0-a", "a-0-a", "a-1-a-0-a", "all-a"])

TEMPLATES = st.lists(WORDS, max_size=3, unique=True)


def each(*templates: str) -> list[Json]:
    return [{"name": name, "scope": "PerReplica"} for name in templates]


def together(*templates: str) -> list[Json]:
    return [{"name": name, "scope": "AllReplicas"} for name in templates]


def clique(name: str, shared: list[Json], replicas: int = 2) -> Json:
    return a_clique(name, replicas) | {"resourceSharing": shared}


def body(shared: list[Json], *cliques: Json, groups: tuple[Json, ...] = (), most: int = 1) -> Json:
    return a_set_body("rc", *cliques, groups=groups, replicas=most, resourceSharing=shared)


def said(document: Json) -> list[str]:
    found = msgspec.json.decode(msgspec.json.encode(document), type=Document)
    return [
        problem.message for problem in islice(claim_name_problems(subject(found)), MOST_PROBLEMS)
    ]


def grouped(shared: list[Json], of_group: list[Json], of_member: list[Json]) -> Json:
    """A set with a group `g` of three replicas whose only clique is `m`."""
    group = a_group("g", "m", replicas=3, resourceSharing=of_group)
    return body(shared, clique("m", of_member), groups=(group,))


def test_two_levels_that_would_make_one_claim_are_refused_with_both_and_its_name() -> None:
    document = body(each("wa-0-t1"), clique("wa", each("t1")))
    assert causes(judged(document)) == [
        (
            "spec.template.resourceSharing[0].name",
            'Invalid value: "wa-0-t1": spec.template.cliques[0].resourceSharing[0] and '
            "spec.template.resourceSharing[0] would both make the ResourceClaim "
            "'rc-0-wa-0-t1'; rename the template of one",
        )
    ]


@pytest.mark.parametrize(
    ("document", "name"),
    [
        pytest.param(body(each("w-1-t"), clique("w", each("t"))), "rc-0-w-1-t", id="last pod"),
        pytest.param(
            body(each("w-all-t"), clique("w", together("t"))), "rc-0-w-all-t", id="all pods"
        ),
        pytest.param(
            grouped(each("g-2-t"), each("t"), []), "rc-0-g-2-t", id="a replica of a group"
        ),
        pytest.param(
            grouped(each("g-2-m-1-t"), [], each("t")),
            "rc-0-g-2-m-1-t",
            id="a pod of a group",
        ),
        pytest.param(
            grouped([], each("m-1-t"), each("t")),
            "rc-0-g-0-m-1-t",
            id="a group and its clique",
        ),
        pytest.param(
            body([], clique("w", each("x-0-t")), clique("w-0-x", each("t"))),
            "rc-0-w-0-x-0-t",
            id="two cliques, an index in the name of one",
        ),
        pytest.param(
            body(
                [],
                clique("g", each("t")),
                a_clique("m"),
                groups=(a_group("g", "m", resourceSharing=each("t")),),
            ),
            "rc-0-g-0-t",
            id="a clique and a group of one name",
        ),
    ],
)
def test_claims_of_one_name_are_found_at_every_level(document: Json, name: str) -> None:
    (found,) = said(document)
    assert f"would both make the ResourceClaim {name!r}" in found


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(body(each("w-2-t"), clique("w", each("t"))), id="an index not reached"),
        pytest.param(body(each("w-00-t"), clique("w", each("t"))), id="a leading zero"),
        pytest.param(body(together("w-0-t"), clique("w", each("t"))), id="other scopes"),
        pytest.param(body(each("w-0-t"), clique("w", each("t"), 0)), id="no pods"),
        pytest.param(body(each("t"), clique("w", each("t"))), id="one template at two levels"),
        pytest.param(body(each("t", "t")), id="an entry twice, which is said elsewhere"),
        pytest.param(body(each("Wa-0"), clique("Wa", each("0"))), id="names that cannot be"),
        pytest.param(body(each("", "-"), clique("w", each(""))), id="templates that cannot be"),
    ],
)
def test_names_that_only_look_alike_are_left_alone(document: Json) -> None:
    assert said(document) == []


def test_an_autoscaler_may_come_to_the_index() -> None:
    scaled = clique("w", each("t"))
    scaled["spec"]["autoScalingConfig"] = {"maxReplicas": 9}
    assert said(body(each("w-9-t"), scaled)) == []
    assert len(said(body(each("w-8-t"), scaled))) == 1


def test_a_set_that_was_stored_with_it_may_be_changed_and_sorted() -> None:
    one, two = clique("w", each("x-0-t", "free")), clique("w-0-x", each("t"))
    old, new = body([], one, two), body([], two, one, most=2)
    assert fields(judged(new)) == ["spec.template.cliques[1].resourceSharing[0].name"]
    assert fields(judged(new, old)) == []


def test_any_numbers_and_many_entries_are_judged_without_counting() -> None:
    """Of each clique the numbers differ after the index, and none is like another."""
    templates = [f"w-{number}-{number}" for number in range(2000)]
    huge = [
        clique("w", each(*(f"{number}" for number in range(2000, 4000))), 10**9),
        *(clique(f"w-{number}", each("gpu-0", "gpu-1"), 10**9) for number in range(99)),
    ]
    assert said(body(each(*templates), *huge, most=10**9)) == []
    cliques = [clique(f"w-{one}", each(*(f"b{n}" for n in range(20))), 10**9) for one in range(90)]
    crossed = clique("w", each(*(f"{number}-a{number}" for number in range(4000))), 10**9)
    assert said(body([], crossed, *cliques)) == []
    everywhere = body(each(*templates), clique("w", each(*map(str, range(2000))), 10**9))
    assert len(said(everywhere)) == MOST_PROBLEMS


@given(
    of_set=TEMPLATES,
    alone=st.dictionaries(WORDS, TEMPLATES, max_size=2),
    group=st.tuples(WORDS, TEMPLATES),
    member=st.tuples(WORDS, TEMPLATES),
    pods=st.integers(0, 2),
)
def test_names_are_different_exactly_where_no_clash_is_found(
    of_set: list[str],
    alone: dict[str, list[str]],
    group: tuple[str, list[str]],
    member: tuple[str, list[str]],
    pods: int,
) -> None:
    (group_name, of_group), (member_name, of_member) = group, member
    alone.pop(member_name, None)
    cliques = [clique(name, each(*shared), pods) for name, shared in alone.items()]
    cliques.append(clique(member_name, together(*of_member)))
    groups = (a_group(group_name, member_name, replicas=2, resourceSharing=each(*of_group)),)
    found = said(body(each(*of_set), *cliques, groups=groups, most=2))

    made = []
    for index in range(2):
        made += [names.shared_claim("rc", name, index) for name in of_set]
        for name, shared in alone.items():
            full = names.clique("rc", index, name)
            made += [names.shared_claim(full, one, pod) for one in shared for pod in range(pods)]
        above = names.scaling_group("rc", index, group_name)
        for number in range(2):
            made += [names.shared_claim(above, one, number) for one in of_group]
            full = names.member_clique(above, number, member_name)
            made += [names.shared_claim(full, one) for one in of_member]
    assert bool(found) == (len(set(made)) < len(made))
