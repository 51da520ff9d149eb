# SPDX-License-Identifier: Apache-2.0
"""How much one set may ask for. Sums and products of integers: no list is ever made of a count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.workloads.admission.problems import CLIQUES, GROUPS, SPEC, Field, excessive, invalid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.config.types import Limits
    from trellis.api.grove.autoscaling import AutoScalingConfig
    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Clique, Subject

WHERE = "of the operator's configuration"


def limit_problems(subject: Subject, limits: Limits) -> Iterator[Problem]:
    replicas = subject.spec.replicas
    yield from too_many(SPEC / "replicas", replicas, limits.set_replicas, "setReplicas")
    if replicas < 0:
        yield invalid(SPEC / "replicas", replicas, "must be greater than or equal to 0")
    yield from too_many(CLIQUES, len(subject.cliques), limits.cliques, "cliques")
    yield from too_many(GROUPS, len(subject.groups), limits.scaling_groups, "scalingGroups")
    for clique in subject.cliques:
        spec, field = clique.template.spec, clique.field / "spec"
        most, key = limits.clique_replicas, "cliqueReplicas"
        yield from too_many(field / "replicas", spec.replicas, most, key)
        scaling = spec.auto_scaling_config
        yield from _most(scaling, field / "autoScalingConfig", most, key)
    for group in subject.groups:
        most, key = limits.group_replicas, "groupReplicas"
        yield from too_many(group.field / "replicas", group.template.replicas, most, key)
        yield from _most(group.template.scale_config, group.field / "scaleConfig", most, key)
    yield from too_many_pods(replicas, pods_of(subject), limits)


def too_many_pods(replicas: int, pods: int, limits: Limits) -> Iterator[Problem]:
    """`replicas`: the number to which so many pods of a whole set are due."""
    if pods > limits.pods_per_set:
        detail = (
            f"replicas lead to {pods} pods, and {limits.pods_per_set} are allowed for one "
            f"PodCliqueSet (trellis.limits.podsPerSet {WHERE}); use fewer replicas or more sets"
        )
        yield excessive(SPEC / "replicas", replicas, detail, pods, of="pods")


def pods_of(subject: Subject) -> int:
    """How many pods there are in all, before anything is scaled."""
    alone = sum(pods_in(one) for one in subject.cliques if one.group is None)
    grouped = sum(
        max(group.template.replicas, 0) * sum(pods_in(member) for member in group.members)
        for group in subject.groups
    )
    return max(subject.spec.replicas, 0) * (alone + grouped)


def too_many(field: Field, count: int, most: int, key: str) -> Iterator[Problem]:
    if count > most:
        detail = f"{most} are allowed at most (trellis.limits.{key} {WHERE})"
        yield excessive(field, count, detail, count)


def _most(
    scaling: AutoScalingConfig | None, field: Field, most: int, key: str
) -> Iterator[Problem]:
    if scaling is not None:
        yield from too_many(field / "maxReplicas", scaling.max_replicas, most, key)


def pods_in(clique: Clique) -> int:
    """How many pods each of its PodCliques has, before anything is scaled."""
    return max(clique.template.spec.replicas, 0)
