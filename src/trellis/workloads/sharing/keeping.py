# SPDX-License-Identifier: Apache-2.0
"""Making the claims of an owner as they are to be, and hearing of templates that appear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.labels import COMPONENT, Component
from trellis.api.meta import Key
from trellis.runtime.controller import Wakes
from trellis.runtime.converge import Children
from trellis.runtime.index import Index
from trellis.workloads.sharing.claims import Known
from trellis.workloads.sharing.pods import claims_from_above
from trellis.workloads.sharing.templates import templates_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from trellis.api.core.resourceclaim import ResourceClaimTemplate
    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.meta import Object
    from trellis.runtime.converged import Converged
    from trellis.runtime.difference import Json
    from trellis.runtime.io import IO
    from trellis.runtime.plan import Wanted
    from trellis.workloads.caches import Caches
    from trellis.workloads.outline import Member, Outline
    from trellis.workloads.sharing.claims import Claims


def _templates(found: PodCliqueSet) -> Iterator[str]:
    return (str(key) for key in templates_of(found))


_BY_TEMPLATE: Index[PodCliqueSet] = Index("claim template", _templates)


def known(caches: Caches, owner: Object) -> Known:
    """What is to be looked at to tell the claims of that owner."""
    return Known(claims=caches.claims.owned(owner.metadata.uid), find=caches.claim_templates.get)


def not_ours(caches: Caches, outline: Outline, member: Member, clique: PodClique) -> Iterator[str]:
    """The claims that its pods share with those of others, and that the set or its scaling group
    has yet to make: somebody else's may have the name, and no pod is to use that."""
    of_set, of_group = claims_from_above(outline, member)
    above, namespace = clique.metadata.controller, clique.metadata.namespace
    owners = ((of_set, outline.set.metadata.uid), (of_group, above.uid if above else ""))
    for names, uid in owners:
        for name in names:
            found = caches.claims.get(Key(namespace, name))
            by = found.metadata.controller if found and not found.metadata.deleting else None
            if by is None or by.uid != uid:
                yield name


async def keep_claims(
    io: IO, caches: Caches, owner: Object, claims: Claims, part: str = ""
) -> Converged:
    """Makes what is missing, and deletes what is of an index that is no more."""
    wanted = {one.metadata.name for one in claims.want}
    # Claims of other kinds that the same owner has are somebody else's to keep.
    have = [
        found
        for found in caches.claims.owned(owner.metadata.uid)
        if found.metadata.name in wanted
        or found.metadata.labels.get(COMPONENT) == Component.RESOURCE_CLAIM.value
    ]
    children = Children(cache=caches.claims, compare=_compare, part=part)
    return await io.converge(owner, children, have, claims.want)


def woken_by_templates(
    caches: Caches, keys: Callable[[PodCliqueSet], Iterable[Key]]
) -> Wakes[ResourceClaimTemplate]:
    """Wakes those keys of every set that makes claims from a template that appears or changes."""
    caches.sets.add_index(_BY_TEMPLATE)

    def woken(template: ResourceClaimTemplate) -> Iterator[Key]:
        for found in caches.sets.find(_BY_TEMPLATE, str(template.metadata.key)):
            yield from keys(found)

    return Wakes(caches.claim_templates, woken)


def _compare(have: Object, want: Wanted) -> Json:
    """Only labels: what a claim asks for is never changed."""
    present = have.metadata.labels
    labels = {
        key: value for key, value in want.metadata.labels.items() if present.get(key) != value
    }
    return {"metadata": {"labels": labels}} if labels else {}
