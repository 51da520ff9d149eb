# SPDX-License-Identifier: Apache-2.0
"""What people read of a topology: how writing went, in conditions, errors and events. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from trellis.api.conditions import READY, SUMMARY, Motion, find, merged
from trellis.api.grove.clustertopology import ClusterTopologyStatus
from trellis.api.grove.faults import LastError
from trellis.api.meta import to_seconds
from trellis.api.reasons import objects, topology
from trellis.kube.errors import Forbidden, KubeError
from trellis.runtime.converged import Converged
from trellis.runtime.notes import Note
from trellis.topology import standing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.conditions import Pass
    from trellis.api.grove.clustertopology import ClusterTopology
    from trellis.topology.standing import Standing

# What came of the writes: the server's answers, or what kept them from being made.
Written: TypeAlias = Converged | KubeError


def trouble(written: Written) -> KubeError | None:
    """What makes it worth trying again after a while, since nothing will tell when it is over."""
    if isinstance(written, KubeError):
        return written
    return written.refused[0].error if written.refused else None


def after(written: Written, planned: Standing) -> Standing:
    """How the topology stands, given how it would if everything had gone as planned."""
    if isinstance(written, KubeError):
        return standing.unwritten(Motion.MOVING, objects.RETRYING, str(written))
    if written.refused:
        refusal = written.refused[0]
        forbidden = isinstance(refusal.error, Forbidden)
        cause = objects.FORBIDDEN if forbidden else objects.REFUSED
        return standing.unwritten(Motion.STUCK, cause, str(refusal))
    if written.conflicts:
        return standing.name_taken(written.conflicts[0].name, written.conflicts[0].holder)
    if written.blocked:
        return standing.name_held(written.blocked[0])
    return planned


def status(found: ClusterTopology, stands: Standing, seen: Pass) -> ClusterTopologyStatus:
    present = found.status
    return ClusterTopologyStatus(
        conditions=merged(present.conditions, stands.findings(), SUMMARY, seen),
        observed_generation=seen.generation,
        last_errors=tuple(_errors(present, stands, seen)),
    )


def notes(found: ClusterTopology, stands: Standing, written: Written) -> Iterator[Note]:
    """An event when it becomes something else, and one when what was lost or changed is back."""
    ready = find(found.status.conditions, READY)
    if ready is None or (ready.status, ready.reason) != (stands.ready.value, stands.reason.token):
        yield Note(stands.reason.token, stands.message, "Warning" if stands.failed else "Normal")
    elif isinstance(written, Converged) and (written.created or written.patched):
        yield Note(topology.TOPOLOGY_IN_SYNC.token, stands.message)


def _errors(present: ClusterTopologyStatus, stands: Standing, seen: Pass) -> Iterator[LastError]:
    if not stands.failed:
        return
    code, description = topology.KAI_TOPOLOGY_CREATE_ERROR.token, stands.message
    known = [(error.code, error.description) for error in present.last_errors]
    if (code, description) in known:
        # The same again: it keeps its time, so that trying in vain writes nothing.
        yield present.last_errors[known.index((code, description))]
    else:
        observed = to_seconds(seen.now)
        yield LastError(code=code, description=description, observed_at=observed)
