# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from trellis.api.meta import Metadata
from trellis.app.local.example import Example, Pod, PodSpec, PodStatus

WORKER = Metadata(name="w")


def a_pod(node: str = "", phase: str = "Pending") -> Pod:
    return Pod(metadata=WORKER, spec=PodSpec(node_name=node), status=PodStatus(phase=phase))


def test_the_examples_are_those_that_users_find() -> None:
    assert Example.job().described == "Job hello-gpus: 2 pods with 2 GPUs each"
    shown = "PodCliqueSet train: 4 pods with 1 GPU each, all or none"
    assert Example.podcliqueset().described == shown


@pytest.mark.parametrize(
    ("pod", "story"),
    [
        pytest.param(a_pod(), ["pod w is made"], id="waiting"),
        pytest.param(a_pod("n1"), ["pod w is made", "pod w goes to n1"], id="bound"),
        pytest.param(
            a_pod("n1", "Running"),
            ["pod w is made", "pod w goes to n1", "pod w runs"],
            id="running",
        ),
    ],
)
def test_what_has_happened_to_a_pod_is_told_in_order(pod: Pod, story: list[str]) -> None:
    assert pod.story == story
