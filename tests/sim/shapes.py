# SPDX-License-Identifier: Apache-2.0
"""The sets that stories are about: small, and between them every sort of child there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from trellis.api.grove.template import EXPLICIT, IN_ORDER

if TYPE_CHECKING:
    from collections.abc import Iterator

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """A set before it is named: its cliques, its groups and what else its template says."""

    cliques: tuple[Body, ...]
    groups: tuple[Body, ...] = ()
    template: tuple[tuple[str, Any], ...] = ()
    startup: str = ""

    def body(self, name: str, replicas: int) -> Body:
        more: dict[str, Any] = {"startup": self.startup} if self.startup else {}
        made = a_set_body(
            name,
            *self.cliques,
            groups=self.groups,
            replicas=replicas,
            **more,
            **dict(self.template),
        )
        del made["metadata"]["namespace"]
        return made

    def alone(self) -> list[str]:
        """The cliques in no group."""
        grouped = [name for group in self.groups for name in group["cliqueNames"]]
        return [one["name"] for one in self.cliques if one["name"] not in grouped]

    def clique_names(self, name: str, replica: int) -> Iterator[str]:
        """The full names of the PodCliques of a replica, as they are at first."""
        for clique in self.alone():
            yield f"{name}-{replica}-{clique}"
        for group in self.groups:
            for number in range(group["replicas"]):
                for clique in group["cliqueNames"]:
                    yield f"{name}-{replica}-{group['name']}-{number}-{clique}"

    def group_names(self, name: str, replica: int) -> Iterator[str]:
        for group in self.groups:
            yield f"{name}-{replica}-{group['name']}"


_QUICK = (("terminationDelay", "10s"),)
_SCALING = {"minReplicas": 1, "maxReplicas": 3}

SHAPES: dict[str, Shape] = {
    "single": Shape((a_clique("worker", 2),)),
    "slack": Shape((a_clique("worker", 3, 1),)),
    "pair": Shape((a_clique("worker", 1), a_clique("gpu-worker", 2, 1))),
    "ordered": Shape((a_clique("leader", 1), a_clique("worker", 2)), startup=IN_ORDER),
    "explicit": Shape(
        (a_clique("a", 1), a_clique("b", 1, startsAfter=["a"]), a_clique("c", 1)),
        startup=EXPLICIT,
    ),
    "grouped": Shape(
        (a_clique("router", 1), a_clique("leader", 1), a_clique("worker", 2)),
        groups=(a_group("decode", "leader", "worker", replicas=2),),
    ),
    "wide": Shape(
        (a_clique("leader", 1), a_clique("worker", 1)),
        groups=(a_group("prefill", "leader", "worker", replicas=3, least=2),),
    ),
    "impatient": Shape((a_clique("worker", 2, 2),), template=_QUICK),
    "impatient-groups": Shape(
        (a_clique("leader", 1), a_clique("worker", 1)),
        groups=(a_group("decode", "leader", "worker", replicas=2),),
        template=_QUICK,
    ),
    "autoscaled": Shape((a_clique("worker", 1, 1, autoScalingConfig=_SCALING),)),
}
