# SPDX-License-Identifier: Apache-2.0
"""Whether the cliques of a set make sense: names, roles, labels, counts, autoscaling. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.syntax import dns_label_problem, label_key_problem, label_value_problem
from trellis.workloads.admission.problems import (
    CLIQUES,
    Field,
    duplicates,
    excessive,
    invalid,
    required,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from trellis.api.grove.autoscaling import AutoScalingConfig
    from trellis.api.grove.podclique import PodCliqueSpec
    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Clique, Subject

# What the API server lets an object have in annotations, keys and values together, less room for
# marks of ours.
ANNOTATIONS_LIMIT = (256 << 10) - (4 << 10)
# What a key takes in the note of what came from the template, besides itself.
_NOTED = 4
_POSITIVE = "must be greater than 0"


def clique_problems(subject: Subject) -> Iterator[Problem]:
    if not subject.cliques:
        yield required(CLIQUES, "at least one PodClique must be defined")
    for clique in subject.cliques:
        template, field = clique.template, clique.field
        yield from _identity(clique)
        yield from _labels(template.labels, field / "labels")
        yield from annotation_problems(
            template.annotations, field / "annotations", labels=template.labels
        )
        yield from _counts(template.spec, field / "spec")
        yield from _autoscaling(clique)
    names = [(one.field / "name", one.template.name) for one in subject.cliques]
    yield from duplicates(names, "rename one")
    roles = [
        (one.field / "spec" / "roleName", one.template.spec.role_name) for one in subject.cliques
    ]
    yield from duplicates(roles, "give each clique a role of its own")


def annotation_problems(
    annotations: Mapping[str, str], field: Field, labels: Iterable[str] = ()
) -> Iterator[Problem]:
    """`labels` are the keys of those that are noted with them."""
    for key in annotations:
        # Prefixes of annotations may be in upper case, which those of labels may not.
        if problem := label_key_problem(key.lower()):
            yield invalid(field.key(key), key, f"the key {problem}")
    total = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    total += sum(len(key.encode()) + _NOTED for key in (*annotations, *labels))
    if total > ANNOTATIONS_LIMIT:
        detail = (
            f"annotations hold {total} bytes with the note of what came from here, and "
            f"{ANNOTATIONS_LIMIT} are allowed"
        )
        yield excessive(field, total, f"{detail}; move data into a ConfigMap", total)


def autoscaling_problems(
    scaling: AutoScalingConfig, min_available: int | None, field: Field
) -> Iterator[Problem]:
    """What holds for cliques and for groups."""
    least = scaling.min_replicas
    if least is None:
        yield required(field / "minReplicas", "field is required; write at least minAvailable")
        return
    if min_available is not None and least < min_available:
        detail = f"must be greater than or equal to minAvailable, {min_available}"
        yield invalid(field / "minReplicas", least, detail)
    if scaling.max_replicas < least:
        detail = f"must be greater than or equal to minReplicas, {least}"
        yield invalid(field / "maxReplicas", scaling.max_replicas, detail)


def minimum_problems(replicas: int, min_available: int, field: Field) -> Iterator[Problem]:
    """What holds for the counts of cliques and of groups. `field` is where both are."""
    if replicas <= 0:
        yield invalid(field / "replicas", replicas, _POSITIVE)
    if min_available <= 0:
        yield invalid(field / "minAvailable", min_available, _POSITIVE)
    elif min_available > max(replicas, 0):
        detail = f"minAvailable must not be greater than replicas, {replicas}; lower it to that"
        yield invalid(field / "minAvailable", min_available, detail)


def _identity(clique: Clique) -> Iterator[Problem]:
    name = clique.template.name
    if not name:
        yield required(clique.field / "name", "field cannot be empty")
    elif problem := dns_label_problem(name):
        yield invalid(clique.field / "name", name, f"the name of a clique {problem}")


def _labels(labels: Mapping[str, str], field: Field) -> Iterator[Problem]:
    for key, value in labels.items():
        if problem := label_key_problem(key):
            yield invalid(field.key(key), key, f"the key {problem}")
        if problem := label_value_problem(value):
            yield invalid(field.key(key), value, f"the value {problem}")


def _counts(spec: PodCliqueSpec, field: Field) -> Iterator[Problem]:
    if spec.min_available is None:
        yield required(field / "minAvailable", "field is required; write how many must start")
        if spec.replicas <= 0:
            yield invalid(field / "replicas", spec.replicas, _POSITIVE)
        return
    yield from minimum_problems(spec.replicas, spec.min_available, field)


def _autoscaling(clique: Clique) -> Iterator[Problem]:
    spec = clique.template.spec
    scaling = spec.auto_scaling_config
    if scaling is None:
        return
    field = clique.field / "spec" / "autoScalingConfig"
    if clique.group is not None:
        detail = (
            "AutoScalingConfig is not allowed to be defined for PodClique that is part of "
            f"scaling group {clique.group!r}; use scaleConfig of the group"
        )
        yield invalid(field, clique.template.name, detail)
        return
    yield from autoscaling_problems(scaling, spec.min_available, field)
    if scaling.max_replicas < spec.replicas:
        detail = f"must be greater than or equal to replicas, {spec.replicas}"
        yield invalid(field / "maxReplicas", scaling.max_replicas, detail)
