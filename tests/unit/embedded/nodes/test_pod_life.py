# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.embedded.nodes.builders import a_main, a_script, an_init
from trellis.embedded.nodes.behaviour import PLAIN, Behaviour
from trellis.embedded.nodes.course import backoff
from trellis.embedded.nodes.faults import CRASH, OOM, Blow
from trellis.embedded.nodes.life import (
    Life,
    Part,
    Script,
    advance,
    born,
    initialized,
    is_over,
    next_due,
    phase,
    ready,
    stopped,
    struck,
)

SIDECAR = Part(name="proxy", behaviour=PLAIN, sidecar=True)


def after(script: Script, seconds: float, pull: float = 0.0) -> Life:
    return advance(script, born(script, 0.0, pull), seconds)


def test_a_pod_that_asks_for_no_delay_runs_and_is_ready_at_once() -> None:
    script = a_script(inits=(an_init("a"), an_init("b")))
    life = after(script, 0)
    assert phase(script, life) == "Running"
    assert initialized(script, life)
    assert ready(script.mains[0], life.mains[0], 0)
    assert next_due(script, life, 0) is None


def test_images_that_take_long_hold_everything_back() -> None:
    script = a_script()
    assert phase(script, after(script, 9, pull=10)) == "Pending"
    assert next_due(script, after(script, 9, pull=10), 9) == 10
    assert phase(script, after(script, 10, pull=10)) == "Running"


def test_init_containers_run_one_after_the_other() -> None:
    script = a_script(inits=(an_init("a", Behaviour(run=5.0)), an_init("b", Behaviour(run=5.0))))
    assert [one.runs for one in after(script, 4).inits] == [True, False]
    assert [one.runs for one in after(script, 6).inits] == [False, True]
    assert phase(script, after(script, 9)) == "Pending"
    assert phase(script, after(script, 10)) == "Running"


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param("Never", "Failed", id="fails the pod if it is never restarted"),
        pytest.param("OnFailure", "Pending", id="is tried again otherwise"),
        pytest.param("Always", "Pending", id="always"),
    ],
)
def test_an_init_container_that_fails(policy: str, expected: str) -> None:
    script = a_script(inits=(an_init("a", Behaviour(run=1.0, exit_code=2)),), policy=policy)
    assert phase(script, after(script, 3)) == expected
    assert not any(one.runs for one in after(script, 3).mains)


@pytest.mark.parametrize(
    ("policy", "exit_code", "expected", "restarts"),
    [
        pytest.param("Never", 0, "Succeeded", 0, id="never, success"),
        pytest.param("Never", 1, "Failed", 0, id="never, failure"),
        pytest.param("OnFailure", 0, "Succeeded", 0, id="on failure, success"),
        pytest.param("OnFailure", 1, "Running", 1, id="on failure, failure"),
        pytest.param("Always", 0, "Running", 1, id="always, success"),
        pytest.param("Always", 1, "Running", 1, id="always, failure"),
    ],
)
def test_what_follows_the_end_of_a_container(
    policy: str, exit_code: int, expected: str, restarts: int
) -> None:
    script = a_script(a_main(behaviour=Behaviour(run=5.0, exit_code=exit_code)), policy=policy)
    life = after(script, 5)
    assert phase(script, life) == expected
    assert life.mains[0].restarts == restarts


def test_restarts_come_at_once_and_then_ever_later() -> None:
    script = a_script(a_main(behaviour=Behaviour(crash=0.0)))
    starts = [0.0]
    life, now = after(script, 0), 0.0
    for _ in range(7):
        due = next_due(script, life, now)
        assert due is not None
        starts.append(due - now)
        now = due
        life = advance(script, life, now)
    assert starts[1:] == [10, 20, 40, 80, 160, 300, 300]
    assert life.mains[0].restarts == 8


def test_a_long_run_makes_the_backoff_forgotten() -> None:
    script = a_script(a_main(behaviour=Behaviour(crash=700.0)))
    life = after(script, 2900)
    assert life.mains[0].restarts == 4
    assert life.mains[0].runs


def test_a_container_that_crashes_so_many_times_then_behaves() -> None:
    script = a_script(a_main(behaviour=Behaviour(crash=1.0, crashes=2)))
    life = after(script, 1000)
    assert life.mains[0].restarts == 2
    assert next_due(script, life, 1000) is None


def test_a_pod_is_ready_when_its_slowest_container_is() -> None:
    slow = a_main("slow", Behaviour(ready=8.0))
    script = a_script(a_main(), slow)
    life = after(script, 0)
    assert next_due(script, life, 0) == 8
    assert not ready(slow, life.mains[1], 7.9)
    assert ready(slow, life.mains[1], 8)


def test_a_sidecar_starts_before_the_main_containers_and_ends_with_them() -> None:
    script = a_script(a_main(behaviour=Behaviour(run=5.0)), inits=(SIDECAR,), policy="Never")
    assert [one.runs for one in (*after(script, 4).inits, *after(script, 4).mains)] == [True, True]
    life = after(script, 6)
    assert phase(script, life) == "Succeeded"
    assert not life.inits[0].runs
    assert is_over(script, life)


@pytest.mark.parametrize(
    ("stop", "grace", "ends_at", "exit_code"),
    [
        pytest.param(0.0, 30.0, 0.0, 143, id="at once"),
        pytest.param(5.0, 30.0, 5.0, 143, id="within its grace"),
        pytest.param(60.0, 30.0, 30.0, 137, id="killed after its grace"),
    ],
)
def test_a_container_that_is_told_to_end(
    stop: float, grace: float, ends_at: float, exit_code: int
) -> None:
    script = a_script(a_main(behaviour=Behaviour(stop=stop)))
    life = stopped(after(script, 100), 100, grace)
    if ends_at:
        assert not is_over(script, advance(script, life, 100 + ends_at - 0.1))
        assert next_due(script, advance(script, life, 100), 100) == 100 + ends_at
    end = advance(script, life, 100 + ends_at)
    assert is_over(script, end)
    assert end.mains[0].ended is not None
    assert end.mains[0].ended.exit_code == exit_code
    assert phase(script, end) == "Failed"


def test_a_second_order_to_end_may_only_hasten_it() -> None:
    script = a_script(a_main(behaviour=Behaviour(stop=100.0)))
    life = stopped(after(script, 0), 0, 60)
    assert stopped(life, 10, 20).grace == 30
    assert stopped(life, 10, 200).grace == 60


def test_a_pod_that_waits_for_its_images_ends_at_once() -> None:
    script = a_script()
    life = advance(script, stopped(born(script, 0, 100), 1, 30), 1)
    assert is_over(script, life)


@pytest.mark.parametrize(
    ("blow", "name", "struck_one"),
    [
        pytest.param(CRASH, "", "one", id="the first without a name"),
        pytest.param(OOM, "two", "two", id="by name"),
    ],
)
def test_a_blow_ends_the_container_it_is_for(blow: Blow, name: str, struck_one: str) -> None:
    script = a_script(a_main("one"), a_main("two"), policy="Never")
    life = struck(script, after(script, 1), name, blow, 5)
    ends = {
        part.name: course.ended
        for part, course in zip(script.mains, life.mains, strict=True)
        if course.ended is not None
    }
    assert list(ends) == [struck_one]
    assert (ends[struck_one].exit_code, ends[struck_one].reason) == (blow.exit_code, blow.reason)


def test_a_program_decides_when_its_init_container_ends() -> None:
    waiter = Part(name="waiter", behaviour=PLAIN, told=True)
    script = a_script(inits=(waiter,))
    life = after(script, 1000)
    assert life.inits[0].runs
    assert phase(script, life) == "Pending"
    done = advance(script, struck(script, life, "waiter", Blow(0), 1000), 1000)
    assert phase(script, done) == "Running"
    failed = advance(script, struck(script, life, "waiter", Blow(1), 1000), 1000)
    assert failed.inits[0].restarts == 1


TIMES = st.floats(0, 50).map(lambda seconds: round(seconds, 2))
BEHAVIOURS = st.builds(
    Behaviour,
    run=st.none() | TIMES,
    exit_code=st.integers(0, 2),
    ready=TIMES,
    crash=st.none() | TIMES,
    crashes=st.none() | st.integers(0, 3),
    stop=TIMES,
)
SCRIPTS = st.builds(
    Script,
    policy=st.sampled_from(["Always", "OnFailure", "Never"]),
    inits=st.lists(st.builds(Part, name=st.just("init"), behaviour=BEHAVIOURS), max_size=2).map(
        tuple
    ),
    mains=st.lists(
        st.builds(Part, name=st.just("main"), behaviour=BEHAVIOURS), min_size=1, max_size=2
    ).map(tuple),
)


@given(SCRIPTS, st.lists(st.floats(0, 400), max_size=6).map(sorted), TIMES)
def test_how_often_a_pod_is_looked_at_does_not_change_what_happens_in_it(
    script: Script, looks: list[float], pull: float
) -> None:
    life = born(script, 0, pull)
    for now in looks:
        life = advance(script, life, now)
        assert advance(script, life, now) == life
    assert advance(script, life, 500) == advance(script, born(script, 0, pull), 500)


@given(SCRIPTS, TIMES)
def test_nothing_happens_between_two_moments_that_are_due(script: Script, pull: float) -> None:
    life, now = born(script, 0, pull), 0.0
    for _ in range(20):
        life = advance(script, life, now)
        due = next_due(script, life, now)
        if due is None:
            assert advance(script, life, now + 1e6) == life
            return
        assert advance(script, life, (now + due) / 2) == life
        now = due


@given(SCRIPTS, TIMES, TIMES)
def test_a_pod_that_is_told_to_end_is_over_when_its_grace_is(
    script: Script, told: float, grace: float
) -> None:
    life = stopped(advance(script, born(script, 0, 0), told), told, grace)
    end = advance(script, life, told + grace)
    assert is_over(script, end)
    assert phase(script, end) in ("Succeeded", "Failed")


def test_the_backoff_is_that_of_kubelets() -> None:
    assert [backoff(quick) for quick in range(8)] == [0, 10, 20, 40, 80, 160, 300, 300]
