# SPDX-License-Identifier: Apache-2.0
"""What people read, and that nothing is written when nothing has changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from tests.unit.topology.builders import a_topology
from trellis.api.conditions import Condition, Motion, Pass, find
from trellis.api.grove.clustertopology import ClusterTopology, ClusterTopologyStatus
from trellis.api.reasons import CATALOGUE, objects
from trellis.kube.errors import Failure, Forbidden, Invalid, KubeError, Unavailable
from trellis.runtime.converged import Converged, NameConflict, Refusal
from trellis.topology import standing
from trellis.topology.status import Written, after, notes, status, trouble

if TYPE_CHECKING:
    from trellis.topology.standing import Standing

NOW = datetime(2026, 3, 1, 12, 0, 0, 500, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
DONE = Converged()
WELL = standing.well("rack, host")
WAITING = standing.under_way(objects.CREATING_CHILDREN, "soon")
TAKEN = standing.name_taken("grove-topology", "nobody")


def forbidden() -> Forbidden:
    return Forbidden("POST /x", Failure(code=403, message="no create for you"))


def invalid() -> Invalid:
    return Invalid("POST /x", Failure(code=422, message="nodeLabel is odd"))


def refused(error: Forbidden | Invalid) -> Converged:
    return Converged(refused=(Refusal("create", "grove-topology", error),))


def unavailable() -> Unavailable:
    return Unavailable("POST /x", Failure(code=503, message="later"))


def written(found: ClusterTopology, stands: Standing, now: datetime = NOW) -> ClusterTopology:
    """The topology with the status that a pass leaves."""
    return structs.replace(found, status=status(found, stands, Pass(3, now)))


def told(found: ClusterTopology) -> dict[str, tuple[str, str]]:
    return {each.type: (each.status, each.reason) for each in found.status.conditions}


READY = {
    "Ready": ("True", "TopologyReady"),
    "Reconciling": ("False", "TopologyReady"),
    "Stalled": ("False", "TopologyReady"),
}
FAILED = ("False", "KAITopologyCreationOrUpdateFailed")


@pytest.mark.parametrize(
    ("result", "want"),
    [
        pytest.param(DONE, READY, id="all went well"),
        pytest.param(
            refused(forbidden()),
            {
                "Ready": FAILED,
                "Reconciling": ("False", "Forbidden"),
                "Stalled": ("True", "Forbidden"),
            },
            id="the operator lacks a permission",
        ),
        pytest.param(
            refused(invalid()),
            {"Ready": FAILED, "Reconciling": ("False", "Refused"), "Stalled": ("True", "Refused")},
            id="KAI's definition refuses it",
        ),
        pytest.param(
            unavailable(),
            {
                "Ready": FAILED,
                "Reconciling": ("True", "Retrying"),
                "Stalled": ("False", "Retrying"),
            },
            id="the server was not to be had",
        ),
        pytest.param(
            Converged(conflicts=(NameConflict("grove-topology", "nobody"),)),
            {
                "Ready": FAILED,
                "Reconciling": ("False", "NameConflict"),
                "Stalled": ("True", "NameConflict"),
            },
            id="somebody took the name in between",
        ),
        pytest.param(
            Converged(blocked=("grove-topology",)),
            {
                "Ready": ("Unknown", "CreatingChildren"),
                "Reconciling": ("True", "CreatingChildren"),
                "Stalled": ("False", "CreatingChildren"),
            },
            id="the former one is still going",
        ),
    ],
)
def test_conditions_after(result: Written, want: dict[str, tuple[str, str]]) -> None:
    assert told(written(a_topology(), after(result, WELL))) == want


def test_every_reason_is_in_the_catalogue() -> None:
    results: list[Written] = [DONE, refused(forbidden()), refused(invalid()), unavailable()]
    stands = [*(after(result, WELL) for result in results), WAITING, TAKEN]
    reasons = {finding.reason for each in stands for finding in each.findings()}
    assert all(CATALOGUE[reason.token] is reason for reason in reasons)


def test_a_failure_is_told_in_the_servers_words_with_its_code() -> None:
    found = written(a_topology(), after(refused(invalid()), WELL))
    (error,) = found.status.last_errors
    assert error.code == "KAI_TOPOLOGY_CREATE_ERROR"
    assert error.description == "create grove-topology: nodeLabel is odd"
    assert error.observed_at == NOW.replace(microsecond=0)


def test_a_clean_pass_clears_the_errors() -> None:
    failed = written(a_topology(), after(unavailable(), WELL))
    assert failed.status.last_errors
    assert written(failed, WELL, LATER).status.last_errors == ()


def test_waiting_is_no_error() -> None:
    assert written(a_topology(), WAITING).status.last_errors == ()


@pytest.mark.parametrize(
    "stands",
    [
        pytest.param(WELL, id="well"),
        pytest.param(WAITING, id="waiting"),
        pytest.param(TAKEN, id="stuck"),
        pytest.param(after(unavailable(), WELL), id="trying again in vain"),
    ],
)
def test_the_same_again_changes_nothing(stands: Standing) -> None:
    found = written(a_topology(), stands)
    assert written(found, stands, LATER) == found


def test_another_error_has_its_own_time() -> None:
    failed = written(a_topology(), after(refused(invalid()), WELL))
    (error,) = written(failed, after(unavailable(), WELL), LATER).status.last_errors
    assert error.observed_at == LATER.replace(microsecond=0)


def test_the_generation_that_was_judged_is_told() -> None:
    found = written(a_topology(), WELL)
    assert found.status.observed_generation == 3
    assert {each.observed_generation for each in found.status.conditions} == {3}


def test_conditions_of_others_survive() -> None:
    theirs = Condition(type="Audited", status="True", reason="Yes", message="by hand")
    before = a_topology(status=ClusterTopologyStatus(conditions=(theirs,)))
    assert find(written(before, WELL).status.conditions, "Audited") == theirs


def test_the_time_of_a_transition_stays_while_the_status_does() -> None:
    failed = written(a_topology(), TAKEN)
    still = written(failed, after(unavailable(), WELL), LATER)
    (ready,) = (each for each in still.status.conditions if each.type == "Ready")
    assert ready.last_transition_time == NOW.replace(microsecond=0)


@pytest.mark.parametrize(
    ("before", "result", "planned", "want"),
    [
        pytest.param(None, DONE, WELL, [("TopologyReady", "Normal")], id="when it becomes ready"),
        pytest.param(WELL, DONE, WELL, [], id="not when nothing happens"),
        pytest.param(
            WELL,
            unavailable(),
            WELL,
            [("KAITopologyCreationOrUpdateFailed", "Warning")],
            id="when writing begins to fail",
        ),
        pytest.param(after(unavailable(), WELL), unavailable(), WELL, [], id="not when it goes on"),
        pytest.param(WELL, DONE, WAITING, [("CreatingChildren", "Normal")], id="when it must wait"),
        pytest.param(WAITING, DONE, WELL, [("TopologyReady", "Normal")], id="when it has waited"),
        pytest.param(
            WELL,
            Converged(created=("grove-topology",)),
            WELL,
            [("TopologyInSync", "Normal")],
            id="when what somebody deleted is back",
        ),
        pytest.param(
            WELL,
            Converged(patched=("grove-topology",)),
            WELL,
            [("TopologyInSync", "Normal")],
            id="when what somebody changed is as it was",
        ),
        pytest.param(
            None,
            Converged(created=("grove-topology",)),
            WELL,
            [("TopologyReady", "Normal")],
            id="once when both are true",
        ),
    ],
)
def test_events(
    before: Standing | None, result: Written, planned: Standing, want: list[tuple[str, str]]
) -> None:
    found = written(a_topology(), before) if before else a_topology()
    said = list(notes(found, after(result, planned), result))
    assert [(note.reason, note.type) for note in said] == want
    assert all(note.reason in CATALOGUE for note in said)


@pytest.mark.parametrize(
    ("result", "error"),
    [
        pytest.param(DONE, None, id="nothing to try again"),
        pytest.param(unavailable(), Unavailable, id="a server that was not to be had"),
        pytest.param(refused(forbidden()), Forbidden, id="a permission that may be granted"),
        pytest.param(
            Converged(conflicts=(NameConflict("x", "y"),)), None, id="a taken name: its end is told"
        ),
        pytest.param(Converged(blocked=("x",)), None, id="one that goes: its end is told"),
    ],
)
def test_what_is_tried_again(result: Written, error: type[KubeError] | None) -> None:
    found = trouble(result)
    assert (type(found) if found else None) is error


def test_moving_and_stuck_exclude_each_other() -> None:
    for motion in Motion:
        stands = standing.unwritten(motion, objects.RETRYING, "x")
        true = [finding.type for finding in stands.findings() if finding.status.value == "True"]
        assert len(true) <= 1
