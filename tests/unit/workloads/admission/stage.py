# SPDX-License-Identifier: Apache-2.0
"""A set of which the first replica has been made, for those who scale its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import structs

from tests.unit.workloads.admission.builders import a_review
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.meta import Object
from trellis.kube.events import Snapshot
from trellis.workloads.admission.policy import Policy
from trellis.workloads.admission.scaling import scaling
from trellis.workloads.admission.view import stored
from trellis.workloads.caches import Caches
from trellis.workloads.members import clique
from trellis.workloads.outline import Outline
from trellis.workloads.podcliqueset.desired import scaling_group

if TYPE_CHECKING:
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.webhooks.verdict import Verdict

T = TypeVar("T", bound=Object)


class Stage:
    def __init__(self, found: PodCliqueSet, policy: Policy | None = None) -> None:
        outline, caches = Outline(found), Caches()
        groups: list[PodCliqueScalingGroup] = []
        cliques = [_stored(clique(outline, one, found, None)) for one in outline.alone(0)]
        for template in outline.groups.values():
            group = _stored(scaling_group(outline, 0, template, None))
            groups.append(group)
            for index in range(template.replicas):
                members = outline.grouped(0, template, index)
                cliques += [_stored(clique(outline, one, group, None)) for one in members]
        caches.sets.replace(Snapshot([found], "9"))
        caches.groups.replace(Snapshot(groups, "9"))
        caches.cliques.replace(Snapshot(cliques, "9"))
        self.handle = scaling(policy or Policy(), stored(caches))
        self.groups = {one.metadata.name for one in groups}

    def scale(self, name: str, replicas: int, old: int = 1, subresource: str = "scale") -> Verdict:
        """What is said to so many replicas of the part of that name."""
        kind = PodCliqueScalingGroup if name in self.groups else PodClique
        new, before = _scale(name, replicas), _scale(name, old)
        return self.handle(
            a_review("UPDATE", new, before, resource=kind.resource, subResource=subresource)
        )


def _scale(name: str, replicas: int) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"replicas": replicas}}


def _stored(made: T) -> T:
    metadata = structs.replace(made.metadata, uid=f"uid-{made.metadata.name}")
    return structs.replace(made, metadata=metadata)
