# SPDX-License-Identifier: Apache-2.0
"""What a PodClique controller looks at, by a few words: a set, a clique, its gang and its pods."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from msgspec import structs

from tests.support.virtual import START
from tests.unit.workloads.sets import a_clique, a_set
from trellis.api import names
from trellis.api.conditions import Condition, Status
from trellis.api.core.pod import (
    READY,
    RUNNING,
    SCHEDULED,
    ContainerState,
    ContainerStatus,
    Gate,
    Pod,
    PodSpec,
    PodStatus,
    Terminated,
)
from trellis.api.grove.podclique import GANG_REFUSED, PodCliqueStatus
from trellis.api.labels import (
    GANG_GATE,
    POD_INDEX,
    POD_TEMPLATE_HASH,
    Component,
    common,
)
from trellis.api.meta import Metadata, OwnerReference, owner
from trellis.api.scheduler.podgang import NamespacedName, PodGang, PodGangSpec, PodGroup
from trellis.workloads.ledger import listed
from trellis.workloads.members import clique as as_made
from trellis.workloads.outline import Outline
from trellis.workloads.podclique.state import State

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.workloads.outline import Member

NOW = START + timedelta(hours=1)
MOST = 5_000
# As who makes gangs says that the server will not have the one that it needs.
NO_GANG = PodCliqueStatus(
    conditions=(
        Condition(
            type=GANG_REFUSED,
            status=Status.TRUE.value,
            reason="QuotaRefused",
            message="PodGang: exceeded quota",
            last_transition_time=START,
        ),
    )
)


def pod_name(clique: str, index: int, before: str = "") -> str:
    return names.pod(clique, index, names.pod_suffix(f"uid-{clique}", str(index), before))


@dataclass(frozen=True)
class Scene:
    """A set, and one PodClique of it. `names` is the ledger: None where there is no gang yet."""

    set: PodCliqueSet
    member: Member
    names: tuple[str, ...] | None = ()
    pods: tuple[Pod, ...] = ()
    spec: dict[str, Any] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    gang_annotations: dict[str, str] = field(default_factory=dict)
    gang_labels: dict[str, str] = field(default_factory=dict)
    status: PodCliqueStatus | None = None

    @property
    def outline(self) -> Outline:
        return Outline(self.set)

    @property
    def clique(self) -> PodClique:
        controller: Any = self.set
        made = as_made(self.outline, self.member, controller, None)
        metadata = structs.replace(
            made.metadata,
            uid=f"uid-{made.metadata.name}",
            generation=1,
            resource_version="1",
            annotations=made.metadata.annotations | self.annotations,
            owner_references=(self._controller(),),
        )
        found = structs.replace(
            made, metadata=metadata, spec=structs.replace(made.spec, **self.spec)
        )
        return found if self.status is None else structs.replace(found, status=self.status)

    @property
    def gang(self) -> PodGang | None:
        if self.names is None:
            return None
        name = self.member.place.gang
        references = tuple(NamespacedName(namespace="default", name=one) for one in self.names)
        group = PodGroup(name=self.member.name, pod_references=references, min_replicas=1)
        return PodGang(
            metadata=Metadata(
                name=name,
                namespace="default",
                labels={**common(self.set.metadata.name, name, Component.POD_GANG)}
                | self.gang_labels,
                annotations=self.gang_annotations,
                owner_references=(owner(self.set),),
            ),
            spec=PodGangSpec(podgroups=(group,)),
        )

    @property
    def state(self) -> State:
        clique, gang = self.clique, self.gang
        obeyed = gang is not None and clique.spec.replicas > 0
        return State(
            clique=clique,
            pods=self.pods,
            owner=self.set,
            outline=self.outline,
            member=self.member,
            most=MOST,
            gang=gang,
            listed=listed(gang, clique.metadata.name, self.pods) if gang and obeyed else {},
        )

    def but(self, **changes: Any) -> Scene:
        return replace(self, **changes)

    def _controller(self) -> OwnerReference:
        group = self.member.place.group
        if group is None:
            return owner(self.set)
        return OwnerReference(
            api_version="grove.io/v1alpha1",
            kind="PodCliqueScalingGroup",
            name=group.full_name,
            uid=f"uid-{group.full_name}",
            controller=True,
        )


def a_scene(replicas: int = 2, least: int | None = None, **more: Any) -> Scene:
    """A standalone clique `worker` whose pods are all listed, and not there yet."""
    template = {key: more.pop(key) for key in ("podSpec", "labels") if key in more}
    found = a_set("llm", a_clique("worker", replicas, least, **template))
    member = Outline(found).alone(0)[0]
    ledger = tuple(pod_name(member.name, index) for index in range(replicas))
    return Scene(found, member, **{"names": ledger, **more})


def a_pod(name: str, index: int, **more: Any) -> Pod:
    """A pod of `llm-0-worker` that runs and is ready, unless it is told otherwise."""
    clique = str(more.pop("clique", "llm-0-worker"))
    controller = OwnerReference(
        api_version="grove.io/v1alpha1",
        kind="PodClique",
        name=clique,
        uid=f"uid-{clique}",
        controller=True,
    )
    metadata = Metadata(
        name=name,
        namespace="default",
        uid=f"uid-{name}",
        creation_timestamp=more.pop("made", START),
        deletion_timestamp=more.pop("deleted", None),
        labels={
            POD_INDEX: str(index),
            POD_TEMPLATE_HASH: str(more.pop("template_hash", "v1-older")),
        },
        annotations=more.pop("annotations", {}),
        owner_references=(controller,),
    )
    gated, node, ready = (
        more.pop("gated", False),
        more.pop("node", "node-1"),
        more.pop("ready", True),
    )
    spec = PodSpec(
        node_name="" if gated else node,
        scheduling_gates=(Gate(name=GANG_GATE),) if gated else (),
    )
    return Pod(metadata=metadata, spec=spec, status=_status(ready=ready and not gated, **more))


def crashed(code: int = 1) -> tuple[ContainerStatus, ...]:
    ended = ContainerState(terminated=Terminated(exit_code=code))
    return (ContainerStatus(started=False, ready=False, last_state=ended),)


def _status(
    *,
    ready: bool,
    phase: str = RUNNING,
    since: datetime = START,
    containers: tuple[ContainerStatus, ...] = (),
    scheduled: bool = False,
) -> PodStatus:
    facts = {READY: ready} | ({SCHEDULED: True} if scheduled else {})
    return PodStatus(
        phase=phase,
        conditions=tuple(
            Condition(type=kind, status=Status.of(fact).value, last_transition_time=since)
            for kind, fact in facts.items()
        ),
        container_statuses=containers,
    )
