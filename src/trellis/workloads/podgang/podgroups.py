# SPDX-License-Identifier: Apache-2.0
"""KAI's own PodGroup: its shape, what a gang's is to be, and whether the KAI here knows it. Pure.

Once KAI has it, the queue is KAI's to change, and so are two of its labels. Fields that are not
declared here, such as those in which KAI keeps its backoff, are never written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from msgspec import field, structs

from trellis.api.conditions import is_true
from trellis.api.core.definition import DefinitionStatus
from trellis.api.labels import KAI_QUEUE
from trellis.api.meta import Metadata, Object, Resource, Value, owner
from trellis.runtime.plan import by_fields
from trellis.workloads.podgang.backend import KaiHere

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.scheduler.podgang import GangTopologyConstraint, PodGang
    from trellis.runtime.difference import Json
    from trellis.runtime.plan import Wanted

NODE_POOL = "kai.scheduler/node-pool"
_KAIS_LABELS = (KAI_QUEUE, NODE_POOL)
_TOPOLOGY = ("grove.io/topology-name", "kai.scheduler/topology")
_OURS = "trellis.dev/"


class KaiTopologyConstraint(Value, frozen=True, kw_only=True):
    """Levels are node labels of the Topology that is named."""

    topology: str = ""
    required_topology_level: str = ""
    preferred_topology_level: str = ""


class KaiSubGroup(Value, frozen=True, kw_only=True):
    """A leaf has pods, of which so many must start together; any other has groups below it."""

    name: str
    min_member: int | None = None
    min_sub_group: int | None = None
    parent: str = ""
    topology_constraint: KaiTopologyConstraint | None = None


class KaiPodGroupSpec(Value, frozen=True, kw_only=True):
    min_member: int = 0
    queue: str = ""
    priority_class_name: str = ""
    topology_constraint: KaiTopologyConstraint | None = None
    sub_groups: tuple[KaiSubGroup, ...] = ()


class KaiPodGroup(Object, frozen=True, kw_only=True):
    """A PodGroup of `scheduling.run.ai`."""

    resource: ClassVar = Resource("scheduling.run.ai", "v2alpha2", "PodGroup", "podgroups")

    spec: KaiPodGroupSpec = KaiPodGroupSpec()


class DefinedSchema(Value, frozen=True, kw_only=True):
    # A schema is as deep as it likes, and of all of it one name matters.
    open_api_v3_schema: msgspec.Raw = field(name="openAPIV3Schema", default=msgspec.Raw(b"{}"))

    def has(self, *path: str) -> bool:
        found: Any = msgspec.json.decode(self.open_api_v3_schema)
        for name in path:
            properties = found.get("properties") if isinstance(found, dict) else None
            found = properties.get(name) if isinstance(properties, dict) else None
        return found is not None


class DefinedVersion(Value, frozen=True, kw_only=True):
    name: str
    served: bool = False
    schema: DefinedSchema = DefinedSchema()


class DefinitionSpec(Value, frozen=True, kw_only=True):
    versions: tuple[DefinedVersion, ...] = ()


class PodGroupDefinition(Object, frozen=True, kw_only=True):
    """The CustomResourceDefinition of PodGroups, with as much of its schemas as says which KAI."""

    resource: ClassVar = Resource(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        namespaced=False,
    )

    spec: DefinitionSpec = DefinitionSpec()
    status: DefinitionStatus = DefinitionStatus()


def kai_here(definition: PodGroupDefinition | None) -> KaiHere:
    if definition is None or definition.metadata.deleting:
        return KaiHere()
    if not is_true(definition.status.conditions, "Established"):
        return KaiHere()
    version = KaiPodGroup.resource.version
    served = [one for one in definition.spec.versions if one.served and one.name == version]
    return KaiHere(
        serves_pod_groups=bool(served),
        knows_subgroups=any(one.schema.has("spec", "minSubGroup") for one in served),
    )


def pod_group(gang: PodGang, queue: str) -> KaiPodGroup:
    """The PodGroup of that gang, under the same name."""
    groups = gang.spec.podgroups
    return KaiPodGroup(
        metadata=Metadata(
            name=gang.metadata.name,
            namespace=gang.metadata.namespace,
            labels=gang.metadata.labels,
            annotations={
                key: value
                for key, value in gang.metadata.annotations.items()
                if not key.startswith(_OURS)
            },
            owner_references=(owner(gang),),
        ),
        spec=KaiPodGroupSpec(
            min_member=sum(group.min_replicas for group in groups),
            queue=queue,
            priority_class_name=gang.spec.priority_class_name,
            topology_constraint=_constraint(gang, gang.spec.topology_constraint),
            sub_groups=tuple(_sub_groups(gang)),
        ),
    )


_by_fields = by_fields("spec.subGroups", "spec.topologyConstraint")


def compare_pod_group(have: Object, want: Wanted) -> Json:
    """What KAI has made its own is not wanted otherwise."""
    if not (isinstance(have, KaiPodGroup) and isinstance(want, KaiPodGroup)):
        raise TypeError(f"{have.metadata.key} is compared as a PodGroup and is none")
    kept = {key: have.metadata.labels[key] for key in _KAIS_LABELS if key in have.metadata.labels}
    metadata = structs.replace(want.metadata, labels=want.metadata.labels | kept)
    spec = structs.replace(want.spec, queue=have.spec.queue or want.spec.queue)
    patch = _by_fields(have, structs.replace(want, metadata=metadata, spec=spec))
    if spec.topology_constraint is None and have.spec.topology_constraint is not None:
        # Without its fields it would still be there, and name no topology.
        patch["spec"] = {**patch.get("spec", {}), "topologyConstraint": None}
    return patch


def _sub_groups(gang: PodGang) -> Iterator[KaiSubGroup]:
    """Groups of groups first, as their children name them."""
    parents: dict[str, str] = {}
    for config in gang.spec.topology_constraint_group_configs:
        parents |= dict.fromkeys(config.pod_group_names, config.name)
        yield KaiSubGroup(
            name=config.name,
            min_sub_group=len(config.pod_group_names),
            topology_constraint=_constraint(gang, config.topology_constraint),
        )
    for group in gang.spec.podgroups:
        yield KaiSubGroup(
            name=group.name,
            min_member=group.min_replicas,
            parent=parents.get(group.name, ""),
            topology_constraint=_constraint(gang, group.topology_constraint),
        )


def _constraint(
    gang: PodGang, constraint: GangTopologyConstraint | None
) -> KaiTopologyConstraint | None:
    pack = constraint.pack_constraint if constraint else None
    if pack is None:
        return None
    annotations = gang.metadata.annotations
    return KaiTopologyConstraint(
        topology=next((annotations[key] for key in _TOPOLOGY if key in annotations), ""),
        required_topology_level=pack.required,
        preferred_topology_level=pack.preferred,
    )
