# SPDX-License-Identifier: Apache-2.0
"""Scaling groups and what a pass over one sees."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from tests.unit.workloads.members.builders import stored
from tests.unit.workloads.sets import a_clique, a_group, a_set
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.labels import Component, common, of_set_replica
from trellis.api.meta import owner, to_builtins
from trellis.workloads.members import clique
from trellis.workloads.outline import Member, Outline
from trellis.workloads.scalinggroup.rolling import Rolling, rolling
from trellis.workloads.scalinggroup.state import Place, Replica, Seat, State

if TYPE_CHECKING:
    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.podcliqueset import PodCliqueSet

Json = dict[str, Any]

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
EARLIER = datetime(2026, 1, 1, 11, tzinfo=UTC)
GROUP = "llm-0-pd"


def the_set(replicas: int = 1, **more: Any) -> PodCliqueSet:
    """A leader and two workers, scaled together."""
    cliques = (a_clique("leader", 1), a_clique("worker", 2, least=1, **more))
    groups = (a_group("pd", "leader", "worker", replicas=2),)
    return a_set("llm", *cliques, groups=groups, replicas=replicas)


def group_body(owning: PodCliqueSet, replicas: int = 2, least: int = 1, **metadata: Any) -> Json:
    """A group as the controller of its set's replica makes it."""
    labels = common("llm", GROUP, Component.SCALING_GROUP) | of_set_replica("llm", 0)
    return {
        "metadata": {
            "name": GROUP,
            "namespace": "default",
            "labels": labels,
            "ownerReferences": [to_builtins(owner(owning))],
            **metadata,
        },
        "spec": {"replicas": replicas, "minAvailable": least, "cliqueNames": ["leader", "worker"]},
    }


def a_scaling_group(
    owning: PodCliqueSet, replicas: int = 2, least: int = 1, **status: Any
) -> PodCliqueScalingGroup:
    body = group_body(owning, replicas, least, uid="uid-pd", resourceVersion="5", generation=3) | {
        "status": status
    }
    return msgspec.json.decode(msgspec.json.encode(body), type=PodCliqueScalingGroup)


def well(outline: Outline, member: Member, **changes: Any) -> Json:
    """The status of a PodClique all of whose pods are up."""
    count = member.template.spec.replicas
    return {
        "observedGeneration": 1,
        "replicas": count,
        "readyReplicas": count,
        "scheduledReplicas": count,
        "updatedReplicas": count,
        "firstAvailableTime": EARLIER.isoformat(),
        "currentPodTemplateHash": outline.template_hashes[member.template.name],
        "currentPodCliqueSetGenerationHash": outline.generation_hash,
        "conditions": [breach(False)],
        **changes,
    }


def breach(fact: bool) -> Json:
    return {"type": "MinAvailableBreached", "status": str(fact), "reason": "Because"}


def a_live(
    state_of: PodCliqueScalingGroup, outline: Outline, member: Member, **changes: Any
) -> PodClique:
    """A member that is there, and well unless `status` says otherwise."""
    status = well(outline, member, **changes.pop("status", {}))
    return stored(clique(outline, member, state_of, None), status=status, **changes)


def rolls_of(state: State) -> Rolling:
    """How far it is with its templates, where no pod is listed."""
    return rolling(state, lambda _: (), NOON)


def a_state(
    replicas: int = 2,
    least: int = 1,
    live: dict[str, Json | None] | None = None,
    recycled: dict[str, datetime] | None = None,
    **status: Any,
) -> State:
    """All members are there and well, but for those in `live`; None: not there."""
    outline = Outline(the_set())
    group = a_scaling_group(outline.set, replicas, least, **status)
    config, changed = outline.groups["pd"], live or {}

    def seat(member: Member) -> Seat:
        told = changed.get(member.name, {})
        if told is None:
            return Seat(member)
        return Seat(member, a_live(group, outline, member, status=told))

    return State(
        group=group,
        owner=outline.set,
        place=Place(outline=outline, replica=0, config=config),
        replicas=tuple(
            Replica(
                index=index,
                seats=tuple(seat(member) for member in outline.grouped(0, config, index)),
                recycled=recycled or {},
            )
            for index in range(replicas)
        ),
        most=100,
    )
