# SPDX-License-Identifier: Apache-2.0
"""What scaling one PodClique or scaling group would do to the set that it is a part of. Pure.

It is judged as the whole set is when it is written, with the number of that part alone changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from msgspec import structs

from trellis.api import namelimits
from trellis.workloads.admission.claimnames import claim_name_problems
from trellis.workloads.admission.consumers import consumers_when_scaled
from trellis.workloads.admission.ledgers import ledger_when_scaled
from trellis.workloads.admission.limits import pods_in, pods_of, too_many_pods
from trellis.workloads.admission.names import outline
from trellis.workloads.admission.problems import SPEC, excessive
from trellis.workloads.admission.standing import Standing
from trellis.workloads.admission.subject import Clique, Document, subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.workloads.admission.policy import Policy
    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Group, Subject

_REPLICAS = SPEC / "replicas"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Where a PodClique or scaling group stands in its set. `clique` is empty for a group itself.

    `index` is that of its replica of the scaling group, if it is a clique of one. `others`: how the
    rest of the set is scaled.
    """

    set: PodCliqueSet
    replica: int
    group: str = ""
    index: int = 0
    clique: str = ""
    others: Standing = field(default_factory=Standing)


def part_problems(part: Part, replicas: int, policy: Policy) -> Iterator[Problem]:
    """What would be wrong with so many replicas of it."""
    whole = subject(Document(metadata=part.set.metadata, spec=part.set.spec))
    found = _template(whole, part)
    if found is None:
        return
    for long in namelimits.too_long(_alone(outline(whole), part, replicas)):
        yield excessive(_REPLICAS, replicas, str(long), long.excess, of=long.what)
    yield from _doubled(_as_scaled(whole, part, replicas), part, replicas)
    pods = pods_of(whole) + part.others.more_pods + _more_pods(found, replicas)
    yield from too_many_pods(replicas, pods, policy.limits)
    yield from consumers_when_scaled(whole, found, replicas, policy.limits)
    if isinstance(found, Clique):
        place = (part.replica, part.index)
        yield from ledger_when_scaled(whole, found, place, replicas, policy)


def _doubled(scaled: Subject, part: Part, replicas: int) -> Iterator[Problem]:
    """Names that two would have. More of them are no worse than one: it is the same name."""
    for clash in namelimits.clashes(outline(scaled), part.replica):
        yield excessive(_REPLICAS, replicas, str(clash), 0, of=clash.name)
    for problem in claim_name_problems(scaled):
        said = f"{problem.field.shown} of the PodCliqueSet: {problem.message}"
        of = f"{problem.field.identity} {problem.about}"
        yield excessive(_REPLICAS, replicas, said, 0, of=of)


def _more_pods(found: Clique | Group, replicas: int) -> int:
    """By how many pods more, or fewer, than its template says."""
    if isinstance(found, Clique):
        return replicas - pods_in(found)
    return (replicas - found.template.replicas) * sum(map(pods_in, found.members))


def _as_scaled(whole: Subject, part: Part, replicas: int) -> Subject:
    """The set as its replica with that part would be: other groups as they are scaled now."""
    counts = {**part.others.groups, **({} if part.clique else {part.group: replicas})}
    groups = (
        replace(
            group,
            template=structs.replace(
                group.template, replicas=counts.get(group.template.name, group.template.replicas)
            ),
            members=tuple(_resized(one, part, replicas) for one in group.members),
        )
        for group in whole.groups
    )
    cliques = tuple(_resized(one, part, replicas) for one in whole.cliques)
    return replace(whole, groups=tuple(groups), cliques=cliques)


def _resized(clique: Clique, part: Part, replicas: int) -> Clique:
    template = clique.template
    if template.name != part.clique:
        return clique
    spec = structs.replace(template.spec, replicas=replicas)
    return replace(clique, template=structs.replace(template, spec=spec))


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
