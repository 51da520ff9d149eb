# SPDX-License-Identifier: Apache-2.0
"""What KAI wants of a set, its gangs and its pods: the scheduler, the queue, the marks. Pure.

How a gang is handed over is decided once, when it is made, and read from the gang ever after: its
pods carry the marks of that way for as long as they live.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from trellis.api import annotation, labels
from trellis.api.meta import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.grove.template import CliqueTemplate
    from trellis.api.scheduler.podgang import PodGang

KAI = "kai-scheduler"
YES = "true"


@dataclass(frozen=True, slots=True, kw_only=True)
class PodMarks:
    """Labels and annotations by which KAI knows a pod. They must be there when it is made."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The one queue of a set, or what is wrong with those that it names."""

    name: str = ""
    problem: str = ""


class _Scheduled(Value, frozen=True, kw_only=True):
    """What is read of a pod's spec."""

    scheduler_name: str = ""


_SCHEDULED = msgspec.json.Decoder(_Scheduled)


def scheduler_of(cliques: Iterable[CliqueTemplate], default: str) -> str:
    """The scheduler of a set, which all its pods share: the first that is named."""
    named = (_SCHEDULED.decode(clique.spec.pod_spec).scheduler_name for clique in cliques)
    return next(filter(None, named), default)


def is_for_kai(gang: PodGang) -> bool:
    return gang.metadata.labels.get(labels.SCHEDULER_NAME) == KAI


def is_handed_as_pod_group(gang: PodGang) -> bool:
    """Whether we write KAI's PodGroup for it ourselves, and KAI leaves the PodGang alone."""
    return gang.metadata.annotations.get(annotation.KAI_SKIP_POD_GROUPER) == YES


def pod_marks(gang: PodGang, clique: str) -> PodMarks:
    """What a pod of that PodClique must carry. None for the gangs of other schedulers."""
    if not is_for_kai(gang):
        return PodMarks()
    subgroup = {labels.KAI_SUBGROUP: clique}
    if not is_handed_as_pod_group(gang):
        return PodMarks(labels=subgroup)
    handed = {
        annotation.KAI_SKIP_POD_GROUPER: YES,
        annotation.KAI_POD_GROUP: gang.metadata.name,
    }
    return PodMarks(labels=subgroup, annotations=handed)


def queue_of(owner: PodCliqueSet) -> Queue:
    """The queue that the set names, else the one that its cliques name; they must not differ."""
    metadata = owner.metadata
    cliques = owner.spec.template.cliques
    named = [
        ("the set", _named(metadata.labels, metadata.annotations)),
        *((f"clique {each.name}", _named(each.labels, each.annotations)) for each in cliques),
    ]
    found = [(who, name) for who, name in named if name]
    if not found:
        return Queue(
            problem=f"KAI places pods of a queue only, and none is named: label the set with "
            f"{labels.KAI_QUEUE}"
        )
    first, name = found[0]
    for who, other in found[1:]:
        if other != name:
            return Queue(
                problem=f"KAI has one queue for a whole set, but {first} names {name!r} and {who} "
                f"names {other!r}: name the same queue in {labels.KAI_QUEUE}"
            )
    return Queue(name=name)


def _named(marked: Mapping[str, str], noted: Mapping[str, str]) -> str:
    return marked.get(labels.KAI_QUEUE) or noted.get(annotation.KAI_QUEUE, "")
