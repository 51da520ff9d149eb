# SPDX-License-Identifier: Apache-2.0
"""Gangs, their PodCliques and their pods, by a few words with boring defaults."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import structs

from tests.support.virtual import START
from tests.unit.workloads.sets import a_clique, a_group, a_set
from trellis.api import names
from trellis.api.conditions import Condition
from trellis.api.core.pod import (
    READY,
    RUNNING,
    Gate,
    Pod,
    PodSpec,
    PodStatus,
)
from trellis.api.grove.podclique import MIN_AVAILABLE_BREACHED, PodClique, PodCliqueStatus
from trellis.api.labels import GANG_GATE, POD_INDEX, POD_TEMPLATE_HASH
from trellis.api.meta import Key, Metadata, OwnerReference
from trellis.api.scheduler.podgang import NamespacedName, PodGang, PodGangSpec, PodGroup
from trellis.workloads.members import clique as as_made
from trellis.workloads.outline import Outline
from trellis.workloads.podgang.backend import Backend
from trellis.workloads.podgang.desired import desired
from trellis.workloads.podgang.membership import Place, expected
from trellis.workloads.podgang.plan import plan
from trellis.workloads.podgang.recycle import NOTHING
from trellis.workloads.podgang.state import Part, State
from trellis.workloads.recycled import stamps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.workloads.ledger import Listed
    from trellis.workloads.outline import Member

NOW = START + timedelta(hours=1)
MOST = 5_000
CURRENT = "v1-current"
DEFAULT = Backend(scheduler="default-scheduler")


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def wl2(name: str = "wl2", **more: Any) -> PodCliqueSet:
    """Grove's second workload: pc-a 2/1; sg-x of 2, at least 1, each pc-b 1/1 and pc-c 3/1."""
    return a_set(
        name,
        a_clique("pc-a", 2, 1),
        a_clique("pc-b", 1, 1),
        a_clique("pc-c", 3, 1),
        groups=(a_group("sg-x", "pc-b", "pc-c", replicas=2, least=1),),
        **more,
    )


def a_member(*, grouped: bool = False) -> Member:
    """A clique of its own, or one of a scaling group."""
    outline = Outline(wl2())
    group = outline.groups["sg-x"]
    return outline.grouped(0, group, 0)[0] if grouped else outline.alone(0)[0]


def a_podclique(
    owner: PodCliqueSet,
    member: Member,
    replicas: int | None = None,
    status: PodCliqueStatus | None = None,
    notes: Mapping[str, str] | None = None,
) -> PodClique:
    made = as_made(Outline(owner), member, owner, None)
    wanted = made.spec.replicas if replicas is None else replicas
    metadata = structs.replace(
        made.metadata,
        uid=uid_of(member.name),
        labels={**made.metadata.labels, POD_TEMPLATE_HASH: CURRENT},
        annotations={**made.metadata.annotations, **(notes or {})},
    )
    spec = structs.replace(made.spec, replicas=wanted)
    return structs.replace(made, metadata=metadata, spec=spec, status=status or PodCliqueStatus())


def uid_of(clique: str) -> str:
    return f"uid-{clique}"


def name_of(clique: str, index: int, previous: str = "") -> str:
    return names.pod(clique, index, names.pod_suffix(uid_of(clique), str(index), previous))


def a_pod(  # noqa: PLR0913  each word changes one thing
    name: str,
    index: int,
    clique: str = "wl2-0-pc-a",
    *,
    node: str = "node",
    phase: str = RUNNING,
    ready: bool = True,
    gates: Iterable[str] = (),
    leaving: bool = False,
    hash_: str = CURRENT,
    age: float = 600,
    uid: str = "",
    notes: Mapping[str, str] | None = None,
) -> Pod:
    condition = Condition(
        type=READY, status=str(ready), last_transition_time=ago(age / 2), reason="Test"
    )
    controller = OwnerReference(
        api_version="grove.io/v1alpha1",
        kind="PodClique",
        name=clique,
        uid=uid or uid_of(clique),
        controller=True,
    )
    return Pod(
        metadata=Metadata(
            name=name,
            namespace="default",
            uid=f"uid-{name}",
            resource_version="7",
            labels={POD_INDEX: str(index), POD_TEMPLATE_HASH: hash_},
            annotations=dict(notes or {}),
            creation_timestamp=ago(age),
            deletion_timestamp=NOW if leaving else None,
            owner_references=(controller,),
        ),
        spec=PodSpec(node_name=node, scheduling_gates=tuple(Gate(name=gate) for gate in gates)),
        status=PodStatus(phase=phase, conditions=(condition,)),
    )


def gated(name: str, index: int, clique: str = "wl2-0-pc-a", *others: str) -> Pod:
    return a_pod(
        name, index, clique, node="", phase="Pending", ready=False, gates=(*others, GANG_GATE)
    )


@cache
def _made(grouped: bool) -> tuple[Member, PodClique]:
    member = a_member(grouped=grouped)
    return member, a_podclique(wl2(), member)


def a_part(
    *pods: Pod,
    listed: Listed | None = None,
    replicas: int = 3,
    grouped: bool = False,
    notes: Mapping[str, str] | None = None,
) -> Part:
    member, made = _made(grouped)
    metadata = structs.replace(made.metadata, annotations=dict(notes or {}))
    spec = structs.replace(made.spec, replicas=replicas)
    return Part(
        member=member,
        clique=structs.replace(made, metadata=metadata, spec=spec),
        pods={pod.metadata.name: pod for pod in pods},
        listed=listed,
        most=MOST,
    )


def a_state(
    owner: PodCliqueSet | None = None,
    place: Place | None = None,
    *,
    gang: PodGang | None = None,
    base: PodGang | None = None,
    pods: Iterable[Pod] = (),
    **replicas: int,
) -> State:
    """A gang with all its PodCliques. `replicas` are those of PodCliques, by clique: `pc_a=0`."""
    owner = owner or wl2()
    outline, place = Outline(owner), place or Place(replica=0)
    live = {group.name: group.replicas for group in outline.groups.values()}
    members = expected(outline, place, live)
    references = {group.name: group for group in gang.spec.podgroups} if gang else {}
    parts = []
    for member in members:
        scaled = replicas.get(member.template.name.replace("-", "_"))
        own = [pod for pod in pods if pod.metadata.owner_references[0].name == member.name]
        found = {pod.metadata.name: pod for pod in own}
        group = references.get(member.name)
        names_ = [each.name for each in group.pod_references] if group else None
        entries = None if names_ is None else dict(enumerate(names_))
        clique = a_podclique(owner, member, scaled)
        part = Part(member=member, clique=clique, pods=found, listed=entries, most=MOST)
        parts.append(part)
    return State(
        key=Key("default", place.gang(outline)),
        set=owner,
        outline=outline,
        place=place,
        gang=gang,
        expected=tuple(member.name for member in members),
        parts=tuple(parts),
        stamps=stamps(gang) if gang else {},
        listed_names={name: [r.name for r in g.pod_references] for name, g in references.items()},
        base=base,
    )


def a_gang(state: State | None = None, backend: Backend = DEFAULT, **metadata: Any) -> PodGang:
    """The gang of that state as it would be made, and stored."""
    state = state or a_state()
    made = desired(state, plan(state, NOTHING, NOW), backend)
    assert made is not None
    given: dict[str, Any] = {"uid": "uid-gang", "resource_version": "9", "generation": 1}
    annotations = {**made.metadata.annotations, **metadata.pop("annotations", {})}
    labels = {**made.metadata.labels, **metadata.pop("labels", {})}
    return structs.replace(
        made,
        metadata=structs.replace(
            made.metadata, labels=labels, annotations=annotations, **(given | metadata)
        ),
    )


def pods_of(gang: PodGang, **pod: Any) -> list[Pod]:
    """All pods that a gang lists, each alike."""
    return [
        a_pod(reference.name, index, group.name, **pod)
        for group in gang.spec.podgroups
        for index, reference in enumerate(group.pod_references)
    ]


def a_bare_gang(name: str = "wl2-0", *groups: PodGroup, **annotations: str) -> PodGang:
    metadata = Metadata(name=name, namespace="default", uid="uid-gang", annotations=annotations)
    return PodGang(metadata=metadata, spec=PodGangSpec(podgroups=groups))


def a_pod_group(clique: str, *pods: str, least: int = 1) -> PodGroup:
    references = tuple(NamespacedName(namespace="default", name=name) for name in pods)
    return PodGroup(name=clique, pod_references=references, min_replicas=least)


def a_status(up: datetime | None = None, broken: datetime | None = None) -> PodCliqueStatus:
    """Of a PodClique that was first up then, and has lacked its minimum since then."""
    status = "True" if broken else "False"
    condition = Condition(
        type=MIN_AVAILABLE_BREACHED, status=status, last_transition_time=broken, reason="Test"
    )
    return PodCliqueStatus(first_available_time=up, conditions=(condition,))
