# SPDX-License-Identifier: Apache-2.0
"""HorizontalPodAutoscaler: moves the replicas of a PodClique or a scaling group."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from trellis.api.meta import ABSENT, Object, Resource, Value, detach


class ScaleTarget(Value, frozen=True, kw_only=True):
    """What it scales."""

    api_version: str
    kind: str
    name: str


class HorizontalPodAutoscalerSpec(Value, frozen=True, kw_only=True):
    """How far it may go, and by what. Metrics are raw: users write them, we pass them on."""

    scale_target_ref: ScaleTarget
    min_replicas: int | None = None
    max_replicas: int
    metrics: msgspec.Raw = ABSENT

    def __post_init__(self) -> None:
        detach(self, "metrics")


class HorizontalPodAutoscaler(Object, frozen=True, kw_only=True):
    """A HorizontalPodAutoscaler."""

    resource: ClassVar = Resource(
        "autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"
    )

    spec: HorizontalPodAutoscalerSpec
