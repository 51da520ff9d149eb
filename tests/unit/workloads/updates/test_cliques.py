# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.unit.workloads.updates.builders import (
    NEW,
    NOW,
    OLD,
    a_clique,
    ago,
    missing,
    pending,
    ready,
    unready,
    waiting,
)
from trellis.api.grove.updates import ON_DELETE
from trellis.api.reasons import objects, updates
from trellis.workloads.updates import CliqueState, PodFacts, Why, next_step, outlook

GHOST = Why(objects.PRIORITY_CLASS_MISSING, "PriorityClass ghost does not exist")
DENIED = Why(objects.QUOTA_REFUSED, "Pod pod-1: exceeded quota")


def taken(state: CliqueState) -> tuple[int, ...]:
    step = next_step(state)
    return step.indices if step else ()


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        pytest.param(a_clique(ready(0), ready(1), ready(2)), (2,), id="one Ready pod"),
        pytest.param(a_clique(ready(0), ready(1), most=5), (0, 1), id="as many as may be"),
        pytest.param(a_clique(ready(0), ready(1), most=0), (1,), id="never none at all"),
        pytest.param(
            a_clique(ready(0, age=50), ready(1, age=60)), (0,), id="the newest before the highest"
        ),
        pytest.param(a_clique(ready(0), ready(1, NEW)), (0,), id="only what is outdated"),
        pytest.param(
            a_clique(ready(0), ready(1, "v1-alias"), current=frozenset({NEW, "v1-alias"})),
            (0,),
            id="hashes of another operator for the same template are current",
        ),
        pytest.param(a_clique(ready(0), pending(1, NEW)), (), id="none while a new one starts"),
        pytest.param(a_clique(ready(0), missing(1)), (), id="none while one is yet to be made"),
        pytest.param(
            a_clique(ready(0), ready(1, leaving=True)), (), id="none while one is leaving"
        ),
        pytest.param(a_clique(ready(0), unready(1, down=3)), (1,), id="what is down anyway"),
        pytest.param(
            a_clique(ready(0), unready(1, down=3), unready(2, down=3)),
            (),
            id="what may recover stays while too much is down",
        ),
        pytest.param(
            a_clique(*(ready(i) for i in range(3)), pending(3), unready(4), unready(5, NEW)),
            (3, 4),
            id="all that is of no use, also with the budget spent",
        ),
        pytest.param(
            a_clique(ready(0), unready(1, was_ready=False, down=1), pending(2, NEW)),
            (1,),
            id="what never was Ready",
        ),
        pytest.param(a_clique(unready(0, failed=True, down=0)), (0,), id="what has failed"),
        pytest.param(a_clique(unready(0, down=10)), (0,), id="exactly ten seconds"),
        pytest.param(a_clique(unready(0, NEW)), (), id="never what is current"),
        pytest.param(a_clique(unready(0, succeeded=True)), (0,), id="what did its work before"),
        pytest.param(
            a_clique(ready(0), unready(1, NEW, succeeded=True)),
            (0,),
            id="what has done its work is not waited for",
        ),
        pytest.param(
            a_clique(ready(0), ready(1), waiting(2, NEW), waiting(3, NEW), at_start=2),
            (1,),
            id="what found no room before is not waited for",
        ),
        pytest.param(
            a_clique(ready(0), ready(1), waiting(2, NEW), pending(3, NEW), at_start=2),
            (),
            id="unless it has only just been made",
        ),
        pytest.param(
            a_clique(ready(0), waiting(1, NEW), waiting(2, NEW), at_start=2),
            (),
            id="nor while fewer are Ready than at the start",
        ),
        pytest.param(
            a_clique(ready(0), ready(1), ready(2), waiting(3, NEW), at_start=2),
            (),
            id="nor where more are, and nobody knows which",
        ),
        pytest.param(a_clique(), (), id="no pods at all"),
    ],
)
def test_the_pods_that_go_now(state: CliqueState, expected: tuple[int, ...]) -> None:
    assert taken(state) == expected


@pytest.mark.parametrize("strategy_or_turn", [{"strategy": ON_DELETE}, {"its_turn": False}])
def test_nothing_goes_by_hand_or_before_its_turn(strategy_or_turn: dict[str, Any]) -> None:
    found = outlook(a_clique(ready(0), pending(1), unready(2), **strategy_or_turn))
    assert found.step is None
    assert found.why.text.startswith("3 of 3 pods have an older template")


def test_by_hand_an_update_has_ended_though_pods_are_outdated() -> None:
    found = outlook(a_clique(ready(0), strategy=ON_DELETE))
    assert (found.ended, found.held) == (True, ())
    assert found.why.reason is updates.UPDATE_WAITS_FOR_DELETION


def test_before_its_turn_an_update_has_not_ended() -> None:
    found = outlook(a_clique(ready(0), its_turn=False))
    assert (found.ended, found.held) == (False, (0,))


@pytest.mark.parametrize(
    ("pods", "needs", "ended"),
    [
        pytest.param([ready(0, NEW), ready(1, NEW)], {"at_start": 2}, True, id="all are Ready"),
        pytest.param([ready(0, NEW), pending(1, NEW)], {"at_start": 2}, False, id="as at start"),
        pytest.param([ready(0, NEW), waiting(1, NEW)], {"at_start": 1}, True, id="no more than"),
        pytest.param(
            [ready(0, NEW), pending(1, NEW)], {"at_start": 1}, False, id="one has only been made"
        ),
        pytest.param([ready(0, NEW), missing(1)], {"at_start": 1}, False, id="one is being made"),
        pytest.param(
            [ready(0, NEW), unready(1, NEW, created=ago(-600))],
            {"at_start": 1},
            True,
            id="one was made by a clock that is far ahead",
        ),
        pytest.param(
            [ready(0, NEW), missing(1)],
            {"at_start": 1, "refusal": DENIED},
            True,
            id="one cannot be made",
        ),
        pytest.param([ready(0, NEW), pending(1, NEW)], {"minimum": 2}, False, id="its minimum"),
        pytest.param([ready(0, NEW)], {"at_start": 5, "minimum": 5}, True, id="scaled in since"),
        pytest.param([ready(0, NEW), ready(1)], {}, False, id="one is outdated"),
        pytest.param([], {"at_start": 5, "minimum": 1}, True, id="scaled to zero"),
        pytest.param([unready(0, NEW, succeeded=True)], {"at_start": 1}, True, id="work is done"),
    ],
)
def test_when_an_update_ends(pods: list[PodFacts], needs: dict[str, Any], ended: bool) -> None:
    assert outlook(a_clique(*pods, **needs)).ended is ended


def test_it_looks_again_when_a_pod_has_been_down_for_ten_seconds() -> None:
    found = outlook(a_clique(ready(0), unready(1, down=4), unready(2, NEW, down=1)))
    assert found.step is None
    assert found.again == NOW + timedelta(seconds=6)


def test_what_is_ready_counts_only_when_it_has_settled() -> None:
    pods = (ready(0), ready(1, NEW, since=ago(20)))
    waits = outlook(a_clique(*pods, budget={"settle": timedelta(seconds=30)}))
    assert waits.step is None
    assert waits.again == NOW + timedelta(seconds=10)
    assert waits.why.text.endswith("waiting until pod 1 has been Ready for 30 s")
    assert taken(a_clique(*pods, budget={"settle": timedelta(seconds=20)})) == (0,)


def test_the_end_waits_for_the_last_to_settle() -> None:
    pod = ready(0, NEW, since=ago(20))
    found = outlook(a_clique(pod, budget={"settle": timedelta(seconds=30)}))
    assert not found.ended
    assert "pod 0 has been Ready for 30 s" in found.why.text


def test_what_settles_does_not_stand_still() -> None:
    pods = (ready(0), ready(1, NEW, since=ago(20)))
    times = {"settle": timedelta(seconds=30), "progress_deadline": timedelta(seconds=5)}
    found = outlook(a_clique(*pods, started=ago(21), budget=times))
    assert (found.step, found.hindrance) == (None, None)


def test_a_step_counts_as_down_only_what_takes_up_the_budget() -> None:
    """What had no room before either is not waited for."""
    pods = (ready(0), ready(1), waiting(2, NEW))
    step = next_step(a_clique(*pods, at_start=2))
    assert step is not None
    assert "0 were down where 1 may be" in step.why.text


@pytest.mark.parametrize(
    ("last_ready", "overdue", "again"),
    [
        pytest.param(3600, True, None, id="counted from the start"),
        pytest.param(100, False, NOW + timedelta(seconds=200), id="counted from the last step"),
    ],
)
def test_the_deadline_for_progress(last_ready: float, overdue: bool, again: Any) -> None:
    found = outlook(
        a_clique(
            ready(0, since=ago(1)),
            ready(1, NEW, since=ago(last_ready)),
            unready(2, NEW),
            started=ago(300),
            budget={"progress_deadline": timedelta(seconds=300)},
        )
    )
    assert (found.hindrance, found.again) == (found.why if overdue else None, again)
    assert (found.why.reason is updates.PROGRESS_DEADLINE_EXCEEDED) is overdue


def test_an_overdue_update_goes_on_as_soon_as_it_can() -> None:
    late = {"progress_deadline": timedelta(seconds=1)}
    state = a_clique(ready(0), ready(1, NEW), started=ago(900), budget=late)
    found = outlook(state)
    assert (found.step is not None, found.hindrance) == (True, None)


@pytest.mark.parametrize(
    ("state", "text"),
    [
        pytest.param(
            a_clique(ready(0), pending(1), pending(2), ready(3, NEW), most=3),
            "Renewing pods 1, 2: of no use as they are, so that they cost nothing; "
            "pod 0: Ready, and 2 were down where 3 may be",
            id="step",
        ),
        pytest.param(
            a_clique(ready(0), *(pending(index, NEW) for index in range(1, 9))),
            "1 pods have an older template; waiting for pods 1, 2, 3, 4, 5 and 3 more to be Ready, "
            "because at most 1 may be down",
            id="no room",
        ),
        pytest.param(
            a_clique(pending(0, NEW)),
            "Nothing outdated is left; 0 pods are Ready and 1 must be",
            id="last one",
        ),
        pytest.param(a_clique(ready(0, NEW)), "All 1 pods have the current template", id="end"),
    ],
)
def test_every_outlook_says_why(state: CliqueState, text: str) -> None:
    assert outlook(state).why.text == text


def test_a_newer_template_in_the_middle_only_changes_what_is_outdated() -> None:
    pods = (ready(0, OLD), pending(1, NEW), ready(2, "v1-newer"))
    assert taken(a_clique(*pods, current=frozenset({"v1-newer"}))) == (1,)
    assert taken(a_clique(*pods, current=frozenset({OLD}))) == (1,)


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        pytest.param([ready(0), ready(1)], (), id="what is Ready stays"),
        pytest.param([ready(0), unready(1, down=3)], (), id="and what may recover"),
        pytest.param([ready(0), pending(1), unready(2)], (1, 2), id="what is of no use goes"),
    ],
)
def test_where_nothing_could_be_made_in_its_place_nothing_of_use_goes(
    pods: list[PodFacts], expected: tuple[int, ...]
) -> None:
    assert taken(a_clique(*pods, most=5, obstacle=GHOST)) == expected


def test_what_keeps_an_update_from_its_first_step_is_told_with_its_reason() -> None:
    found = outlook(a_clique(ready(0), ready(1), obstacle=GHOST))
    assert found.hindrance == found.why
    assert found.why == Why(
        objects.PRIORITY_CLASS_MISSING,
        "2 pods have an older template and stay, because nothing could be made in their place: "
        "PriorityClass ghost does not exist",
    )


def test_what_is_missing_anyway_hinders_no_update_that_has_nothing_to_replace() -> None:
    assert outlook(a_clique(ready(0, NEW), missing(1), obstacle=GHOST)).hindrance is None


def test_past_its_deadline_an_update_still_says_what_hinders_it() -> None:
    late = {"progress_deadline": timedelta(seconds=1)}
    found = outlook(a_clique(ready(0), started=ago(900), budget=late, obstacle=GHOST))
    assert found.why.reason is updates.PROGRESS_DEADLINE_EXCEEDED
    assert GHOST.text in found.why.text
    assert found.hindrance is not None
    assert found.hindrance.reason is GHOST.reason


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([ready(0)], "1 pods have an older template; pod 1 cannot be made: "),
        ([unready(0, NEW)], "Nothing has an older template; pod 1 cannot be made: "),
    ],
    ids=["while others are outdated", "as the last"],
)
def test_a_pod_that_cannot_be_made_is_not_waited_for_to_be_ready(
    others: list[PodFacts], expected: str
) -> None:
    found = outlook(a_clique(*others, missing(1), refusal=DENIED))
    assert found.step is None
    assert found.why == Why(DENIED.reason, f"{expected}{DENIED.text}")


def test_what_is_refused_elsewhere_is_no_reason_where_all_pods_are_there() -> None:
    found = outlook(a_clique(ready(0), pending(1, NEW), refusal=DENIED))
    assert "waiting for pod 1 to be Ready" in found.why.text
