# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.workloads.sharing.sets import a_sharing_set
from trellis.workloads.outline import Outline
from trellis.workloads.sharing import claims_of_pod, inject

Json = dict[str, Any]

NAMES = st.sampled_from(("gpu", "nic", "disk"))


@st.composite
def containers(draw: st.DrawFn) -> list[Json]:
    made: list[Json] = [{"name": name} for name in draw(st.lists(st.sampled_from("abc")))]
    for one in made:
        if draw(st.booleans()):
            claims = [{"name": name} for name in draw(st.lists(NAMES, unique=True))]
            one["resources"] = {"limits": {"cpu": "1"}, "claims": claims}
    return made


@st.composite
def pod_specs(draw: st.DrawFn) -> Json:
    spec: Json = {"containers": draw(containers()), "nodeName": "n1"}
    if draw(st.booleans()):
        spec["initContainers"] = draw(containers())
    if draw(st.booleans()):
        own = draw(st.lists(NAMES, unique=True))
        spec["resourceClaims"] = [{"name": one, "resourceClaimTemplateName": "t"} for one in own]
    return spec


@pytest.mark.parametrize(
    ("clique", "index", "expected"),
    [
        (
            "alone",
            4,
            ["rs-all-int-1", "rs-1-ext", "rs-1-int-2", "rs-1-alone-4-int-4", "rs-1-alone-all-far"],
        ),
        (
            "worker",
            0,
            [
                *("rs-all-int-1", "rs-1-ext", "rs-all-int-3"),
                *("rs-1-pd-all-int-2", "rs-1-pd-1-int-3", "rs-1-pd-all-int-6"),
                "rs-1-pd-1-worker-all-int-5",
            ],
        ),
        (
            "helper",
            0,
            [
                *("rs-all-int-1", "rs-1-ext", "rs-all-int-3"),
                *("rs-1-pd-all-int-2", "rs-1-pd-1-int-3"),
            ],
        ),
    ],
)
def test_a_pod_uses_the_claims_of_all_above_it_that_are_meant_for_it(
    clique: str, index: int, expected: list[str]
) -> None:
    outline = Outline(a_sharing_set(2))
    members = (*outline.alone(1), *outline.grouped(1, outline.groups["pd"], 1))
    member = next(one for one in members if one.template.name == clique)

    assert list(claims_of_pod(outline, member, index)) == expected


def test_claims_reach_every_container_and_keep_what_is_there() -> None:
    spec: Json = {
        "initContainers": [{"name": "first"}],
        "containers": [
            {"name": "main", "resources": {"limits": {"cpu": "1"}, "claims": [{"name": "own"}]}}
        ],
        "resourceClaims": [{"name": "own", "resourceClaimTemplateName": "t"}],
    }

    assert inject(spec, ["gpu"]) == {
        "initContainers": [{"name": "first", "resources": {"claims": [{"name": "gpu"}]}}],
        "containers": [
            {
                "name": "main",
                "resources": {"limits": {"cpu": "1"}, "claims": [{"name": "own"}, {"name": "gpu"}]},
            }
        ],
        "resourceClaims": [
            {"name": "own", "resourceClaimTemplateName": "t"},
            {"name": "gpu", "resourceClaimName": "gpu"},
        ],
    }


def test_without_claims_a_spec_is_left_as_it_is() -> None:
    spec: Json = {"containers": [{"name": "main"}]}

    assert inject(spec, ()) is spec


@given(spec=pod_specs(), names=st.lists(NAMES, unique=True))
def test_injecting_twice_is_injecting_once_and_changes_nothing_in_place(
    spec: Json, names: list[str]
) -> None:
    before = copy.deepcopy(spec)

    once = inject(spec, names)

    assert spec == before
    assert inject(once, names) == once
    for container in (*once.get("initContainers", []), *once["containers"]):
        if names:
            claimed = [one["name"] for one in container["resources"]["claims"]]
            assert set(names) <= set(claimed)
