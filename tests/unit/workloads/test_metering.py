# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from msgspec import structs

from tests.unit.workloads.sets import a_set
from trellis.api.conditions import READY, Condition
from trellis.api.grove.podcliqueset import PodCliqueSetStatus
from trellis.instruments.metrics import Meter
from trellis.kube.events import Snapshot
from trellis.workloads.caches import Caches
from trellis.workloads.metering import meter_sets


def test_sets_are_counted_as_they_are_when_somebody_asks() -> None:
    meter, caches = Meter(), Caches()
    meter_sets(meter, caches)
    assert b'trellis_podcliquesets{ready="true"} 0.0' in meter.show()
    ready = PodCliqueSetStatus(conditions=(Condition(type=READY, status="True", reason="Well"),))
    sets = [a_set("a"), a_set("b"), structs.replace(a_set("c"), status=ready)]
    caches.sets.replace(Snapshot(sets, "7"))
    shown = meter.show()
    assert b'trellis_podcliquesets{ready="true"} 1.0' in shown
    assert b'trellis_podcliquesets{ready="false"} 2.0' in shown
    assert b'trellis_podgangs{phase="Running"} 0.0' in shown
    assert b"trellis_podcliques_breached 0.0" in shown
