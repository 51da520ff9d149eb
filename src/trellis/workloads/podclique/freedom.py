# SPDX-License-Identifier: Apache-2.0
"""Whether a pod may be born without our gate, because it would be lifted at once. Pure.

That saves a write for each pod that is renewed, one after the other, in a gang that runs. Of pods
that are made together some may fail to be: only those that the gang can do without are born free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.config.types import DEFAULT_SCHEDULER
from trellis.api.labels import SCHEDULER_NAME
from trellis.workloads.ledger import all_listed_names
from trellis.workloads.pods import is_gated, is_live
from trellis.workloads.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from trellis.api.core.pod import Pod
    from trellis.api.scheduler.podgang import PodGang

    Find: TypeAlias = Callable[[str], Pod | None]


def are_born_free(gang: PodGang, clique: str, births: int, find: Find) -> bool:
    """`births`: how many pods of that PodClique are about to be made; `find` is told a name.

    The gang must have begun, and every group of it must have its minimum, a single pod to come
    included. Other schedulers than the cluster's own are told of a gang before it is let go.
    """
    if gang.metadata.labels.get(SCHEDULER_NAME) != DEFAULT_SCHEDULER or verdict(gang).waits:
        return False
    listed, begun = all_listed_names(gang), False
    for group in gang.spec.podgroups:
        pods = [find(name) for name in listed.get(group.name, ())]
        live = [pod for pod in pods if pod is not None and is_live(pod)]
        begun = begun or any(not is_gated(pod) for pod in live)
        coming = 1 if group.name == clique and births == 1 else 0
        if len(live) + coming < group.min_replicas:
            return False
    return begun
