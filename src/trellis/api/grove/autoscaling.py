# SPDX-License-Identifier: Apache-2.0
"""Horizontal autoscaling of a clique or a scaling group."""

from __future__ import annotations

from typing import Annotated

from msgspec import Raw
from msgspec.structs import force_setattr

from trellis.api.meta import ABSENT, Value, detach
from trellis.api.schema.marks import MetricSpecs, mark

_NO_METRICS = Raw(b"[]")


class AutoScalingConfig(Value, frozen=True, kw_only=True):
    """How far, and by which metrics, an autoscaler may move the number of replicas."""

    min_replicas: Annotated[
        int | None, mark("The fewest replicas to scale in to. At least minAvailable.", minimum=0)
    ] = None
    max_replicas: Annotated[int, mark("The most replicas to scale out to.", minimum=1)]
    metrics: Annotated[
        MetricSpecs,
        mark("What the autoscaler watches, in the form of autoscaling/v2. Passed on untouched."),
    ] = ABSENT

    def __post_init__(self) -> None:
        if self.metrics == _NO_METRICS:
            # As if left out: the API server puts its own into either, and never gives it back.
            force_setattr(self, "metrics", ABSENT)
        detach(self, "metrics")
