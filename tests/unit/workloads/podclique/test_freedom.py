# SPDX-License-Identifier: Apache-2.0
"""Which pods are born without our gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.workloads.podclique.builders import a_pod
from trellis.api.annotation import PLACEMENT
from trellis.api.labels import SCHEDULER_NAME, SHORT_SET_NAME
from trellis.api.meta import Metadata
from trellis.api.scheduler.podgang import NamespacedName, PodGang, PodGangSpec, PodGroup
from trellis.workloads.podclique.freedom import are_born_free
from trellis.workloads.verdict import WAIT

if TYPE_CHECKING:
    from trellis.api.core.pod import Pod

FREE: dict[str, Any] = {}
GATED: dict[str, Any] = {"gated": True}
OURS = "default-scheduler"


def a_gang(scheduler: str = OURS, *, waits: bool = False) -> PodGang:
    """Groups `a` of three, at least two, and `b` of one."""
    groups = {"a": (["a-0", "a-1", "a-2"], 2), "b": (["b-0"], 1)}
    annotations = {PLACEMENT: WAIT} if waits else {}
    return PodGang(
        metadata=Metadata(
            name="llm-0",
            namespace="default",
            labels={SCHEDULER_NAME: scheduler, SHORT_SET_NAME: "llm"},
            annotations=annotations,
        ),
        spec=PodGangSpec(
            podgroups=tuple(
                PodGroup(
                    name=name,
                    min_replicas=least,
                    pod_references=tuple(
                        NamespacedName(namespace="default", name=one) for one in names
                    ),
                )
                for name, (names, least) in groups.items()
            )
        ),
    )


def free(births: int, gang: PodGang | None = None, **pods: dict[str, Any]) -> bool:
    """Whether so many pods of `a` are, beside these."""
    there: dict[str, Pod] = {
        name.replace("_", "-"): a_pod(name.replace("_", "-"), 0, **more)
        for name, more in pods.items()
    }
    return are_born_free(gang or a_gang(), "a", births, there.get)


@pytest.mark.parametrize(
    ("births", "pods", "expected"),
    [
        (1, {"a_0": FREE, "a_1": FREE, "b_0": FREE}, True),
        (1, {"a_0": FREE, "b_0": FREE}, True),
        (1, {"b_0": FREE}, False),
        (1, {"a_0": FREE, "a_1": FREE}, False),
        (1, {"a_0": GATED, "a_1": GATED, "b_0": GATED}, False),
        (1, {"a_0": GATED, "a_1": FREE, "b_0": GATED}, True),
        (2, {"a_0": FREE, "b_0": FREE}, False),
        (2, {"a_0": FREE, "a_1": FREE, "b_0": FREE}, True),
        (3, {"b_0": FREE}, False),
    ],
    ids=[
        "one more than needed",
        "the one that makes the minimum",
        "the minimum is not reached with it",
        "another group lacks its minimum",
        "nothing has begun",
        "one has begun",
        "of two one may fail",
        "two that nobody needs",
        "all anew",
    ],
)
def test_a_pod_is_born_free_where_its_gate_would_be_lifted_at_once(
    births: int, pods: dict[str, dict[str, Any]], expected: bool
) -> None:
    assert free(births, None, **pods) is expected


def test_what_another_scheduler_must_be_told_of_first_is_not() -> None:
    assert not free(1, a_gang("kai-scheduler"), a_0=FREE, a_1=FREE, b_0=FREE)


def test_what_has_no_room_is_not() -> None:
    assert not free(1, a_gang(waits=True), a_0=FREE, a_1=FREE, b_0=FREE)
