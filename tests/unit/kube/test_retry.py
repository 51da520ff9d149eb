# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.transport import answer, failure
from tests.support.virtual import dice
from tests.unit.kube.builders import a_request
from trellis.kube import errors
from trellis.kube.retry import (
    LONGEST_SECONDS,
    MOST_ATTEMPTS,
    MOST_LOST,
    repeatable,
    wait_before_retry,
)
from trellis.kube.status import refused

if TYPE_CHECKING:
    from trellis.kube.errors import KubeError
    from trellis.kube.transport import Request

READ = a_request("GET")
WRITE = a_request("POST")
DRY_RUN = a_request("POST", query=(("dryRun", "All"),))
THROTTLED = refused("", answer({}, 429, retry_after="2"))
UNAVAILABLE = refused("", answer({}, 503, retry_after="2"))
LOST = errors.Ambiguous("")
UNSENT = errors.Unreachable("")


@pytest.mark.parametrize(
    ("request_", "error", "again"),
    [
        pytest.param(READ, THROTTLED, True, id="a read that was turned away"),
        pytest.param(WRITE, THROTTLED, True, id="a write that was turned away"),
        pytest.param(READ, UNSENT, True, id="a read that never left"),
        pytest.param(WRITE, UNSENT, True, id="a write that never left"),
        pytest.param(READ, UNAVAILABLE, True, id="a read of a server that is not ready"),
        pytest.param(WRITE, UNAVAILABLE, False, id="a write to a server that is not ready"),
        pytest.param(READ, LOST, True, id="a read that was lost"),
        pytest.param(WRITE, LOST, False, id="a write that was lost is never sent blindly"),
        pytest.param(a_request("PUT"), LOST, False, id="nor is a replacement"),
        pytest.param(a_request("DELETE"), LOST, False, id="nor is a deletion"),
        pytest.param(a_request("PATCH"), LOST, False, id="nor is a patch"),
        pytest.param(DRY_RUN, LOST, True, id="but a dry-run is"),
        pytest.param(READ, refused("", failure(500)), False, id="a server that failed"),
        pytest.param(READ, refused("", failure(404)), False, id="what is not there"),
        pytest.param(READ, errors.Unreadable(""), False, id="garbage"),
        pytest.param(
            WRITE,
            refused("", failure(429, causes=[{"reason": "DisruptionBudget"}])),
            False,
            id="an eviction that a budget forbids",
        ),
        pytest.param(
            READ, refused("", answer({}, 429, retry_after="3600")), False, id="an hour's wait"
        ),
    ],
)
def test_what_is_tried_again(request_: Request, error: KubeError, again: bool) -> None:
    assert (wait_before_retry(request_, error, 1, dice(0)) is not None) is again


def test_it_ends() -> None:
    assert wait_before_retry(READ, UNSENT, MOST_ATTEMPTS - 1, dice(0)) is not None
    assert wait_before_retry(READ, UNSENT, MOST_ATTEMPTS, dice(0)) is None
    assert wait_before_retry(READ, LOST, MOST_LOST - 1, dice(0)) is not None
    assert wait_before_retry(READ, LOST, MOST_LOST, dice(0)) is None


@given(asked=st.integers(0, 30), attempt=st.integers(1, MOST_ATTEMPTS - 1), seed=st.integers())
def test_nobody_comes_back_sooner_than_asked_nor_much_later(
    asked: int, attempt: int, seed: int
) -> None:
    error = refused("", answer({}, 429, retry_after=str(asked)))
    wait = wait_before_retry(WRITE, error, attempt, dice(seed))
    assert wait is not None
    assert asked <= wait <= asked * 1.5


@given(attempt=st.integers(1, MOST_ATTEMPTS - 1), seed=st.integers())
def test_without_being_asked_the_wait_grows_and_is_bounded(attempt: int, seed: int) -> None:
    wait = wait_before_retry(READ, UNSENT, attempt, dice(seed))
    assert wait is not None
    assert 0.05 * 2 ** (attempt - 1) <= wait <= min(0.1 * 2 ** (attempt - 1), LONGEST_SECONDS)


@pytest.mark.parametrize(
    ("request_", "want"), [(READ, True), (DRY_RUN, True), (WRITE, False), (a_request("PUT"), False)]
)
def test_only_reads_and_dry_runs_are_repeatable(request_: Request, want: bool) -> None:
    assert repeatable(request_) is want
