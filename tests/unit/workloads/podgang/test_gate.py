# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.workloads.podgang.builders import a_bare_gang, a_pod, a_pod_group, gated
from trellis.api.core.pod import FAILED, SUCCEEDED, Pod
from trellis.api.labels import GANG_GATE
from trellis.workloads.podgang.gate import held_back, may_start, without_gate
from trellis.workloads.podgang.muster import (
    Muster,
    all_exist,
    all_ready,
    all_scheduled,
    is_gang_scheduled,
    muster,
)

NAMES = ("p-0", "p-1", "p-2")


def a_muster(*pods: Pod, minimum: int = 2, names: tuple[str, ...] = NAMES) -> Muster:
    return muster("c", minimum, names, {pod.metadata.name: pod for pod in pods})


def up(*indices: int) -> list[Pod]:
    return [a_pod(NAMES[index], index) for index in indices]


def held(*indices: int) -> list[Pod]:
    return [gated(NAMES[index], index) for index in indices]


def lost(*indices: int) -> list[Pod]:
    return [a_pod(NAMES[index], index, phase=FAILED) for index in indices]


@pytest.mark.parametrize(
    ("musters", "starts"),
    [
        pytest.param([a_muster(*held(0, 1, 2))], True, id="all that is listed is there"),
        pytest.param([a_muster(*held(0, 1))], False, id="one is yet to come"),
        pytest.param([a_muster(*held(0, 1, 2)), a_muster(*held(0))], False, id="not in any group"),
        pytest.param([a_muster(*up(0, 1), *held(2))], True, id="the last of a gang that runs"),
        pytest.param([a_muster(*up(0), *held(1))], True, id="its minimum is there, and it runs"),
        pytest.param([a_muster(*up(0))], False, id="it runs below its minimum"),
        pytest.param([a_muster(*up(0)), a_muster(*held(0, 1))], False, id="another group does"),
        pytest.param([a_muster(*up(0, 1), *held(2)), a_muster(*lost(0, 1))], True, id="one failed"),
        pytest.param([a_muster(*held(0, 1)), a_muster(*lost(0, 1))], False, id="and none runs"),
        pytest.param([a_muster(*up(0, 1)), a_muster(*held(0, 1))], True, id="each has its minimum"),
    ],
)
def test_a_gang_starts_together_and_what_comes_later_follows(
    musters: list[Muster], starts: bool
) -> None:
    assert may_start(musters) is starts


def test_only_listed_pods_that_live_count() -> None:
    pods = [
        a_pod("p-0", 0, leaving=True),
        a_pod("p-1", 1, phase=FAILED),
        gated("p-2", 2),
        a_pod("stranger", 0),
    ]
    found = a_muster(*pods)
    assert (found.listed, found.present, found.scheduled, found.ready) == (3, 1, 0, 0)
    assert [pod.metadata.name for pod in held_back([found])] == ["p-2"]


def test_what_is_done_counts_as_ready_and_what_is_not_ready_does_not() -> None:
    pods = [a_pod("p-0", 0, phase=SUCCEEDED, ready=False), a_pod("p-1", 1, ready=False)]
    found = a_muster(*pods)
    assert (found.scheduled, found.ready) == (2, 1)
    assert all_scheduled([found])
    assert not all_ready([found])
    assert not all_exist([found])


def test_a_pod_with_a_gate_of_a_user_alone_is_not_held_back_by_us() -> None:
    pod = a_pod("p-0", 0, node="", gates=("example.com/quota",))
    assert held_back([a_muster(pod)]) == ()


def test_taking_our_gate_off_the_only_one_leaves_none() -> None:
    assert without_gate(gated("p-0", 0)) == {"spec": {"schedulingGates": None}}


def test_the_gates_of_users_stay_and_none_that_was_lifted_meanwhile_comes_back() -> None:
    patch = without_gate(gated("p-0", 0, "c", "example.com/quota"))
    assert patch == {
        "spec": {"schedulingGates": [{"name": "example.com/quota"}]},
        "metadata": {"resourceVersion": "7"},
    }


@pytest.mark.parametrize(
    ("pods", "scheduled"),
    [
        pytest.param([*up(0, 1)], True, id="every group has its minimum on nodes"),
        pytest.param([*up(0), *held(1)], False, id="one is held back"),
        pytest.param([*up(0)], False, id="one is missing"),
        pytest.param([*up(0), a_pod("p-1", 1, leaving=True)], False, id="one is leaving"),
        pytest.param([*up(0), *lost(1)], True, id="one has failed where it was"),
    ],
)
def test_whether_a_gang_is_scheduled_is_seen_by_its_pods(pods: list[Pod], scheduled: bool) -> None:
    known = {pod.metadata.name: pod for pod in pods}
    gang = a_bare_gang("g", a_pod_group("c", *NAMES, least=2))
    assert is_gang_scheduled(gang, {"c": NAMES}, known.get) is scheduled


def test_a_gang_without_groups_has_nothing_to_wait_for() -> None:
    assert is_gang_scheduled(a_bare_gang(), {}, lambda _: None)


KINDS = st.sampled_from(["up", "gated", "absent"])


@given(st.lists(st.tuples(st.lists(KINDS, min_size=1, max_size=4), st.integers(1, 4)), max_size=3))
def test_no_gate_is_lifted_while_a_group_lacks_its_minimum(
    groups: list[tuple[list[str], int]],
) -> None:
    musters = []
    for kinds, minimum in groups:
        names = tuple(f"p-{index}" for index in range(len(kinds)))
        pods = [
            a_pod(name, 0) if kind == "up" else gated(name, 0)
            for kind, name in zip(kinds, names, strict=True)
            if kind != "absent"
        ]
        musters.append(a_muster(*pods, minimum=min(minimum, len(names)), names=names))
    if may_start(musters):
        assert all(each.present >= each.minimum for each in musters)
        assert all(GANG_GATE in pod.gates for pod in held_back(musters))
