# SPDX-License-Identifier: Apache-2.0
"""What is let in, and is likely not what its writer thinks. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api import annotation, labels
from trellis.api.grove.template import EXPLICIT
from trellis.workloads.admission.subject import Clique
from trellis.workloads.admission.topology import coarser_preferences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.workloads.admission.subject import Subject

# The API server passes on 4 KiB of warnings in all, and drops the rest without a word.
MOST = 10
_OPERATORS_OWN = "GROVE_"
# What cliques may say, and what they are warned of in other words.
_TOLD_OF_CLIQUES = annotation.RESERVED | {annotation.AFTER_DEPARTURE}
# Where those of our annotations belong that users write.
_REMEDIES = {
    annotation.SETTLE_TIME: "set it on the PodCliqueSet, in metadata.annotations",
    annotation.AFTER_DEPARTURE: "set it on the cliques of the group",
}


def warnings(new: Subject, old: Subject | None) -> tuple[str, ...]:
    changes = _rescaled(new, old) if old else _named(new)
    found = [*_notes(new), *coarser_preferences(new), *changes]
    told = [one for one in dict.fromkeys(found)]
    if len(told) <= MOST:
        return tuple(told)
    return (*told[:MOST], f"and {len(told) - MOST} more warnings")


def _notes(subject: Subject) -> Iterator[str]:
    explicit = subject.spec.template.clique_startup_type == EXPLICIT
    for clique in subject.cliques:
        if clique.template.spec.starts_after and not explicit:
            place = clique.field / "spec" / "startsAfter"
            yield f"{place.shown}: has no effect without cliqueStartupType {EXPLICIT}"
        if clique.template.rolling_update and clique.group is not None:
            place = clique.field / "rollingUpdate"
            yield f"{place.shown}: has no effect in scaling group {clique.group!r}; set it there"
        yield from _replaced(clique)
        yield from _reserved(clique)
    yield from _elsewhere(subject)


def _replaced(clique: Clique) -> Iterator[str]:
    """What pods get from us instead."""
    field = clique.field / "spec" / "podSpec"
    for name, value in (("hostname", clique.pod.hostname), ("subdomain", clique.pod.subdomain)):
        if value:
            yield f"{(field / name).shown}: pods get names of their own from the operator"
    containers = (*clique.pod.containers, *clique.pod.init_containers)
    for name in (variable.name for one in containers for variable in one.env):
        if name.startswith(_OPERATORS_OWN):
            yield f"{field.shown}: {name[:63]} is for the operator to set, which may replace it"


def _reserved(clique: Clique) -> Iterator[str]:
    """Keys that say where PodCliques and pods stand."""
    template, field = clique.template, clique.field
    keys = [(field / "labels").key(key) for key in template.labels if key in labels.RESERVED]
    notes = (key for key in template.annotations if key in annotation.RESERVED)
    keys += [(field / "annotations").key(key) for key in notes]
    for place in keys:
        yield f"{place.shown}: has no effect: the operator sets this key itself; remove it"


def _elsewhere(subject: Subject) -> Iterator[str]:
    """Keys of ours that nobody reads where they are, and that reach no pod."""
    for part in subject.parts:
        told = _TOLD_OF_CLIQUES if isinstance(part, Clique) else frozenset[str]()
        for key in part.template.annotations:
            if annotation.is_ours(key) and key not in told:
                place = (part.field / "annotations").key(key)
                yield f"{place.shown}: has no effect here; {_REMEDIES.get(key, 'remove it')}"


def _named(subject: Subject) -> Iterator[str]:
    name = subject.metadata.name
    if name[:1].isdecimal():
        yield (
            f"metadata.name: {name[:63]!r} begins with a digit: older releases of Kubernetes "
            "refuse its Services; choose a name that begins with a letter"
        )


def _rescaled(new: Subject, old: Subject) -> Iterator[str]:
    before = {one.template.name: one.template.spec.replicas for one in old.cliques}
    for clique in new.cliques:
        name, replicas = clique.template.name, clique.template.spec.replicas
        if before.get(name, replicas) != replicas:
            place = clique.field / "spec" / "replicas"
            yield f"{place.shown}: PodCliques that exist keep their number; scale them themselves"
    groups = {one.template.name: one.template.replicas for one in old.groups}
    for group in new.groups:
        name, replicas = group.template.name, group.template.replicas
        if groups.get(name, replicas) != replicas:
            place = group.field / "replicas"
            yield (
                f"{place.shown}: PodCliqueScalingGroups that exist keep their number; "
                "scale them themselves"
            )
