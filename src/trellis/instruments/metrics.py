# SPDX-License-Identifier: Apache-2.0
"""Prometheus metrics in a registry that is passed around, with every series there from the start.

A label whose values are known begins at 0 for each of them, so that an alert sees a zero and not a
hole. Labels never hold free text: names, messages and other people's words stay out.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.metrics import MetricWrapperBase

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Labels = Mapping[str, Sequence[str]]

M = TypeVar("M", bound=MetricWrapperBase)

CONTENT_TYPE = prometheus_client.CONTENT_TYPE_PLAIN_0_0_4
SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)

# The time at which each series began would double their number and tell nobody anything.
prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]


class Meter:
    """Makes metrics and shows them. Asking twice for a name gives the same metric."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._made: dict[str, MetricWrapperBase] = {}

    @property
    def registry(self) -> CollectorRegistry:
        """For those who make their metrics themselves."""
        return self._registry

    def counter(self, name: str, text: str, labels: Labels | None = None) -> Counter:
        """A count that only grows. `labels`: the values that each label is known to have."""
        return self._made_once(Counter, name, text, labels or {})

    def gauge(self, name: str, text: str, labels: Labels | None = None) -> Gauge:
        return self._made_once(Gauge, name, text, labels or {})

    def histogram(self, name: str, text: str, labels: Labels | None = None) -> Histogram:
        """A distribution of seconds."""
        return self._made_once(Histogram, name, text, labels or {}, buckets=SECONDS)

    def watch_process(self) -> None:
        """Adds memory, processor time and open files of this process."""
        prometheus_client.ProcessCollector(registry=self._registry)
        prometheus_client.GCCollector(registry=self._registry)

    def show(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return prometheus_client.generate_latest(self._registry)

    def value(self, name: str, **labels: str) -> float | None:
        """One sample as it is now, None if there is no such series."""
        return self._registry.get_sample_value(name, labels)

    def _made_once(self, kind: type[M], name: str, text: str, labels: Labels, **options: Any) -> M:
        metric = self._made.get(name)
        if metric is None:
            metric = kind(name, text, tuple(labels), registry=self._registry, **options)
            self._made[name] = metric
        if not isinstance(metric, kind):
            raise TypeError(f"the metric {name} is a {type(metric).__name__.lower()} already")
        if labels:
            for values in product(*labels.values()):
                metric.labels(*values)
        return metric
