# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from trellis.api.grove.updates import ON_DELETE
from trellis.workloads.updates import SetReplicaFacts, SetState, next_step, outlook


def old(index: int, available: int = 2, *, begun: bool = False) -> SetReplicaFacts:
    return SetReplicaFacts(
        index=index, outdated=True, complete=False, available=available, begun=begun
    )


def new(index: int, *, complete: bool = True) -> SetReplicaFacts:
    waits_for = "" if complete else "PodClique llm-0-worker"
    return SetReplicaFacts(index=index, outdated=False, complete=complete, waits_for=waits_for)


@pytest.mark.parametrize(
    ("replicas", "selected", "active"),
    [
        pytest.param([old(0), old(1)], (), (0,), id="the lowest"),
        pytest.param([old(0), old(1, 0)], (), (1,), id="first what is broken"),
        pytest.param([old(0, 0), old(1, begun=True)], (), (1,), id="first what was begun"),
        pytest.param([old(0), old(1, 0)], (0,), (0,), id="the one selected until it ends"),
        pytest.param([new(0, complete=False), old(1)], (0,), (0,), id="and until it is complete"),
        pytest.param([new(0), old(1)], (0,), (1,), id="then the next"),
        pytest.param([old(0)], (4,), (0,), id="one that was scaled in has ended"),
        pytest.param([new(0), new(1, complete=False)], (), (), id="what is new is not selected"),
        pytest.param([], (0,), (), id="no replicas"),
    ],
)
def test_one_replica_at_a_time(
    replicas: list[SetReplicaFacts], selected: tuple[int, ...], active: tuple[int, ...]
) -> None:
    found = outlook(SetState(replicas=tuple(replicas), selected=selected))
    outdated = {one.index for one in replicas if one.outdated}
    assert found.active == active
    assert found.ended is (not active)
    assert set(found.held) == outdated - set(active)


def test_a_step_is_the_selection_of_another_replica() -> None:
    step = next_step(SetState(replicas=(new(0), old(1)), selected=(0,)))
    assert step is not None
    assert step.indices == (1,)
    assert next_step(SetState(replicas=(new(0), old(1)), selected=(1,))) is None


def test_by_hand_nothing_is_selected_and_nothing_held() -> None:
    state = SetState(replicas=(old(0), new(1)), selected=(0,), strategy=ON_DELETE)
    found = outlook(state)
    assert (found.ended, found.active, found.held, found.step) == (True, (), (), None)
    assert found.why.text.startswith("1 of 2 replicas have an older template")


def test_it_says_the_same_of_a_replica_when_it_is_chosen_and_afterwards() -> None:
    replicas = (old(0), old(1), new(2))
    chosen = outlook(SetState(replicas=replicas))
    assert chosen.why.text == (
        "Replica 0 of the set is being updated, and 1 more has an older template"
    )
    assert outlook(SetState(replicas=replicas, selected=(0,))).why == chosen.why


def test_the_replica_being_updated_says_what_it_waits_for() -> None:
    found = outlook(SetState(replicas=(new(0, complete=False),), selected=(0,)))
    assert found.why.text == (
        "Replica 0 of the set is being updated; waiting for PodClique llm-0-worker"
    )
