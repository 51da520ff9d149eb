# SPDX-License-Identifier: Apache-2.0
"""A set and what has become of it, as caches would hold it, by a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import structs

from trellis.api.conditions import Condition
from trellis.api.grove.podclique import PodCliqueStatus
from trellis.api.grove.scalinggroup import PodCliqueScalingGroupStatus
from trellis.api.labels import Component, common
from trellis.api.meta import Metadata, Object, Time, owner, to_builtins
from trellis.api.scheduler.podgang import RUNNING, PodGang, PodGangSpec, PodGangStatus
from trellis.workloads.members import clique
from trellis.workloads.outline import Outline
from trellis.workloads.podcliqueset.desired import scaling_group
from trellis.workloads.podcliqueset.layout import Layout
from trellis.workloads.podcliqueset.survey import Sight, Survey, survey

if TYPE_CHECKING:
    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
    from trellis.api.meta import Key

T = TypeVar("T", bound=Object)
WHEN = Time.fromisoformat("2026-03-01T12:00:00+00:00")


def stored(made: T, **status: Any) -> T:
    """The same as a server would give it back."""
    body = to_builtins(made)
    name = made.metadata.name
    body["metadata"] |= {"uid": f"uid-{name}", "resourceVersion": "7", "generation": 1}
    if status:
        body["status"] = status
    return msgspec.json.decode(msgspec.json.encode(body), type=type(made))


class World:
    """A set with all its children, well at first: tests break what they are about."""

    def __init__(self, found: PodCliqueSet) -> None:
        self.outline = Outline(found)
        self.layout = Layout(self.outline)
        self.cliques: dict[str, PodClique] = {}
        self.groups: dict[str, PodCliqueScalingGroup] = {}
        self.gangs: dict[str, PodGang] = {}
        for replica in range(self.outline.replicas):
            for member in self.outline.alone(replica):
                self._add(clique(self.outline, member, found, None))
            for template in self.outline.groups.values():
                group = stored(scaling_group(self.outline, replica, template, None))
                self.groups[group.metadata.name] = structs.replace(
                    group, status=self._well_group(group.spec.replicas)
                )
                for index in range(group.spec.replicas):
                    for member in self.outline.grouped(replica, template, index):
                        self._add(clique(self.outline, member, group, None))

    def look(self) -> Survey:
        sight = Sight(
            clique=self._clique,
            group=self._group,
            gang=self._gang,
            replicas=lambda group: group.spec.replicas,
        )
        return survey(self.layout, sight)

    def clique(self, name: str, **status: Any) -> None:
        """Changes what a PodClique says of itself."""
        found = self.cliques[name]
        self.cliques[name] = structs.replace(found, status=structs.replace(found.status, **status))

    def group(self, name: str, **status: Any) -> None:
        found = self.groups[name]
        self.groups[name] = structs.replace(found, status=structs.replace(found.status, **status))

    def scale_clique(self, name: str, replicas: int) -> None:
        found = self.cliques[name]
        spec = structs.replace(found.spec, replicas=replicas)
        self.cliques[name] = structs.replace(found, spec=spec)

    def scale_group(self, name: str, replicas: int) -> None:
        found = self.groups[name]
        spec = structs.replace(found.spec, replicas=replicas)
        self.groups[name] = structs.replace(found, spec=spec)

    def change_clique(self, name: str, **metadata: Any) -> None:
        found = self.cliques[name]
        self.cliques[name] = structs.replace(
            found, metadata=structs.replace(found.metadata, **metadata)
        )

    def _add(self, made: PodClique) -> None:
        hashes = self.outline.template_hashes
        reached = hashes[made.metadata.labels["grove.io/clique-name"]]
        count = made.spec.replicas
        self.cliques[made.metadata.name] = structs.replace(
            stored(made),
            status=PodCliqueStatus(
                replicas=count,
                ready_replicas=count,
                updated_replicas=count,
                current_pod_template_hash=reached,
            ),
        )

    def _well_group(self, count: int) -> PodCliqueScalingGroupStatus:
        return PodCliqueScalingGroupStatus(
            replicas=count,
            available_replicas=count,
            updated_replicas=count,
            current_pod_clique_set_generation_hash=self.outline.generation_hash,
        )

    def _clique(self, key: Key) -> PodClique | None:
        return self.cliques.get(key.name) if key.namespace == "default" else None

    def _group(self, key: Key) -> PodCliqueScalingGroup | None:
        return self.groups.get(key.name) if key.namespace == "default" else None

    def _gang(self, key: Key) -> PodGang | None:
        return self.gangs.get(key.name) if key.namespace == "default" else None


def a_gang(found: PodCliqueSet, name: str, phase: str = RUNNING, *conditions: Condition) -> PodGang:
    return PodGang(
        metadata=Metadata(
            name=name,
            namespace="default",
            labels=common(found.metadata.name, name, Component.POD_GANG),
            owner_references=(owner(found),),
        ),
        spec=PodGangSpec(podgroups=()),
        status=PodGangStatus(phase=phase, conditions=conditions),
    )


def a_condition(type_: str, status: str = "True", reason: str = "Because") -> Condition:
    return Condition(type=type_, status=status, reason=reason, last_transition_time=WHEN)
