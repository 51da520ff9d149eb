# SPDX-License-Identifier: Apache-2.0
"""Which indices of a PodClique go when it is scaled in. Pure.

Outside scaling groups the pods that are of the least use go, in Grove's order. In a scaling group
the highest indices go whatever their pods do: there an index is a rank, and ranks have no gaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.core.pod import RUNNING
from trellis.api.labels import POD_TEMPLATE_HASH
from trellis.workloads.members import current_templates
from trellis.workloads.pods import is_ready

if TYPE_CHECKING:
    from trellis.api.core.pod import Pod
    from trellis.workloads.ledger import Listed
    from trellis.workloads.podgang.state import Part

_UNKNOWN = "Unknown"
# What is in no other phase counts as pending.
_PHASES = {RUNNING: 2, _UNKNOWN: 1}


def victims(part: Part, entries: Listed, count: int) -> tuple[int, ...]:
    """So many of the indices, the first to go first."""
    if part.member.group is not None:
        return tuple(sorted(entries, reverse=True)[:count])
    current = current_templates(part.clique)

    def use(index: int) -> tuple[object, ...]:
        pod = part.pods.get(entries[index])
        return (pod is not None, *(_use(pod, current) if pod else ()), -index)

    return tuple(sorted(entries, key=use)[:count])


def _use(pod: Pod, current: frozenset[str]) -> tuple[object, ...]:
    """Grove's order: no node, pending, not ready, outdated, newest."""
    created = pod.metadata.creation_timestamp
    return (
        bool(pod.spec.node_name),
        _PHASES.get(pod.status.phase, 0),
        is_ready(pod),
        pod.metadata.labels.get(POD_TEMPLATE_HASH, "") in current,
        -created.timestamp() if created else 0.0,
    )
