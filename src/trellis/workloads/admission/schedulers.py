# SPDX-License-Identifier: Apache-2.0
"""Whether one scheduler that we know can place all pods of a set, and has what it needs. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api import annotation, labels
from trellis.api.syntax import label_value_problem
from trellis.workloads.admission.problems import METADATA, Field, forbidden, invalid, required
from trellis.workloads.admission.topology import constraints

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trellis.workloads.admission.policy import Policy
    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Subject

KAI = "kai-scheduler"
VOLCANO = "volcano"
# Schedulers that cannot keep pods close together.
_WITHOUT_TOPOLOGY = (VOLCANO, "lpx-scheduler")


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue that is named somewhere."""

    field: Field
    name: str


def scheduler_problems(subject: Subject, policy: Policy) -> Iterator[Problem]:
    default = policy.schedulers.default_profile_name
    names = {
        clique.field / "spec" / "podSpec" / "schedulerName": clique.pod.scheduler_name or default
        for clique in subject.cliques
    }
    first = next(iter(names.values()), default)
    for field, name in names.items():
        if name != first:
            detail = f"the schedulerName for all pods have to be the same; others have {first!r}"
            yield invalid(field, name, detail)
        elif name not in policy.enabled_schedulers:
            detail = (
                "schedulerName must be an enabled scheduler backend; this scheduler is not enabled "
                f"in OperatorConfiguration, which has {', '.join(policy.enabled_schedulers)}"
            )
            yield invalid(field, name, detail)
    if first == KAI:
        yield from _queues(_kai_queues(subject), KAI)
        yield from _unfit_for_labels(_kai_queues(subject))
        if not any(queue.name for queue in _kai_queues(subject)):
            key = labels.KAI_QUEUE
            detail = f"KAI places pods of a queue only: label the set with {key}"
            yield required((METADATA / "labels").key(key), detail)
    if first == VOLCANO:
        yield from _queues(_volcano_queues(subject), VOLCANO)
    if first in _WITHOUT_TOPOLOGY:
        yield from _constraints(subject, first)


def _queues(found: list[Queue], scheduler: str) -> Iterator[Problem]:
    named = [queue for queue in found if queue.name]
    for queue in named[1:]:
        if queue.name != named[0].name:
            detail = (
                f"{scheduler} has one queue for a whole set, and {named[0].field.shown} says "
                f"{named[0].name[:63]!r}; name the same"
            )
            yield invalid(queue.field, queue.name, detail)


def _unfit_for_labels(found: list[Queue]) -> Iterator[Problem]:
    """Annotations may say anything, and KAI reads the queue of a gang from a label."""
    for queue in found:
        if problem := label_value_problem(queue.name):
            yield invalid(queue.field, queue.name, f"the name of a queue {problem}")


def _kai_queues(subject: Subject) -> list[Queue]:
    """The queues that are named, those of the set first; a label counts before an annotation."""
    found = [_labelled(subject.metadata.labels, subject.metadata.annotations, METADATA)]
    for clique in subject.cliques:
        template = clique.template
        found.append(_labelled(template.labels, template.annotations, clique.field))
    return found


def _labelled(marked: Mapping[str, str], noted: Mapping[str, str], field: Field) -> Queue:
    if name := marked.get(labels.KAI_QUEUE, ""):
        return Queue((field / "labels").key(labels.KAI_QUEUE), name)
    noted_as = (field / "annotations").key(annotation.KAI_QUEUE)
    return Queue(noted_as, noted.get(annotation.KAI_QUEUE, ""))


def _volcano_queues(subject: Subject) -> list[Queue]:
    key = annotation.VOLCANO_QUEUE
    noted = [(METADATA, subject.metadata.annotations)]
    noted += [(clique.field, clique.template.annotations) for clique in subject.cliques]
    return [Queue((field / "annotations").key(key), found.get(key, "")) for field, found in noted]


def _constraints(subject: Subject, scheduler: str) -> Iterator[Problem]:
    for constrained in constraints(subject):
        detail = (
            f"{scheduler} knows no topology constraints; use kai-scheduler or default-scheduler"
        )
        yield forbidden(constrained.field, detail)
