# SPDX-License-Identifier: Apache-2.0
"""Whether all that is made for a set can have its names: legal, short enough, and only once.

Each name is worked out at its largest index alone, so that any number may be written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api import namelimits
from trellis.api.grove.resourcesharing import PER_REPLICA
from trellis.api.syntax import dns_label_problem
from trellis.workloads.admission.problems import CLIQUES, METADATA, excessive, invalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trellis.api.grove.autoscaling import AutoScalingConfig
    from trellis.api.grove.resourcesharing import ResourceSharing
    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Clique, Subject


def name_problems(subject: Subject) -> Iterator[Problem]:
    name, field = subject.metadata.name, METADATA / "name"
    if problem := dns_label_problem(name):
        yield invalid(field, name, f"the name of a PodCliqueSet {problem}")
        return
    if any(map(dns_label_problem, _parts(subject))):
        # Said elsewhere; and nothing is built from names that cannot be.
        return
    whole = outline(subject)
    for long in namelimits.too_long(whole):
        yield excessive(field, name, str(long), long.excess, of=long.what)
    for clash in namelimits.clashes(whole):
        yield invalid(CLIQUES, clash.name, str(clash))
    yield from _autoscalers(subject)


def outline(subject: Subject) -> namelimits.Outline:
    """All that names depend on, at the largest numbers that this set may come to."""
    template = subject.spec.template
    return namelimits.Outline(
        name=subject.metadata.name,
        replicas=subject.spec.replicas,
        cliques=tuple(_clique(one) for one in subject.cliques if one.group is None),
        groups=tuple(
            namelimits.Group(
                name=group.template.name,
                replicas=_most(group.template.replicas, group.template.scale_config),
                members=tuple(_clique(member) for member in group.members),
                claims=_claims(group.template.resource_sharing),
            )
            for group in subject.groups
        ),
        claims=_claims(template.resource_sharing),
    )


def _clique(clique: Clique) -> namelimits.Clique:
    spec = clique.template.spec
    return namelimits.Clique(
        name=clique.template.name,
        replicas=_most(spec.replicas, spec.auto_scaling_config),
        claims=_claims(clique.template.resource_sharing),
    )


def _claims(shared: Sequence[ResourceSharing]) -> tuple[namelimits.Claim, ...]:
    return tuple(
        namelimits.Claim(template=one.name, per_replica=one.scope == PER_REPLICA) for one in shared
    )


def _most(replicas: int, scaling: AutoScalingConfig | None) -> int:
    return max(replicas, scaling.max_replicas if scaling else 0)


def _autoscalers(subject: Subject) -> Iterator[Problem]:
    """An autoscaler is called what it scales: a clique and a group of one name would share one."""
    groups = {one.template.name for one in subject.groups if one.template.scale_config}
    for clique in subject.cliques:
        name = clique.template.name
        if clique.group is None and clique.template.spec.auto_scaling_config and name in groups:
            detail = (
                "its autoscaler and that of the scaling group of this name would be one; rename"
            )
            yield invalid(clique.field / "name", name, detail)


def _parts(subject: Subject) -> Iterator[str]:
    """Every name that others are made of, but for those of claims, which may have dots."""
    for part in subject.parts:
        yield part.template.name
