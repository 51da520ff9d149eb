# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.embedded.nodes.builders import a_pod
from trellis.embedded.nodes.behaviour import (
    AT_ONCE,
    PLAIN,
    BadAnnotation,
    Behaviour,
    behaviours,
)
from trellis.embedded.nodes.pods import Container

INITS = (Container(name="setup"), Container(name="proxy", restart_policy="Always"))


def asked(**annotations: str) -> dict[str, str]:
    return {f"sim.trellis.dev/{name.replace('_', '-')}": text for name, text in annotations.items()}


@pytest.mark.parametrize(
    ("annotations", "first", "second"),
    [
        pytest.param({}, PLAIN, PLAIN, id="nothing asked"),
        pytest.param(
            asked(run_seconds="30"), Behaviour(run=30.0), Behaviour(run=30.0), id="seconds for all"
        ),
        pytest.param(
            asked(run_seconds="1m30s"), Behaviour(run=90.0), Behaviour(run=90.0), id="duration"
        ),
        pytest.param(
            asked(run_seconds="one=5,two=7"),
            Behaviour(run=5.0),
            Behaviour(run=7.0),
            id="by name",
        ),
        pytest.param(
            asked(exit_code="3, two=0", run_seconds="1"),
            Behaviour(run=1.0, exit_code=3),
            Behaviour(run=1.0),
            id="for all but one",
        ),
        pytest.param(
            asked(crash_after="2", crash_times="3", ready_delay="4", stop_delay="5"),
            Behaviour(crash=2.0, crashes=3, ready=4.0, stop=5.0),
            Behaviour(crash=2.0, crashes=3, ready=4.0, stop=5.0),
            id="everything else",
        ),
    ],
)
def test_annotations_say_what_containers_do(
    annotations: dict[str, str], first: Behaviour, second: Behaviour
) -> None:
    found = behaviours(a_pod(mains=("one", "two"), annotations=annotations), 1)
    assert found.mains == (first, second)


def test_what_is_asked_of_all_is_not_asked_of_init_containers() -> None:
    pod = a_pod(inits=INITS, annotations=asked(crash_after="1", run_seconds="9"))
    assert behaviours(pod, 1).inits == (AT_ONCE, PLAIN)


def test_an_init_container_is_spoken_to_by_name() -> None:
    pod = a_pod(inits=INITS, annotations=asked(run_seconds="setup=20", exit_code="setup=2"))
    found = behaviours(pod, 1)
    assert found.inits[0] == Behaviour(run=20.0, exit_code=2)
    assert found.mains == (PLAIN,)


@pytest.mark.parametrize(
    ("annotations", "said"),
    [
        pytest.param(asked(run_seconds="soon"), "run-seconds: 'soon' is no time", id="words"),
        pytest.param(asked(run_seconds="-1"), "run-seconds: '-1' is no time", id="below zero"),
        pytest.param(asked(run_seconds="1e9"), "run-seconds: '1e9' is no time", id="exponent"),
        pytest.param(
            asked(exit_code="256"), "exit-code: '256' is no number from 0 to 255", id="large code"
        ),
        pytest.param(
            asked(exit_code="nope=1"),
            "exit-code: 'nope=1' is of no container; use one of main",
            id="unknown container",
        ),
        pytest.param(
            asked(jitter="2"), "jitter: '2' is no share; write a number from 0 to 1", id="jitter"
        ),
        pytest.param(asked(jitter="nan"), "jitter: 'nan' is no share", id="not a number"),
        pytest.param(asked(start_delay="x"), "start-delay: 'x' is no time", id="start delay"),
    ],
)
def test_an_annotation_that_cannot_be_followed_says_why(
    annotations: dict[str, str], said: str
) -> None:
    with pytest.raises(BadAnnotation) as caught:
        behaviours(a_pod(annotations=annotations), 1)
    assert said in str(caught.value)


@given(st.integers(0, 1000), st.floats(0, 1))
def test_jitter_stays_within_its_share_and_is_the_same_each_time(seed: int, share: float) -> None:
    pod = a_pod(annotations=asked(run_seconds="100", start_delay="10", jitter=f"{share:.3f}"))
    found = behaviours(pod, seed)
    run = found.mains[0].run
    assert run is not None
    assert 100 * (1 - share) - 0.1 <= run <= 100 * (1 + share) + 0.1
    assert behaviours(pod, seed) == found


def test_jitter_differs_by_seed_and_container() -> None:
    pod = a_pod(mains=("one", "two"), annotations=asked(run_seconds="100", jitter="0.5"))
    runs = {each.run for seed in (1, 2) for each in behaviours(pod, seed).mains}
    assert len(runs) == 4
