# SPDX-License-Identifier: Apache-2.0
"""How many pods use one shared claim. Sums and products of integers: no list is made of a count.

A claim is reserved for so many pods and no more: those beyond would wait for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from trellis.api.grove.resourcesharing import PER_REPLICA, ResourceSharing
from trellis.workloads.admission.limits import WHERE, pods_in
from trellis.workloads.admission.problems import SPEC, TEMPLATE, excessive
from trellis.workloads.admission.subject import Clique

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trellis.api.config.types import Limits
    from trellis.api.grove.resourcesharing import GroupFilter, SetFilter
    from trellis.workloads.admission.problems import Field, Problem
    from trellis.workloads.admission.subject import Group, Subject

T = TypeVar("T", bound=ResourceSharing)

_REPLICAS = SPEC / "replicas"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """One claim, or one of several alike. `spans`: all replicas of a scaling group use it."""

    field: Field
    name: str
    pods: int
    cliques: frozenset[str]
    spans: bool = False


def consumer_problems(subject: Subject, limits: Limits) -> Iterator[Problem]:
    for claim in _claims(subject):
        if claim.pods > limits.claim_consumers:
            yield excessive(claim.field, claim.name, _said(claim.pods, limits), claim.pods)


def consumers_when_scaled(
    subject: Subject, part: Clique | Group, replicas: int, limits: Limits
) -> Iterator[Problem]:
    """The same where one PodClique or scaling group of the set is scaled, and others are not.

    What the template itself leads to was judged with the set.
    """
    for claim in _claims(subject):
        pods = claim.pods + _more(claim, part, replicas)
        if pods != claim.pods and pods > limits.claim_consumers:
            detail = f"{claim.field.shown} of the PodCliqueSet: {_said(pods, limits)}"
            yield excessive(_REPLICAS, replicas, detail, pods, of=claim.field.identity)


def _more(claim: _Claim, part: Clique | Group, replicas: int) -> int:
    """By how many pods more, or fewer, it is used than the template says."""
    if isinstance(part, Clique):
        used = part.template.name in claim.cliques
        return replicas - pods_in(part) if used else 0
    if not claim.spans:
        return 0
    return (replicas - max(part.template.replicas, 0)) * _used_by(claim.cliques, part.members)


def _said(pods: int, limits: Limits) -> str:
    return (
        f"{pods} pods would use one ResourceClaim, and {limits.claim_consumers} may "
        f"(trellis.limits.claimConsumers {WHERE}); share it among fewer: by scope {PER_REPLICA}, "
        "by a filter, or by fewer replicas"
    )


def _claims(subject: Subject) -> Iterator[_Claim]:
    yield from _of_set(subject)
    for group in subject.groups:
        yield from _of_group(group)
    for clique in subject.cliques:
        for field, one in _listed(clique.template.resource_sharing, clique.field):
            # Each pod has its own of what is there for each replica of a clique.
            if one.scope != PER_REPLICA:
                using = frozenset((clique.template.name,))
                pods = pods_in(clique)
                yield _Claim(field=field, name=one.name, pods=pods, cliques=using)


def _of_set(subject: Subject) -> Iterator[_Claim]:
    for field, one in _listed(subject.spec.template.resource_sharing, TEMPLATE):
        using = frozenset(_chosen(subject, one.filter))
        pods = _used_by(using, (clique for clique in subject.cliques if clique.group is None))
        pods += sum(
            max(group.template.replicas, 0) * _used_by(using, group.members)
            for group in subject.groups
        )
        times = 1 if one.scope == PER_REPLICA else max(subject.spec.replicas, 0)
        yield _Claim(field=field, name=one.name, pods=times * pods, cliques=using, spans=True)


def _of_group(group: Group) -> Iterator[_Claim]:
    for field, one in _listed(group.template.resource_sharing, group.field):
        using = frozenset(_members(group, one.filter))
        alone = one.scope == PER_REPLICA
        times = 1 if alone else max(group.template.replicas, 0)
        pods = times * _used_by(using, group.members)
        yield _Claim(field=field, name=one.name, pods=pods, cliques=using, spans=not alone)


def _listed(shared: Sequence[T], parent: Field) -> Iterator[tuple[Field, T]]:
    field = parent / "resourceSharing"
    for index, one in enumerate(shared):
        yield field.item(index, one.name), one


def _chosen(subject: Subject, chosen: SetFilter | None) -> Iterator[str]:
    """The cliques whose pods get a claim of the set."""
    for clique in subject.cliques:
        name = clique.template.name
        if (
            chosen is None
            or name in chosen.child_clique_names
            or clique.group in chosen.child_scaling_group_names
        ):
            yield name


def _members(group: Group, chosen: GroupFilter | None) -> Iterator[str]:
    for member in group.members:
        if chosen is None or member.template.name in chosen.child_clique_names:
            yield member.template.name


def _used_by(using: frozenset[str], cliques: Iterable[Clique]) -> int:
    return sum(pods_in(clique) for clique in cliques if clique.template.name in using)
