# SPDX-License-Identifier: Apache-2.0
"""What scaling one PodClique or scaling group would do to the set that it is a part of. Pure.

It is judged as the whole set is when it is written, with the number of that part alone changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trellis.api import namelimits
from trellis.workloads.admission.consumers import consumers_when_scaled
from trellis.workloads.admission.ledgers import ledger_when_scaled
from trellis.workloads.admission.names import outline
from trellis.workloads.admission.problems import SPEC, excessive
from trellis.workloads.admission.subject import Clique, Document, subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.workloads.admission.policy import Policy
    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Group, Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Where a PodClique or scaling group stands in its set. `clique` is empty for a group itself.

    `index` is that of its replica of the scaling group, if it is a clique of one.
    """

    set: PodCliqueSet
    replica: int
    group: str = ""
    index: int = 0
    clique: str = ""


def part_problems(part: Part, replicas: int, policy: Policy) -> Iterator[Problem]:
    """What would be wrong with so many replicas of it."""
    whole = subject(Document(metadata=part.set.metadata, spec=part.set.spec))
    found = _template(whole, part)
    if found is None:
        return
    for long in namelimits.too_long(_alone(outline(whole), part, replicas)):
        yield excessive(SPEC / "replicas", replicas, str(long), long.excess, of=long.what)
    yield from consumers_when_scaled(whole, found, replicas, policy.limits)
    if isinstance(found, Clique):
        place = (part.replica, part.index)
        yield from ledger_when_scaled(whole, found, place, replicas, policy)


def _template(whole: Subject, part: Part) -> Clique | Group | None:
    among = whole.cliques if part.clique else whole.groups
    name = part.clique or part.group
    return next((one for one in among if one.template.name == name), None)


def _alone(whole: namelimits.Outline, part: Part, replicas: int) -> namelimits.Outline:
    """The set with that part and nothing else: no other name depends on it."""
    alone = () if part.group else _scaled(whole.cliques, part.clique, replicas)
    groups = (one for one in whole.groups if one.name == part.group)
    return namelimits.Outline(
        name=whole.name,
        replicas=part.replica + 1,
        cliques=alone,
        groups=tuple(_group(one, part, replicas) for one in groups),
    )


def _group(group: namelimits.Group, part: Part, replicas: int) -> namelimits.Group:
    if not part.clique:
        return replace(group, replicas=replicas)
    members = _scaled(group.members, part.clique, replicas)
    return namelimits.Group(name=group.name, replicas=part.index + 1, members=members)


def _scaled(
    cliques: tuple[namelimits.Clique, ...], name: str, replicas: int
) -> tuple[namelimits.Clique, ...]:
    return tuple(replace(one, replicas=replicas) for one in cliques if one.name == name)
