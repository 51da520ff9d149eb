# SPDX-License-Identifier: Apache-2.0
"""What is kept in memory: troubles of replicas, and what was found settled."""

from __future__ import annotations

import pytest

from tests.unit.workloads.sets import a_set
from trellis.api.conditions import Motion
from trellis.api.meta import Key
from trellis.api.reasons import objects
from trellis.kube.errors import Failure, Forbidden, Unavailable
from trellis.runtime.converged import Converged, NameConflict, Refusal
from trellis.runtime.outcome import DONE, Again
from trellis.workloads.podcliqueset.board import Board
from trellis.workloads.podcliqueset.ending import ending
from trellis.workloads.podcliqueset.settled import Settled
from trellis.workloads.trouble import LOOK_AGAIN_SECONDS, Trouble

SET = a_set("llm")
UID = SET.metadata.uid
TAKEN = Trouble(reason=objects.NAME_CONFLICT, message="taken")
FAILING = Trouble(reason=objects.RETRYING, message="503", motion=Motion.MOVING)


def a_board() -> tuple[Board, list[Key]]:
    board, rings = Board(), list[Key]()
    board.bell.subscribe(rings.append)
    return board, rings


def test_the_bell_rings_when_something_else_is_reported_than_before() -> None:
    board, rings = a_board()
    board.report(SET, 0, ())
    assert rings == []
    board.report(SET, 0, (TAKEN,))
    board.report(SET, 0, (TAKEN,))
    assert rings == [SET.metadata.key]
    board.report(SET, 0, ())
    assert len(rings) == 2
    assert board.of(UID) == ()


def test_troubles_are_told_in_the_order_of_replicas() -> None:
    board, _ = a_board()
    board.report(SET, 10, (TAKEN,))
    board.report(SET, 2, (FAILING,))
    board.report(SET, None, (TAKEN, FAILING))
    assert board.of(UID) == (TAKEN, FAILING, FAILING, TAKEN)
    assert board.of("another") == ()
    board.forget(UID)
    assert board.of(UID) == ()


def test_what_was_settled_is_so_while_the_facts_are_the_same() -> None:
    settled = Settled(most=2)
    settled.note(UID, "rights", (1, 2))
    assert settled.holds(UID, "rights", (1, 2))
    assert not settled.holds(UID, "rights", (1, 3))
    assert not settled.holds(UID, "claims", (1, 2))
    settled.note("b", "rights", ())
    settled.note("c", "rights", ())
    assert not settled.holds(UID, "rights", (1, 2))


REFUSED = Forbidden("POST /x", Failure(code=403, message="no"))
FAILED = Unavailable("POST /x", Failure(code=503, message="later"))
CONFLICT = Converged(conflicts=(NameConflict("a", "nobody"),))


def test_a_run_that_was_refused_or_failed_is_tried_again() -> None:
    with pytest.raises(Unavailable):
        ending([CONFLICT, FAILED])
    with pytest.raises(Forbidden):
        ending([Converged(refused=(Refusal("create", "a", REFUSED),))])


@pytest.mark.parametrize(
    ("written", "again", "outcome"),
    [
        pytest.param([], None, DONE, id="nothing written"),
        pytest.param([Converged(created=("a",))], None, DONE, id="all well"),
        pytest.param([Converged()], 0.2, Again(0.2), id="a status yet to be written"),
        pytest.param([CONFLICT], None, Again(LOOK_AGAIN_SECONDS), id="a name that is taken"),
        pytest.param([CONFLICT], 0.2, Again(0.2), id="the sooner of two"),
    ],
)
def test_how_a_run_ends(written: list[Converged], again: float | None, outcome: object) -> None:
    assert ending(written, again) == outcome
