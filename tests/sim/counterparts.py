# SPDX-License-Identifier: Apache-2.0
"""Which scenario is which of the stories that are tested end to end on a cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parents[1] / "e2e"
_TEST = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)

# By file and test, the names of the scenarios that tell the same.
COUNTERPARTS: dict[str, dict[str, tuple[str, ...]]] = {
    "workloads/test_gang_termination.py": {
        "test_gt1_a_clique_that_needs_all_its_pods_takes_the_whole_replica_along": (
            "GT1: a clique that needs all its pods loses one",
            "a gang is broken for too long",
        ),
        "test_gt2_so_does_one_in_a_scaling_group_that_needs_all_its_replicas": (
            "GT2: a group that needs all its replicas loses a pod",
        ),
        "test_gt3_a_clique_may_lose_what_it_does_not_need": (
            "GT3: a clique loses what it does not need",
        ),
        "test_gt4_a_replica_of_a_group_falls_alone_while_the_group_can_spare_it": (
            "GT4: a replica of a group that can be spared falls alone",
            "a replica of a group is broken for too long",
        ),
        "test_gt5_a_member_that_needs_all_its_pods_takes_its_group_replica_along": (
            "GT5: a member that needs all its pods takes its replica along",
        ),
        "test_gt6_a_pod_of_a_scaled_gang_is_replaced_and_nothing_else_happens": (
            "GT6: a pod of a scaled gang is replaced",
        ),
        "test_a_recycle_keeps_what_was_scaled_at_run_time": ("a recycle keeps what was scaled",),
        "test_the_deadline_is_told_before_it_passes": ("a gang is broken for too long",),
        "test_a_set_that_never_was_up_is_left_alone": ("a set that never was up is left alone",),
    },
    "workloads/test_startup_order.py": {
        "test_so1_in_the_order_of_the_list": ("SO1: in the order of the list",),
        "test_so2_a_scaled_gang_has_an_order_of_its_own": (
            "SO2: a scaled gang has an order of its own",
        ),
        "test_so3_in_an_order_that_is_written_down": ("SO3: in an order that is written down",),
        "test_so4_written_down_and_in_a_scaled_gang": ("SO4: written down, and in a scaled gang",),
        "test_a_replacement_waits_again": ("a replacement waits again",),
        "test_only_waiters_may_read_and_only_while_somebody_waits": ("cliques start in order",),
    },
    "workloads/test_resource_sharing.py": {
        "test_rs1_claims_follow_every_level": ("RS1: claims follow every level",),
        "test_a_template_that_comes_late_is_waited_for": ("a claim template comes late",),
    },
    "workloads/test_scale.py": {
        "test_sets_scale": (
            "a set is scaled out",
            "a set is scaled in",
            "a set is scaled to nothing",
            "a set is scaled again and again",
        ),
        "test_steps_are_not_waited_for": ("steps are not waited for",),
        "test_a_clique_is_scaled_by_itself": (
            "a clique is scaled out and in",
            "a clique is scaled below its minimum",
        ),
        "test_indices_in_a_group_have_no_gaps_whichever_clique_is_scaled": (
            "a clique of a group is scaled out and in",
        ),
        "test_a_clique_at_zero_starts_again": ("a clique is scaled to nothing and back",),
        "test_a_group_is_scaled_by_its_highest_replicas": ("a group is scaled out and in",),
        "test_a_group_below_its_minimum_and_back": (
            "a group falls below its minimum and grows again",
        ),
        "test_a_group_goes_on_with_fewer_than_its_minimum_and_grows_again": (
            "a group falls below its minimum and grows again",
        ),
        "test_nothing_is_left_of_a_set_that_is_deleted": (
            "a set with everything is deleted",
            "a set is deleted",
            "a set is deleted after its children",
            "a set is deleted while it starts",
        ),
        "test_a_group_of_its_own_size_in_every_replica": (
            "a group of its own size in every replica",
        ),
    },
    "workloads/test_healing.py": {
        "test_an_evicted_pod_is_replaced": ("a pod is evicted", "a pod is deleted"),
        "test_a_pod_that_hangs_is_replaced_before_it_is_gone": (
            "a pod hangs for ever",
            "a node falls silent",
        ),
        "test_a_replacement_waits_for_the_departure_where_that_is_asked": (
            "a replacement waits for the departure",
        ),
        "test_a_failed_pod_is_replaced": ("a pod fails, and its successor too",),
        "test_a_pod_that_ended_well_is_not_started_again": ("a pod is done",),
        "test_a_deleted_child_comes_back": (
            "children are deleted",
            "everything that was made is deleted",
        ),
        "test_a_gang_that_comes_back_keeps_its_pods": ("children are deleted",),
        "test_an_edit_of_metadata_alone_reaches_the_gangs": (
            "metadata alone reaches the gangs",
            "a label comes and goes",
        ),
        "test_what_others_put_on_a_gang_stays": ("others leave their marks",),
        "test_an_object_of_somebody_else_is_not_touched": (
            "a name is held by somebody else, who goes",
        ),
        "test_a_breach_of_one_replica_is_no_business_of_the_next": (
            "a breach of one replica is no business of the next",
        ),
        "test_gates_of_users_are_theirs_to_lift": ("gates of users are theirs to lift",),
    },
    "workloads/test_exactness.py": {
        "test_names_that_end_or_begin_alike_are_never_mixed_up": (
            "names that begin and end alike",
        ),
        "test_gangs_hold_who_must_start_together": ("a set with groups is made",),
        "test_status_tells_the_truth_at_every_level": ("a set with groups is made",),
        "test_a_scaled_gang_waits_for_its_base_gang": (
            "a set with groups is made",
            "a group falls below its minimum and grows again",
        ),
        "test_a_service_for_each_replica_and_none_too_many": (
            "a set is scaled out",
            "a set is scaled in",
        ),
        "test_a_missing_priority_class_is_told_and_waited_for": ("a priority class comes late",),
    },
    "workloads/test_placement.py": {},
    "workloads/test_rolling_recreate.py": {
        "test_ru7_one_pod_of_one_replica_at_a_time": (
            "RU7: a clique is rolled",
            "RU7: one replica of a set after the other",
        ),
        "test_ru8_one_replica_of_a_scaling_group_at_a_time": (
            "RU8: one clique of a group is rolled with its replica",
        ),
        "test_ru9_one_pod_a_clique_and_one_replica_a_group": (
            "RU9: all cliques of a set with groups are rolled",
        ),
        "test_ru10_without_room_one_pod_waits_and_nothing_else_is_touched": (
            "RU10: a new pod does not come up for a while",
        ),
        "test_ru11_a_replica_that_joins_meanwhile_has_the_new_template": (
            "RU11: a set grows while it is rolled",
        ),
        "test_ru12_the_replica_that_is_being_updated_may_go": (
            "RU12: a set shrinks while it is rolled",
        ),
        "test_ru13_so_may_one_that_has_been_updated": ("RU12: a set shrinks while it is rolled",),
        "test_ru14_ru15_a_scaling_group_grows": (
            "RU14, RU16: a group grows and shrinks while it is rolled",
        ),
        "test_ru16_ru17_a_scaling_group_shrinks": (
            "RU14, RU16: a group grows and shrinks while it is rolled",
        ),
        "test_ru18_ru19_a_clique_grows": (
            "RU18, RU20: a clique grows and shrinks while it is rolled",
        ),
        "test_ru20_ru21_a_clique_shrinks": (
            "RU18, RU20: a clique grows and shrinks while it is rolled",
        ),
        "test_a_newer_change_takes_the_place_of_one_under_way": (
            "a change supersedes another that is being rolled",
            "an update is rolled back before it is over",
        ),
        "test_what_never_can_run_is_mended_by_an_update": (
            "a set that was never up is mended by an update",
        ),
    },
    "workloads/test_rolling_limits.py": {
        "test_as_many_pods_go_at_once_as_are_allowed": ("RU7: a clique is rolled",),
        "test_so_do_replicas_of_a_scaling_group": (
            "RU8: one clique of a group is rolled with its replica",
        ),
        "test_no_gang_is_made_anew_because_an_update_takes_its_time": (
            "RU10: a new pod does not come up for a while",
        ),
        "test_a_pod_lost_before_its_turn_returns_on_the_template_of_its_peers": (
            "a pod dies that is yet to be rolled",
        ),
        "test_what_is_down_already_costs_nothing": (
            "a set that was never up is mended by an update",
        ),
        "test_what_finds_no_room_does_not_hold_up_the_others": (
            "RU10: a new pod does not come up for a while",
        ),
    },
    "workloads/test_on_delete.py": {
        "test_od1_a_change_of_a_clique_deletes_nothing": (
            "OD1, OD4: under OnDelete a change kills nobody",
        ),
        "test_od2_a_pod_that_is_deleted_comes_back_with_the_new_template": (
            "OD2: under OnDelete what people delete comes back new",
        ),
        "test_od3_scaling_in_takes_the_outdated_pod": (
            "OD3: under OnDelete a clique grows and shrinks",
        ),
        "test_od4_a_change_in_a_scaling_group_deletes_nothing": (
            "OD1, OD4: under OnDelete a change kills nobody",
        ),
        "test_od5_a_pod_of_a_scaling_group_comes_back_with_the_new_template": (
            "OD6: under OnDelete one of each is deleted after a change of all",
        ),
        "test_od6_one_of_each_is_deleted_after_a_change_of_all": (
            "OD6: under OnDelete one of each is deleted after a change of all",
        ),
        "test_od7_no_replica_of_the_set_is_touched": (
            "OD7: under OnDelete no replica of a set is touched",
        ),
        "test_od8_a_pod_leaves_a_failed_node_and_the_others_stay": (
            "OD2: under OnDelete what people delete comes back new",
        ),
        "test_od9_only_what_changes_under_rolling_recreate_is_rolled": (
            "OD9: from OnDelete to RollingRecreate and back",
        ),
    },
    "workloads/test_on_delete_stories.py": {
        "test_case_1_from_a_change_to_scaling_in": (
            "OD2: under OnDelete what people delete comes back new",
            "OD3: under OnDelete a clique grows and shrinks",
        ),
        "test_case_2_a_node_fails_and_strategies_change": (
            "what OnDelete left is rolled after a switch",
        ),
        "test_case_2_scaling_in_with_templates_of_several_ages": (
            "OD3: under OnDelete a clique grows and shrinks",
        ),
        "test_case_3_a_replica_of_a_scaling_group_is_deleted_by_hand": (
            "a group replica is deleted by hand under OnDelete",
        ),
        "test_case_3_scaling_in_a_group_takes_the_highest_replica": (
            "RU14, RU16: a group grows and shrinks while it is rolled",
        ),
        "test_case_4_the_strategy_is_one_for_cliques_and_groups": (
            "OD1, OD4: under OnDelete a change kills nobody",
        ),
        "test_a_switch_to_on_delete_ends_a_roll_where_it_is": (
            "a switch to OnDelete ends what is being rolled",
        ),
        "test_what_watches_over_gangs_is_not_off_because_of_on_delete": (
            "a gang is broken for too long",
        ),
    },
    "examples/test_podcliqueset.py": {
        "test_the_example_runs": (
            "the example autoscaled",
            "the example disaggregated",
            "the example multinode",
            "the example single",
        ),
        "test_no_worker_of_the_multi_node_example_is_ready_before_its_leader": (
            "the example multinode",
        ),
    },
}
# What has none, and why.
ONLY_END_TO_END = {
    "test_the_host_name_stands_for_both_until_the_old_one_is_gone": "no endpoints are simulated",
    "test_the_order_is_lost_where_the_waiter_is_skipped": "waiters do not run",
    "test_a_set_may_be_called_default": "a name, and nothing that could go wrong",
    "test_what_cannot_work_is_refused_with_the_field": "admission alone",
    "test_pods_know_their_place": "what is in a pod, and nothing that could go wrong",
    "test_columns_say_how_it_is": "what kubectl shows",
    "test_kubectl_shows_that_a_minimum_is_given_up": "what kubectl shows",
    "test_pods_wait_for_the_verdict_and_are_born_where_it_says": "no placement is simulated",
    "test_kubectl_explains_what_to_do_with_on_delete": "what kubectl shows",
    "test_other_strategies_are_refused_with_those_that_there_are": "admission alone",
    "test_every_example_has_a_page_that_walks_through_it": "a page",
    "test_every_command_of_the_page_works_and_shows_something": "a page",
}


def told_in(file: str) -> Iterator[str]:
    """The names of all tests in a file."""
    for found in _TEST.finditer((FOLDER / file).read_text()):
        yield found[1]
