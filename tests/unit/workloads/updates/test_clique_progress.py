# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.workloads.updates.told import NEW, NOW, OLD, clique, condition, seen
from trellis.api.grove.podclique import PodCliqueStatus
from trellis.api.grove.updates import ON_DELETE, ROLLING_RECREATE, CliqueProgress, SelectedPods
from trellis.workloads.updates.progress import notes
from trellis.workloads.updates.progress.selections import MOST_COMPLETED

LATER = NOW + timedelta(minutes=5)
AT_REST = clique(PodCliqueStatus(), OLD)
ROLLING = clique(AT_REST, outdated=3, chosen=("a",))


def test_there_is_nothing_to_tell_before_the_first_change() -> None:
    assert AT_REST.update_progress is None
    assert AT_REST.current_pod_template_hash == OLD
    assert AT_REST.current_pod_clique_set_generation_hash == f"of-{OLD}"
    assert condition(AT_REST) == ("False", "NoUpdate")


def test_a_rolling_update_begins_with_what_it_chose_and_without_having_reached_anything() -> None:
    assert ROLLING.update_progress == CliqueProgress(
        update_started_at=NOW,
        pod_clique_set_generation_hash=f"of-{NEW}",
        pod_template_hash=NEW,
        ready_pods_selected_to_update=SelectedPods(current="a"),
    )
    assert ROLLING.rolling_update_progress == ROLLING.update_progress
    assert (ROLLING.current_pod_template_hash, ROLLING.updated_replicas) == (OLD, 0)
    assert condition(ROLLING) == ("True", "UpdateInProgress")


def test_a_rolling_update_ends_and_only_then_moves_the_hashes() -> None:
    waits = clique(ROLLING, ended=False, chosen=("b",), now=LATER)
    assert waits.update_progress is not None
    assert waits.update_progress.ready_pods_selected_to_update == SelectedPods(
        current="b", completed=("a",)
    )
    assert waits.current_pod_template_hash == OLD
    over = clique(waits, now=LATER)
    assert over.update_progress is not None
    assert over.update_progress.update_started_at == NOW
    assert over.update_progress.update_ended_at == LATER
    assert over.update_progress.ready_pods_selected_to_update is None
    assert over.current_pod_template_hash == NEW
    assert over.current_pod_clique_set_generation_hash == f"of-{NEW}"
    assert condition(over) == ("False", "UpdateCompleted")


def test_a_rolling_update_does_not_end_before_it_is_known_whose_turn_it_is() -> None:
    """Who has yet to hear from the set that pods were taken down does not wait for others."""
    early = clique(ROLLING, released=False, announced=False, now=LATER)
    assert early.update_progress is not None
    assert early.update_progress.update_ended_at is None
    assert early.current_pod_template_hash == OLD
    for released, announced in ((False, True), (True, False)):
        over = clique(ROLLING, released=released, announced=announced, now=LATER)
        assert over.update_progress is not None
        assert over.update_progress.update_ended_at == LATER


def test_by_hand_an_update_begins_and_ends_in_one_moment() -> None:
    edited = clique(AT_REST, outdated=3, strategy=ON_DELETE, chosen=("a",))
    progress = edited.update_progress
    assert progress is not None
    assert progress.update_started_at == progress.update_ended_at == NOW
    assert progress.pod_template_hash == NEW
    assert progress.ready_pods_selected_to_update is None
    assert edited.current_pod_template_hash == OLD
    assert condition(edited) == ("False", "UpdateWaitsForDeletion")
    replaced = clique(edited, strategy=ON_DELETE, now=LATER)
    assert replaced.update_progress == progress
    assert replaced.current_pod_template_hash == NEW


def test_two_edits_by_hand_in_one_second_are_two_updates() -> None:
    first = clique(AT_REST, outdated=3, strategy=ON_DELETE)
    second = clique(first, "v1-newer", outdated=3, strategy=ON_DELETE)
    assert second.update_progress is not None
    assert second.update_progress.pod_template_hash == "v1-newer"


def test_a_newer_template_in_the_middle_is_another_update() -> None:
    newer = clique(ROLLING, "v1-newer", outdated=3, now=LATER)
    assert newer.update_progress is not None
    assert newer.update_progress.update_started_at == LATER
    assert newer.update_progress.pod_template_hash == "v1-newer"
    assert newer.update_progress.ready_pods_selected_to_update is None


def test_the_template_of_another_clique_is_none() -> None:
    other = clique(ROLLING, outdated=2, generation="another", now=LATER)
    assert other.update_progress is not None
    assert other.update_progress.update_started_at == NOW
    assert other.update_progress.pod_clique_set_generation_hash == "another"
    still = clique(AT_REST, OLD, generation="another", now=LATER)
    assert still.update_progress is None
    assert still.current_pod_clique_set_generation_hash == "another"


def test_switching_to_by_hand_ends_a_roll_where_it_is() -> None:
    over = clique(ROLLING, outdated=2, strategy=ON_DELETE, now=LATER)
    assert over.update_progress is not None
    assert over.update_progress.update_started_at == NOW
    assert over.update_progress.update_ended_at == LATER
    assert over.update_progress.ready_pods_selected_to_update is None
    assert over.current_pod_template_hash == OLD


def test_switching_to_rolling_begins_anew_when_its_turn_has_come() -> None:
    edited = clique(AT_REST, outdated=2, strategy=ON_DELETE)
    waits = clique(edited, outdated=2, released=False, ended=False, now=LATER)
    assert waits.update_progress == edited.update_progress
    begun = clique(waits, outdated=2, now=LATER)
    assert begun.update_progress is not None
    assert begun.update_progress.update_started_at == LATER
    assert begun.update_progress.update_ended_at is None


def test_switching_to_rolling_with_nothing_outdated_begins_nothing() -> None:
    edited = clique(clique(AT_REST, outdated=2, strategy=ON_DELETE), strategy=ON_DELETE)
    assert clique(edited, now=LATER).update_progress == edited.update_progress


def test_a_hash_of_another_operator_for_the_same_template_is_no_update() -> None:
    foreign = PodCliqueStatus(current_pod_template_hash="7x9", update_progress=None)
    taken = clique(foreign, current=frozenset({NEW, "7x9"}))
    assert taken.update_progress is None
    assert taken.current_pod_template_hash == NEW


def test_what_an_older_operator_began_is_gone_on_with() -> None:
    began = CliqueProgress(
        update_started_at=NOW, pod_clique_set_generation_hash="7x", pod_template_hash=NEW
    )
    before = PodCliqueStatus(current_pod_template_hash=OLD, rolling_update_progress=began)
    over = clique(before, now=LATER)
    assert over.update_progress is not None
    assert over.update_progress.update_started_at == NOW
    assert over.update_progress.update_ended_at == LATER
    assert over.rolling_update_progress == over.update_progress


def test_of_the_older_and_the_newer_field_the_later_update_counts() -> None:
    def began(at: datetime) -> CliqueProgress:
        return CliqueProgress(
            update_started_at=at, pod_clique_set_generation_hash="7x", pod_template_hash=NEW
        )

    for one, other in ((NOW, LATER), (LATER, NOW)):
        before = PodCliqueStatus(update_progress=began(one), rolling_update_progress=began(other))
        found = clique(before, outdated=1, now=LATER).update_progress
        assert found is not None
        assert found.update_started_at == LATER


def test_what_was_chosen_does_not_grow_without_bound() -> None:
    status = ROLLING
    for number in range(200):
        status = clique(status, outdated=3, chosen=(f"pod-{number}", f"pod-{number}b"))
    assert status.update_progress is not None
    chosen = status.update_progress.ready_pods_selected_to_update
    assert chosen is not None
    assert chosen.current == "pod-199b"
    assert len(chosen.completed) == MOST_COMPLETED
    many = clique(status, outdated=3, chosen=tuple(f"other-{number}" for number in range(90)))
    again = clique(many, outdated=3, chosen=tuple(f"other-{number}" for number in range(90)))
    assert many == again


def test_events_tell_that_an_update_began_and_ended() -> None:
    looks = seen(ROLLING_RECREATE, True)
    began = list(notes(AT_REST.update_progress, ROLLING.update_progress, looks))
    assert [note.text for note in began] == ["An update began. So."]
    over = clique(ROLLING, now=LATER)
    ended = list(notes(ROLLING.update_progress, over.update_progress, seen("", False)))
    assert [note.reason for note in ended] == ["UpdateCompleted"]
    assert not list(notes(over.update_progress, over.update_progress, looks))
    by_hand = clique(AT_REST, outdated=1, strategy=ON_DELETE).update_progress
    both = list(notes(None, by_hand, seen(ON_DELETE, True)))
    assert [note.reason for note in both] == ["UpdateStarted", "UpdateWaitsForDeletion"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([OLD, NEW, "v1-newer"]),
            st.integers(0, 3),
            st.sampled_from([ROLLING_RECREATE, ON_DELETE]),
            st.booleans(),
            st.lists(st.sampled_from(["a", "b", "c"]), unique=True, max_size=2),
        ),
        max_size=8,
    )
)
def test_saying_it_again_changes_nothing(
    passes: list[tuple[str, int, str, bool, list[str]]],
) -> None:
    status, now = PodCliqueStatus(), NOW
    for template, outdated, strategy, released, chosen in passes:
        now += timedelta(seconds=30)
        more = {
            "outdated": outdated,
            "strategy": strategy,
            "released": released,
            "chosen": tuple(chosen),
        }
        status = clique(status, template, now=now, **more)
        assert clique(status, template, now=now + timedelta(seconds=9), **more) == status
        progress = status.update_progress
        if strategy == ON_DELETE and progress is not None:
            assert progress.update_ended_at is not None
            assert progress.ready_pods_selected_to_update is None
