# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from trellis.instruments.metrics import Meter


def test_every_known_series_is_there_from_the_start() -> None:
    meter = Meter()
    meter.counter("runs_total", "Runs.", {"by": ("a", "b"), "end": ("good", "bad")})
    shown = meter.show().decode()
    assert [line for line in shown.splitlines() if not line.startswith("#")] == [
        'runs_total{by="a",end="good"} 0.0',
        'runs_total{by="a",end="bad"} 0.0',
        'runs_total{by="b",end="good"} 0.0',
        'runs_total{by="b",end="bad"} 0.0',
    ]


def test_asking_twice_gives_the_same_metric_and_adds_series() -> None:
    meter = Meter()
    meter.counter("runs_total", "Runs.", {"by": ("a",)}).labels("a").inc()
    meter.counter("runs_total", "Runs.", {"by": ("b",)})
    assert (meter.value("runs_total", by="a"), meter.value("runs_total", by="b")) == (1.0, 0.0)


def test_one_name_is_of_one_kind() -> None:
    meter = Meter()
    meter.counter("things", "Things.")
    with pytest.raises(TypeError, match="the metric things is a counter already"):
        meter.gauge("things", "Things.")


def test_seconds_are_told_from_a_millisecond_to_minutes() -> None:
    meter = Meter()
    meter.histogram("work_seconds", "Work.").observe(0.003)
    assert meter.value("work_seconds_bucket", le="0.001") == 0.0
    assert meter.value("work_seconds_bucket", le="0.005") == 1.0
    assert meter.value("work_seconds_bucket", le="300.0") == 1.0


def test_the_process_shows_its_memory() -> None:
    meter = Meter()
    meter.watch_process()
    assert (meter.value("process_resident_memory_bytes") or 0) > 0
