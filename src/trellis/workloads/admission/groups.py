# SPDX-License-Identifier: Apache-2.0
"""Whether the scaling groups of a set make sense: names, members, counts, autoscaling. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.syntax import dns_label_problem
from trellis.workloads.admission.cliques import (
    annotation_problems,
    autoscaling_problems,
    minimum_problems,
)
from trellis.workloads.admission.problems import duplicates, invalid, required, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.workloads.admission.problems import Field, Problem
    from trellis.workloads.admission.subject import Group, Subject


def group_problems(subject: Subject) -> Iterator[Problem]:
    cliques = {one.template.name for one in subject.cliques}
    members: list[tuple[Field, str]] = []
    for group in subject.groups:
        yield from _group(group)
        names = group.field / "cliqueNames"
        for index, name in enumerate(group.template.clique_names):
            # By its place too: a name that is there twice in one group is no member twice.
            field = names.item(index, f"{name}#{index}")
            members.append((field, name))
            if name not in cliques:
                detail = "unidentified PodClique names found; name cliques of this set"
                yield unknown(field, name, detail)
    yield from duplicates(members, "a clique is in one scaling group at most")
    found = [(group.field / "name", group.template.name) for group in subject.groups]
    yield from duplicates(found, "rename one")


def _group(group: Group) -> Iterator[Problem]:
    template, field = group.template, group.field
    if problem := dns_label_problem(template.name):
        yield invalid(field / "name", template.name, f"the name of a scaling group {problem}")
    if not template.clique_names:
        yield required(field / "cliqueNames", "name the cliques that are scaled together")
    yield from annotation_problems(template.annotations, field / "annotations")
    yield from minimum_problems(template.replicas, template.min_available, field)
    if template.scale_config is not None:
        yield from autoscaling_problems(
            template.scale_config, template.min_available, field / "scaleConfig"
        )
