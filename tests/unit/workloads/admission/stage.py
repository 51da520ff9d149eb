# SPDX-License-Identifier: Apache-2.0
"""A set of which the first replicas have been made, for those who scale its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import structs

from tests.unit.workloads.admission.builders import a_review
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.kube.events import Snapshot
from trellis.workloads.admission.policy import Policy
from trellis.workloads.admission.scaling import scaling
from trellis.workloads.admission.view import stored
from trellis.workloads.caches import Caches
from trellis.workloads.members import clique
from trellis.workloads.outline import Outline
from trellis.workloads.podcliqueset.desired import scaling_group

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.webhooks.verdict import Verdict

T = TypeVar("T", PodClique, PodCliqueScalingGroup)


class Stage:
    """`scaled`: to how many replicas parts have been scaled already, by their full names."""

    def __init__(
        self,
        found: PodCliqueSet,
        policy: Policy | None = None,
        scaled: Mapping[str, int] | None = None,
    ) -> None:
        outline, caches = Outline(found), Caches()
        counts = scaled or {}
        groups: list[PodCliqueScalingGroup] = []
        cliques: list[PodClique] = []
        for replica in range(found.spec.replicas):
            cliques += [
                _stored(clique(outline, one, found, None), counts) for one in outline.alone(replica)
            ]
            for template in outline.groups.values():
                group = _stored(scaling_group(outline, replica, template, None), counts)
                groups.append(group)
                for index in range(template.replicas):
                    members = outline.grouped(replica, template, index)
                    made = (clique(outline, one, group, None) for one in members)
                    cliques += [_stored(one, counts) for one in made]
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


def _stored(made: T, counts: Mapping[str, int]) -> T:
    name = made.metadata.name
    metadata = structs.replace(made.metadata, uid=f"uid-{name}")
    spec = structs.replace(made.spec, replicas=counts.get(name, made.spec.replicas))
    return structs.replace(made, metadata=metadata, spec=spec)
