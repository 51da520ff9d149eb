# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.unit.workloads.podgang.builders import NOW, a_pod, ago
from trellis.api.annotation import ATTEMPT
from trellis.api.core.pod import FAILED, PodStatus
from trellis.api.meta import Metadata
from trellis.workloads.failures import LONGEST, delay, replaced_at


@pytest.mark.parametrize(
    ("attempts", "seconds"),
    [(0, 0), (1, 10), (2, 20), (3, 40), (4, 80), (5, 160), (6, 300), (7, 300), (9999, 300)],
)
def test_a_pod_is_replaced_ever_later_while_its_successors_fail(
    attempts: int, seconds: int
) -> None:
    assert delay(attempts) == timedelta(seconds=seconds)


@given(st.integers(-5, 10_000))
def test_no_delay_is_longer_than_the_longest_or_shorter_than_the_one_before(attempts: int) -> None:
    assert timedelta(0) <= delay(attempts) <= delay(attempts + 1) <= LONGEST


def test_the_delay_counts_from_when_the_pod_ceased_to_be_ready() -> None:
    pod = a_pod("p", 0, phase=FAILED, ready=False, age=100, notes={ATTEMPT: "1"})
    assert replaced_at(pod, NOW) == ago(50) + timedelta(seconds=10)


def test_the_delay_counts_from_the_creation_of_a_pod_that_never_said_whether_it_is_ready() -> None:
    made = a_pod("p", 0, age=100, notes={ATTEMPT: "1"})
    pod = structs.replace(made, status=PodStatus(phase=FAILED))
    assert replaced_at(pod, NOW) == ago(90)


def test_a_pod_of_which_nothing_is_known_is_replaced_at_once() -> None:
    pod = structs.replace(a_pod("p", 0), metadata=Metadata(name="p"), status=PodStatus())
    assert replaced_at(pod, NOW) == NOW


def test_the_first_failure_is_mended_at_once_whatever_clocks_say() -> None:
    pod = a_pod("p", 0, phase=FAILED, ready=False, age=-600)
    assert replaced_at(pod, NOW) == NOW


@pytest.mark.parametrize(("seen", "left"), [(0, 10), (4, 6), (10, 0), (60, -50)])
def test_no_clock_of_a_node_makes_anybody_wait_longer_than_the_delay(seen: int, left: int) -> None:
    """Our clock is ten minutes behind: by it the pod has not even failed yet."""
    pod = a_pod("p", 0, phase=FAILED, ready=False, age=-600, notes={ATTEMPT: "1"})
    due = replaced_at(pod, NOW, timedelta(seconds=seen))
    assert due == NOW + timedelta(seconds=left)
