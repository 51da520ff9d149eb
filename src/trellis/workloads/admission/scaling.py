# SPDX-License-Identifier: Apache-2.0
"""How far sets, PodCliques and scaling groups may be scaled, on the object and by `/scale`. Pure.

To zero and below minAvailable is allowed, with a warning: autoscalers do that, and a clique at zero
is no breach. A `/scale` says nothing of the object but its name, so what depends on more is judged
only where stored objects can be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from trellis.api import names
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.meta import Metadata
from trellis.api.namelimits import TooLong
from trellis.webhooks.review import Operation
from trellis.webhooks.verdict import ALLOWED, Allowed
from trellis.webhooks.verdict import invalid as refusal
from trellis.workloads.admission.consumers import consumer_problems
from trellis.workloads.admission.ledgers import ledger_problems
from trellis.workloads.admission.limits import limit_problems, too_many
from trellis.workloads.admission.names import name_problems
from trellis.workloads.admission.parts import part_problems
from trellis.workloads.admission.policy import NOTHING, Policy, Stored
from trellis.workloads.admission.problems import SPEC, causes, excessive, fresh, invalid
from trellis.workloads.admission.subject import Document, subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trellis.api.config.types import Limits
    from trellis.api.meta import Key
    from trellis.webhooks.review import Review
    from trellis.webhooks.verdict import Handler, Verdict
    from trellis.workloads.admission.parts import Part
    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Subject

SCALE = "scale"
_REPLICAS = SPEC / "replicas"


class _Counts(msgspec.Struct, frozen=True, rename="camel"):
    # A Scale leaves out a zero.
    replicas: int = 0
    min_available: int | None = None


class _Scaled(msgspec.Struct, frozen=True):
    """Any object with replicas, and the Scale of one."""

    metadata: Metadata
    spec: _Counts = _Counts()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """What is known of a kind that is scaled. `child` is named for the last of its replicas."""

    most: Callable[[Limits], int]
    key: str
    what: str
    child: Callable[[str, int], str]


_KINDS = {
    PodCliqueSet.resource.plural: _Kind(
        most=lambda limits: limits.set_replicas,
        key="setReplicas",
        what="the headless Service of the last replica",
        child=names.set_replica,
    ),
    PodClique.resource.plural: _Kind(
        most=lambda limits: limits.clique_replicas,
        key="cliqueReplicas",
        what="the host name of the last pod",
        child=names.hostname,
    ),
    PodCliqueScalingGroup.resource.plural: _Kind(
        most=lambda limits: limits.group_replicas,
        key="groupReplicas",
        what="the last replica",
        child=names.group_replica,
    ),
}


def scaling(policy: Policy, stored: Stored = NOTHING) -> Handler:
    """For all that is scaled, itself and by `/scale`, save PodCliqueSets themselves."""

    def handle(review: Review) -> Verdict:
        kind = _KINDS.get(review.resource.resource)
        if kind is None or review.sub_resource not in ("", SCALE):
            return ALLOWED
        if review.operation not in (Operation.CREATE, Operation.UPDATE):
            return ALLOWED
        new = review.new_as(_Scaled)
        if new.metadata.deleting:
            return ALLOWED
        old = review.old_as(_Scaled) if review.operation is Operation.UPDATE else None
        part = _part(new, old, review.resource.resource, stored)
        found = tuple(_problems(new, kind, policy, part))
        if found and old is not None:
            found = fresh(found, _problems(old, kind, policy, part))
        if review.resource.resource == PodCliqueSet.resource.plural:
            found += _whole(new, policy, stored)
        if found:
            return refusal(*causes(found))
        return Allowed(warnings=_warnings(new, review.resource.resource, stored))

    return handle


def _part(new: _Scaled, old: _Scaled | None, plural: str, stored: Stored) -> Part | None:
    """Its place in its set, where that is known and the number of its replicas changes at all."""
    if old is None or old.spec.replicas == new.spec.replicas or not stored.part_at:
        return None
    return stored.part_at(plural, new.metadata.key)


def _problems(scaled: _Scaled, kind: _Kind, policy: Policy, part: Part | None) -> Iterator[Problem]:
    replicas = scaled.spec.replicas
    if replicas < 0:
        yield invalid(_REPLICAS, replicas, "must be greater than or equal to 0")
        return
    yield from too_many(_REPLICAS, replicas, kind.most(policy.limits), kind.key)
    if part is not None:
        yield from part_problems(part, replicas, policy)
        return
    long = TooLong(kind.what, kind.child(scaled.metadata.name, max(replicas - 1, 0)))
    if long.excess > 0:
        yield excessive(_REPLICAS, replicas, str(long), long.excess, of="name")


def _whole(scaled: _Scaled, policy: Policy, stored: Stored) -> tuple[Problem, ...]:
    """What the whole set would come to, where it is known."""
    found = stored.set_at(scaled.metadata.key) if stored.set_at else None
    if found is None:
        return ()
    before = subject(Document(metadata=found.metadata, spec=found.spec))
    spec = structs.replace(found.spec, replicas=scaled.spec.replicas)
    after = subject(Document(metadata=found.metadata, spec=spec))
    return fresh(_counted(after, policy), _counted(before, policy))


def _counted(whole: Subject, policy: Policy) -> Iterator[Problem]:
    """What is wrong with a set because of its numbers."""
    yield from limit_problems(whole, policy.limits)
    yield from consumer_problems(whole, policy.limits)
    yield from ledger_problems(whole, policy)
    yield from name_problems(whole)


def _warnings(scaled: _Scaled, plural: str, stored: Stored) -> tuple[str, ...]:
    if plural == PodCliqueSet.resource.plural:
        return ()
    replicas, minimum = scaled.spec.replicas, scaled.spec.min_available
    if minimum is None:
        minimum = _minimum(plural, scaled.metadata.key, stored)
    if not replicas:
        return (f"{_REPLICAS.shown}: scaled to zero, which counts as off and not as broken",)
    if minimum is not None and replicas < minimum:
        said = f"{replicas} is below minAvailable, {minimum}: as many as are asked for are enough"
        return (f"{_REPLICAS.shown}: {said}, and the minimum holds again from {minimum} on",)
    return ()


def _minimum(plural: str, key: Key, stored: Stored) -> int | None:
    return stored.minimum_at(plural, key) if stored.minimum_at else None
