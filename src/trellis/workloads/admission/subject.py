# SPDX-License-Identifier: Apache-2.0
"""A PodCliqueSet as admission reads it: its own fields, and of its pods those that we judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.api.grove.podcliqueset import PodCliqueSetSpec
from trellis.api.meta import Metadata
from trellis.workloads.admission import problems
from trellis.workloads.admission.problems import CLIQUES, GROUPS, Field, Problem

if TYPE_CHECKING:
    from trellis.api.grove.template import CliqueTemplate, ScalingGroupTemplate


class Document(msgspec.Struct, frozen=True):
    """The part of the object that is judged: status is ours, and read elsewhere."""

    metadata: Metadata
    spec: PodCliqueSetSpec


class EnvVar(msgspec.Struct, frozen=True):
    name: str = ""


class Container(msgspec.Struct, frozen=True):
    name: str = ""
    image: str = ""
    env: tuple[EnvVar, ...] = ()


class Volume(msgspec.Struct, frozen=True):
    name: str = ""


class Pod(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is read of a pod spec. The rest of it is the API server's to judge."""

    scheduler_name: str = ""
    node_name: str = ""
    restart_policy: str = ""
    priority_class_name: str = ""
    hostname: str = ""
    subdomain: str = ""
    termination_grace_period_seconds: int | None = None
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    topology_spread_constraints: tuple[Any, ...] = ()
    volumes: tuple[Volume, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Clique:
    """A clique with its place, its pods, and the scaling group that it is in, if any."""

    field: Field
    template: CliqueTemplate
    pod: Pod
    group: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A scaling group with its place and those of its members that exist."""

    field: Field
    template: ScalingGroupTemplate
    members: tuple[Clique, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The whole set. `unread` is what of its pods could not be read."""

    metadata: Metadata
    spec: PodCliqueSetSpec
    cliques: tuple[Clique, ...]
    groups: tuple[Group, ...]
    unread: tuple[Problem, ...]

    @property
    def parts(self) -> tuple[Clique | Group, ...]:
        return (*self.groups, *self.cliques)


def subject(document: Document) -> Subject:
    template = document.spec.template
    # The first group that names a clique has it; a second one is refused for naming it.
    groups = {
        name: group.name
        for group in reversed(template.pod_clique_scaling_groups)
        for name in group.clique_names
    }
    unread: list[Problem] = []
    cliques = tuple(
        Clique(
            field=CLIQUES.item(index, clique.name),
            template=clique,
            pod=_pod(clique.spec.pod_spec, CLIQUES.item(index, clique.name), unread),
            group=groups.get(clique.name),
        )
        for index, clique in enumerate(template.cliques)
    )
    return Subject(
        metadata=document.metadata,
        spec=document.spec,
        cliques=cliques,
        groups=tuple(
            Group(
                field=GROUPS.item(index, group.name),
                template=group,
                members=tuple(one for one in cliques if one.group == group.name),
            )
            for index, group in enumerate(template.pod_clique_scaling_groups)
        ),
        unread=tuple(unread),
    )


def _pod(raw: msgspec.Raw, clique: Field, unread: list[Problem]) -> Pod:
    try:
        return msgspec.json.decode(raw, type=Pod)
    except msgspec.ValidationError as error:
        said, _, where = str(error).partition(" - at `$")
        field = clique / "spec" / "podSpec"
        place = where.rstrip("`")
        found = Field(f"{field.shown}{place}", f"{field.identity}{place}")
        unread.append(problems.mistyped(found, f"{said}; see `kubectl explain pod.spec`"))
        return Pod()
