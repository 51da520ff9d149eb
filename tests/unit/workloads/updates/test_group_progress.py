# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.workloads.updates.told import NEW, NOW, OLD, condition, group
from trellis.api.grove.scalinggroup import PodCliqueScalingGroupStatus
from trellis.api.grove.updates import (
    ON_DELETE,
    ROLLING_RECREATE,
    GroupProgress,
    OldGroupProgress,
    SelectedReplicas,
)

LATER = NOW + timedelta(minutes=5)
AT_REST = group(PodCliqueScalingGroupStatus(), OLD)
ROLLING = group(AT_REST, outdated=True, chosen=(2,))


def test_there_is_nothing_to_tell_before_the_first_change() -> None:
    assert (AT_REST.update_progress, AT_REST.rolling_update_progress) == (None, None)
    assert AT_REST.current_pod_clique_set_generation_hash == OLD
    assert condition(AT_REST) == ("False", "NoUpdate")


def test_a_rolling_update_begins_with_what_it_chose() -> None:
    assert ROLLING.update_progress == GroupProgress(
        update_started_at=NOW,
        pod_clique_set_generation_hash=NEW,
        total_pod_cliques_count=4,
        ready_replica_indices_selected_to_update=SelectedReplicas(current=2),
    )
    assert isinstance(ROLLING.rolling_update_progress, OldGroupProgress)
    assert ROLLING.rolling_update_progress.update_started_at == NOW
    assert ROLLING.current_pod_clique_set_generation_hash == OLD


def test_a_rolling_update_ends_and_only_then_moves_the_hash() -> None:
    over = group(ROLLING, now=LATER)
    assert over.update_progress == GroupProgress(
        update_started_at=NOW,
        update_ended_at=LATER,
        pod_clique_set_generation_hash=NEW,
        updated_pod_cliques_count=4,
        total_pod_cliques_count=4,
    )
    assert over.current_pod_clique_set_generation_hash == NEW


def test_a_rolling_update_does_not_end_before_its_set_has_told_of_it() -> None:
    """Who has yet to hear whose turn it is does not know what is waited for."""
    early = group(ROLLING, announced=False, now=LATER)
    assert early.update_progress is not None
    assert early.update_progress.update_ended_at is None
    assert early.current_pod_clique_set_generation_hash == OLD


def test_a_rolling_update_does_not_end_before_the_numbers_say_so() -> None:
    early = group(ROLLING, counted=False, updated=1, members_updated=2, now=LATER)
    assert early.update_progress is not None
    assert early.update_progress.update_ended_at is None
    assert early.current_pod_clique_set_generation_hash == OLD
    assert condition(early) == ("True", "UpdateInProgress")


def test_by_hand_an_update_begins_when_all_members_have_their_specs() -> None:
    partly = group(AT_REST, outdated=True, strategy=ON_DELETE)
    assert partly.update_progress is None
    handed = group(partly, outdated=True, handed=True, strategy=ON_DELETE, chosen=(1,), now=LATER)
    progress = handed.update_progress
    assert progress is not None
    assert progress.update_started_at == progress.update_ended_at == LATER
    assert progress.ready_replica_indices_selected_to_update is None
    assert handed.current_pod_clique_set_generation_hash == OLD
    assert condition(handed) == ("False", "UpdateWaitsForDeletion")


def test_templates_that_leave_the_group_as_it_is_are_no_update() -> None:
    other = group(AT_REST, NEW, now=LATER)
    assert other.update_progress is None
    assert other.current_pod_clique_set_generation_hash == NEW


def test_before_its_turn_nothing_begins() -> None:
    waits = group(AT_REST, outdated=True, released=False, ended=False)
    assert waits.update_progress is None
    assert waits.current_pod_clique_set_generation_hash == OLD


def test_switching_both_ways() -> None:
    stopped = group(ROLLING, outdated=True, strategy=ON_DELETE, now=LATER)
    assert stopped.update_progress is not None
    assert stopped.update_progress.update_ended_at == LATER
    assert stopped.update_progress.ready_replica_indices_selected_to_update is None
    later = LATER + timedelta(minutes=1)
    begun = group(stopped, outdated=True, chosen=(1,), now=later)
    assert begun.update_progress is not None
    assert begun.update_progress.update_started_at == later
    assert begun.update_progress.ready_replica_indices_selected_to_update == SelectedReplicas(
        current=1
    )


def test_what_an_older_operator_began_is_gone_on_with() -> None:
    began = OldGroupProgress(
        update_started_at=NOW, pod_clique_set_generation_hash=NEW, updated_pod_cliques=("a", "b")
    )
    over = group(PodCliqueScalingGroupStatus(rolling_update_progress=began), now=LATER)
    assert over.update_progress is not None
    assert over.update_progress.update_started_at == NOW
    assert over.update_progress.update_ended_at == LATER


@given(
    st.lists(
        st.tuples(
            st.sampled_from([OLD, NEW]),
            st.booleans(),
            st.sampled_from([ROLLING_RECREATE, ON_DELETE]),
            st.booleans(),
            st.booleans(),
        ),
        max_size=8,
    )
)
def test_saying_it_again_changes_nothing(
    passes: list[tuple[str, bool, str, bool, bool]],
) -> None:
    status, now = PodCliqueScalingGroupStatus(), NOW
    for generation, outdated, strategy, released, handed in passes:
        now += timedelta(seconds=30)
        more = {
            "outdated": outdated,
            "strategy": strategy,
            "released": released,
            "handed": handed,
            "chosen": (1,) if outdated else (),
        }
        status = group(status, generation, now=now, **more)
        assert group(status, generation, now=now + timedelta(seconds=9), **more) == status
