# SPDX-License-Identifier: Apache-2.0
"""Who is tested: all workload controllers, in one process, as they are shipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.workloads.podclique.reconciler import controller as podclique
from trellis.workloads.podcliqueset.reconciler import controllers as podcliqueset
from trellis.workloads.podgang.reconciler import controller as podgang
from trellis.workloads.scalinggroup.reconciler import controller as scalinggroup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trellis.runtime.controller import Controller
    from trellis.workloads.caches import Caches
    from trellis.workloads.means import Means


def workloads(means: Means, caches: Caches) -> Sequence[Controller[Any]]:
    return (
        *podcliqueset(means, caches),
        scalinggroup(means, caches),
        podgang(means, caches),
        podclique(means, caches),
    )
