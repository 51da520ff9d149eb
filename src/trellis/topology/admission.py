# SPDX-License-Identifier: Apache-2.0
"""What may be written as a topology, and by whom. Pure: a review in, a verdict out.

What was wrong already and is left as it was may stay: no topology may become one that cannot be
changed any more, or not be deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from trellis.api.grove.clustertopology import (
    MANAGED_NAME,
    ClusterTopology,
    ClusterTopologyBinding,
)
from trellis.api.meta import Metadata
from trellis.api.syntax import label_key_problem
from trellis.topology.guard import REFUSAL
from trellis.webhooks.review import Operation
from trellis.webhooks.verdict import ALLOWED, Cause, Denied, invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trellis.topology.levels import Level
    from trellis.webhooks.review import Review
    from trellis.webhooks.verdict import Handler, Verdict

    Kind = type[ClusterTopology] | type[ClusterTopologyBinding]


class _Named(msgspec.Struct):
    """What is read of an object of which nothing else matters."""

    metadata: Metadata


@dataclass(frozen=True, slots=True)
class _Problem:
    """What is wrong with which value; the same again is no news, wherever it stands."""

    identity: tuple[str, str]
    cause: Cause


def clustertopology_handler(operator: str) -> Handler:
    """For ClusterTopologies. `operator` is the whole user name of the operator."""

    def handle(review: Review) -> Verdict:
        return _unauthorised(review, operator) or _judged(review, ClusterTopology)

    return handle


def binding_handler(review: Review) -> Verdict:
    """For ClusterTopologyBindings, which are their users' own."""
    return _judged(review, ClusterTopologyBinding)


def _unauthorised(review: Review, operator: str) -> Denied | None:
    if review.user.username == operator:
        return None
    # By the object's own name: a deletion of all topologies at once does not name any.
    known = review.new_as if review.operation is Operation.CREATE else review.old_as
    metadata = known(_Named).metadata
    if metadata.name != MANAGED_NAME:
        return None
    leaving = review.operation is Operation.UPDATE and metadata.deleting
    if leaving and review.new().get("spec") == review.old().get("spec"):
        # The cluster's own collector takes finalizers off.
        return None
    return Denied(message=REFUSAL)


def _judged(review: Review, kind: Kind) -> Verdict:
    if review.operation is Operation.DELETE or review.sub_resource:
        return ALLOWED
    new = review.new_as(kind)
    if new.metadata.deleting:
        return ALLOWED
    updating = review.operation is Operation.UPDATE
    old = review.old_as(kind).spec.levels if updating else ()
    tolerated = {problem.identity for problem in _problems(old)}
    causes = [each.cause for each in _problems(new.spec.levels) if each.identity not in tolerated]
    return invalid(*causes) if causes else ALLOWED


def _problems(levels: tuple[Level, ...]) -> Iterator[_Problem]:
    yield from _duplicates("domain", levels, lambda level: level.domain)
    yield from _duplicates("key", levels, lambda level: level.key)
    for index, level in enumerate(levels):
        if problem := label_key_problem(level.key):
            message = f"Invalid value: {_shown(level.key)}: as the key of a node label it {problem}"
            cause = Cause(field=f"spec.levels[{index}].key", message=message)
            yield _Problem(("key format", level.key), cause)


def _duplicates(
    name: str, levels: tuple[Level, ...], value_of: Callable[[Level], str]
) -> Iterator[_Problem]:
    first: dict[str, int] = {}
    for index, value in enumerate(map(value_of, levels)):
        earlier = first.setdefault(value, index)
        if earlier != index:
            said = f"Duplicate value: {_shown(value)}: spec.levels[{earlier}] has it already"
            cause = Cause(
                field=f"spec.levels[{index}].{name}", message=said, reason="FieldValueDuplicate"
            )
            yield _Problem((f"duplicate {name}", value), cause)


def _shown(value: str) -> str:
    return msgspec.json.encode(value[:80]).decode()
