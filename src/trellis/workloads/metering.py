# SPDX-License-Identifier: Apache-2.0
"""How many sets, gangs and cliques there are and how they are, as metrics. It only counts.

Numbers are taken from the caches when somebody asks for them, so that they cost nothing else.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from trellis.api import conditions
from trellis.api.grove.podclique import MIN_AVAILABLE_BREACHED
from trellis.api.scheduler.podgang import PENDING, RUNNING, STARTING

if TYPE_CHECKING:
    from trellis.instruments.metrics import Meter
    from trellis.workloads.caches import Caches

PHASES = (PENDING, STARTING, RUNNING)
READY = {"true": True, "false": False}


def meter_sets(meter: Meter, caches: Caches) -> None:
    sets = meter.gauge(
        "trellis_podcliquesets", "PodCliqueSets by whether they are ready.", {"ready": tuple(READY)}
    )
    for value, ready in READY.items():
        sets.labels(value).set_function(partial(_sets, caches, ready=ready))
    gangs = meter.gauge("trellis_podgangs", "PodGangs by their phase.", {"phase": PHASES})
    for phase in PHASES:
        gangs.labels(phase).set_function(partial(_gangs, caches, phase))
    breached = meter.gauge(
        "trellis_podcliques_breached", "PodCliques that lack the minimum that they must hold."
    )
    breached.set_function(partial(_breached, caches))


def _sets(caches: Caches, *, ready: bool) -> float:
    found = (conditions.is_true(one.status.conditions, conditions.READY) for one in caches.sets)
    return float(sum(each is ready for each in found))


def _gangs(caches: Caches, phase: str) -> float:
    return float(sum(gang.status.phase == phase for gang in caches.gangs))


def _breached(caches: Caches) -> float:
    found = (one.status.conditions for one in caches.cliques)
    return float(sum(conditions.is_true(each, MIN_AVAILABLE_BREACHED) for each in found))
