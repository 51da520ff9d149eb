# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.workloads.updates.told import NEW, NOW, OLD, condition, whole
from trellis.api.grove.podcliqueset import PodCliqueSetStatus
from trellis.api.grove.updates import (
    ON_DELETE,
    ROLLING_RECREATE,
    OldSetProgress,
    ReplicaProgress,
    SetProgress,
)
from trellis.workloads.updates.progress import Counts, selected

LATER = NOW + timedelta(minutes=5)
AT_REST = whole(PodCliqueSetStatus(), OLD)
BEGUN = whole(AT_REST, outdated=True, active=(1,), number=2)
ROLLING = whole(BEGUN, outdated=True, active=(1,), number=2, handed=True)


def to_new(**more: Any) -> SetProgress:
    """An update to the new templates."""
    return SetProgress(pod_clique_set_generation_hash=NEW, **more)


def test_there_is_nothing_to_tell_before_the_first_change() -> None:
    assert (AT_REST.update_progress, AT_REST.rolling_update_progress) == (None, None)
    assert AT_REST.current_generation_hash == OLD
    assert condition(AT_REST) == ("False", "NoUpdate")


def test_the_hash_of_a_new_set_is_there_from_the_start() -> None:
    first = whole(PodCliqueSetStatus(), OLD, handed=False)
    assert (first.current_generation_hash, first.update_progress) == (OLD, None)


def test_a_rolling_update_begins_with_a_replica_and_moves_the_hash_when_that_has_its_specs() -> (
    None
):
    assert BEGUN.update_progress == to_new(
        update_started_at=NOW,
        currently_updating=(ReplicaProgress(replica_index=1, update_started_at=NOW),),
    )
    assert BEGUN.current_generation_hash == OLD
    assert ROLLING.update_progress == BEGUN.update_progress
    assert ROLLING.current_generation_hash == NEW
    assert selected(ROLLING) == (1,)
    assert condition(ROLLING) == ("True", "UpdateInProgress")


def test_the_next_replica_has_a_time_of_its_own() -> None:
    following = whole(ROLLING, outdated=True, handed=True, active=(0,), number=2, now=LATER)
    assert following.update_progress is not None
    assert following.update_progress.update_started_at == NOW
    assert following.update_progress.currently_updating == (
        ReplicaProgress(replica_index=0, update_started_at=LATER),
    )


def test_a_rolling_update_ends_without_anything_selected() -> None:
    counts = Counts(cliques_updated=2, cliques=2, groups_updated=1, groups=1)
    over = whole(ROLLING, number=2, counts=counts, now=LATER)
    assert over.update_progress == to_new(
        update_started_at=NOW,
        update_ended_at=LATER,
        updated_pod_cliques_count=2,
        total_pod_cliques_count=2,
        updated_pod_clique_scaling_groups_count=1,
        total_pod_clique_scaling_groups_count=1,
    )
    assert over.rolling_update_progress == OldSetProgress(
        update_started_at=NOW, update_ended_at=LATER
    )
    assert (over.updated_replicas, selected(over)) == (2, ())


def test_by_hand_an_update_is_told_when_all_children_have_their_specs_and_the_hash_with_it() -> (
    None
):
    edited = whole(AT_REST, outdated=True, strategy=ON_DELETE, number=2)
    assert (edited.update_progress, edited.current_generation_hash) == (None, OLD)
    handed = whole(edited, outdated=True, handed=True, strategy=ON_DELETE, number=2, now=LATER)
    assert handed.update_progress == to_new(update_started_at=LATER, update_ended_at=LATER)
    assert handed.current_generation_hash == NEW
    assert condition(handed) == ("False", "UpdateWaitsForDeletion")


def test_by_hand_a_change_before_anything_was_told_is_an_update_too() -> None:
    new = PodCliqueSetStatus()
    untold = whole(new, outdated=True, strategy=ON_DELETE, number=2)
    assert untold.update_progress is None
    told = whole(new, outdated=True, handed=True, strategy=ON_DELETE, number=2, now=LATER)
    assert told.update_progress == to_new(update_started_at=LATER, update_ended_at=LATER)
    assert told.current_generation_hash == NEW


def test_a_newer_template_in_the_middle_is_another_update() -> None:
    for status in (BEGUN, ROLLING):
        newer = whole(status, "v1-newer", outdated=True, active=(1,), number=3, now=LATER)
        assert newer.update_progress is not None
        assert newer.update_progress.update_started_at == LATER
        assert selected(newer) == (1,)


def test_scaling_in_the_middle_is_no_other_update() -> None:
    for status in (BEGUN, ROLLING):
        scaled = whole(status, outdated=True, active=(1,), number=3, now=LATER)
        assert scaled.update_progress is not None
        assert scaled.update_progress.update_started_at == NOW


def test_switching_to_by_hand_ends_a_roll_where_it_is() -> None:
    over = whole(ROLLING, outdated=True, handed=True, strategy=ON_DELETE, number=3, now=LATER)
    assert over.update_progress == to_new(update_started_at=NOW, update_ended_at=LATER)


def test_switching_to_by_hand_ends_a_roll_before_all_children_have_the_next_template() -> None:
    over = whole(ROLLING, "v1-newer", outdated=True, strategy=ON_DELETE, number=3, now=LATER)
    assert over.update_progress == to_new(update_started_at=NOW, update_ended_at=LATER)
    assert over.current_generation_hash == NEW


def test_a_roll_that_a_switch_has_ended_is_no_other_update_when_its_templates_are_handed_on() -> (
    None
):
    for status in (BEGUN, ROLLING):
        over = whole(status, outdated=True, strategy=ON_DELETE, number=3, now=LATER)
        much_later = LATER + timedelta(minutes=1)
        handed = whole(
            over, outdated=True, handed=True, strategy=ON_DELETE, number=3, now=much_later
        )
        assert handed.update_progress == to_new(update_started_at=NOW, update_ended_at=LATER)
        assert handed.current_generation_hash == NEW


def test_what_is_taken_back_after_such_a_switch_is_another_update_and_so_is_what_comes_again() -> (
    None
):
    stopped = whole(BEGUN, outdated=True, strategy=ON_DELETE, number=3)
    back = whole(stopped, OLD, handed=True, strategy=ON_DELETE, number=4, now=LATER)
    assert back.update_progress == SetProgress(
        pod_clique_set_generation_hash=OLD, update_started_at=LATER, update_ended_at=LATER
    )
    again = LATER + timedelta(minutes=1)
    anew = whole(back, outdated=True, handed=True, strategy=ON_DELETE, number=5, now=again)
    assert anew.update_progress == to_new(update_started_at=again, update_ended_at=again)


def test_switching_to_rolling_with_outdated_pods_begins_at_once() -> None:
    edited = whole(AT_REST, outdated=True, handed=True, strategy=ON_DELETE, number=2)
    begun = whole(edited, outdated=True, handed=True, active=(0,), number=3, now=LATER)
    assert begun.update_progress is not None
    assert begun.update_progress.update_started_at == LATER
    assert begun.update_progress.update_ended_at is None


def test_a_set_of_another_operator_is_taken_over_without_an_update() -> None:
    taken = whole(PodCliqueSetStatus(current_generation_hash="7x9"))
    assert (taken.update_progress, taken.current_generation_hash) == (None, NEW)
    outdated = whole(PodCliqueSetStatus(current_generation_hash="7x9"), outdated=True, active=(0,))
    assert outdated.update_progress is not None


def test_a_set_without_replicas_is_updated_in_a_moment() -> None:
    status = whole(AT_REST, number=2, now=LATER)
    assert status.update_progress == to_new(update_started_at=LATER, update_ended_at=LATER)
    assert status.current_generation_hash == NEW


def test_an_update_ends_only_when_all_children_are_there() -> None:
    waits = whole(AT_REST, number=2, handed=False)
    assert waits.update_progress == to_new(update_started_at=NOW)
    assert condition(waits) == ("True", "UpdateInProgress")
    over = whole(waits, number=2, now=LATER)
    assert over.update_progress == to_new(update_started_at=NOW, update_ended_at=LATER)


def test_what_an_older_operator_began_is_gone_on_with() -> None:
    third = ReplicaProgress(replica_index=3, update_started_at=NOW)
    began = OldSetProgress(
        update_started_at=NOW, updated_pod_cliques=("a",), currently_updating=third
    )
    status = PodCliqueSetStatus(current_generation_hash=NEW, rolling_update_progress=began)
    assert selected(status) == (3,)
    read = whole(status, outdated=True, active=(3,), now=LATER)
    assert read.update_progress == to_new(update_started_at=NOW, currently_updating=(third,))


@given(
    st.lists(
        st.tuples(
            st.sampled_from([OLD, NEW, "v1-newer", "7x9"]),
            st.booleans(),
            st.sampled_from([ROLLING_RECREATE, ON_DELETE]),
            st.booleans(),
            st.integers(1, 3),
        ),
        max_size=8,
    )
)
def test_saying_it_again_changes_nothing(passes: list[tuple[str, bool, str, bool, int]]) -> None:
    status, now = PodCliqueSetStatus(), NOW
    for generation, outdated, strategy, handed, number in passes:
        now += timedelta(seconds=30)
        more = {
            "outdated": outdated,
            "strategy": strategy,
            "handed": handed,
            "number": number,
            "active": (number,) if outdated and strategy == ROLLING_RECREATE else (),
        }
        status = whole(status, generation, now=now, **more)
        assert whole(status, generation, now=now + timedelta(seconds=9), **more) == status
        if strategy == ON_DELETE:
            assert not selected(status)
