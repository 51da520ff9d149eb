# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.transport import answer, failure
from tests.support.virtual import dice
from trellis.kube import errors
from trellis.kube.resume import (
    LONGEST_REFUSED_SECONDS,
    LONGEST_SECONDS,
    Ending,
    Position,
    after,
    ending_of,
    pause,
)
from trellis.kube.status import refused

if TYPE_CHECKING:
    from trellis.kube.errors import KubeError

FOLLOWING = Position(resource_version="7")
STARTING = Position()
LISTING = Position(initial_by_stream=False)


@pytest.mark.parametrize(
    ("error", "position", "want"),
    [
        pytest.param(errors.Ambiguous(""), FOLLOWING, Ending.CLOSED, id="cut off"),
        pytest.param(errors.Unreachable(""), FOLLOWING, Ending.CLOSED, id="not to be had"),
        pytest.param(errors.Stalled(""), FOLLOWING, Ending.CLOSED, id="silent"),
        pytest.param(refused("", failure(410)), FOLLOWING, Ending.LOST, id="history is gone"),
        pytest.param(errors.Unreadable(""), FOLLOWING, Ending.LOST, id="garbage"),
        pytest.param(refused("", failure(429)), FOLLOWING, Ending.CLOSED, id="throttled"),
        pytest.param(refused("", failure(503)), FOLLOWING, Ending.CLOSED, id="not ready"),
        pytest.param(refused("", failure(504)), FOLLOWING, Ending.CLOSED, id="timed out"),
        pytest.param(refused("", failure(500)), FOLLOWING, Ending.CLOSED, id="failed once"),
        pytest.param(
            refused("", failure(500)),
            Position(resource_version="7", fruitless=4),
            Ending.LOST,
            id="failing again and again at the same place",
        ),
        pytest.param(refused("", failure(401)), FOLLOWING, Ending.REFUSED, id="unknown to it"),
        pytest.param(refused("", failure(403)), FOLLOWING, Ending.REFUSED, id="forbidden"),
        pytest.param(refused("", failure(404)), FOLLOWING, Ending.REFUSED, id="not served"),
        pytest.param(refused("", failure(422)), STARTING, Ending.NO_INITIAL, id="cannot begin so"),
        pytest.param(refused("", failure(400)), STARTING, Ending.NO_INITIAL, id="nor so"),
        pytest.param(refused("", failure(422)), LISTING, Ending.REFUSED, id="a bad selector"),
        pytest.param(refused("", failure(403)), STARTING, Ending.REFUSED, id="forbidden at first"),
    ],
)
def test_what_an_error_means_to_a_watch(error: KubeError, position: Position, want: Ending) -> None:
    assert ending_of(error, position) is want


@pytest.mark.parametrize(
    ("ending", "fruitful", "want"),
    [
        pytest.param(Ending.CLOSED, True, FOLLOWING, id="resumes where it was"),
        pytest.param(
            Ending.CLOSED, False, Position(resource_version="7", fruitless=1), id="counts failures"
        ),
        pytest.param(Ending.LOST, True, Position(), id="reads everything anew"),
        pytest.param(
            Ending.NO_INITIAL,
            False,
            Position(initial_by_stream=False, fruitless=1),
            id="lists from then on",
        ),
    ],
)
def test_where_a_watch_goes_on(ending: Ending, fruitful: bool, want: Position) -> None:
    assert after(FOLLOWING, ending, fruitful=fruitful) == want


@pytest.mark.parametrize("ending", Ending)
def test_what_brought_something_is_resumed_at_once(ending: Ending) -> None:
    assert pause(FOLLOWING, ending, None, dice(0)) == 0


@pytest.mark.parametrize("ending", [Ending.LOST, Ending.NO_INITIAL])
def test_another_way_is_tried_at_once_but_only_once(ending: Ending) -> None:
    assert pause(Position(fruitless=1), ending, None, dice(0)) == 0
    assert pause(Position(fruitless=2), ending, None, dice(0)) > 0


@given(st.integers(1, 10_000), st.sampled_from(Ending), st.integers())
def test_waits_are_bounded(fruitless: int, ending: Ending, seed: int) -> None:
    wait = pause(Position(fruitless=fruitless), ending, None, dice(seed))
    assert 0 <= wait <= (LONGEST_REFUSED_SECONDS if ending is Ending.REFUSED else LONGEST_SECONDS)


@given(st.integers(0, 30), st.integers())
def test_a_server_that_asks_for_a_pause_gets_it(asked: int, seed: int) -> None:
    error = refused("", answer({}, 429, retry_after=str(asked)))
    assert pause(FOLLOWING, Ending.CLOSED, error, dice(seed)) >= asked
