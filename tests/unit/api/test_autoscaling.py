# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import msgspec
import pytest

from trellis.api.grove.autoscaling import AutoScalingConfig

CPU = [{"type": "Resource"}]


@pytest.mark.parametrize(
    ("metrics", "read"),
    [
        pytest.param({}, b"", id="left out"),
        pytest.param({"metrics": []}, b"", id="an empty list, which the server fills"),
        pytest.param({"metrics": CPU}, msgspec.json.encode(CPU), id="some"),
    ],
)
def test_no_metrics_are_the_same_however_they_are_written(
    metrics: dict[str, object], read: bytes
) -> None:
    written = msgspec.json.encode({"maxReplicas": 2, **metrics})
    config = msgspec.json.decode(written, type=AutoScalingConfig)
    assert bytes(config.metrics) == read
