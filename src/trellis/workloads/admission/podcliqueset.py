# SPDX-License-Identifier: Apache-2.0
"""The two reviews of a PodCliqueSet: what it becomes, and whether it may be. Pure.

What is on its way out, and what is left as it was, passes unread and unchanged: no set may become
one whose finalizer cannot be taken off, or whose labels cannot be changed.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from trellis.api import annotation
from trellis.api.meta import Metadata
from trellis.webhooks.review import Operation, Unfit
from trellis.webhooks.verdict import ALLOWED, Allowed
from trellis.webhooks.verdict import invalid as refusal
from trellis.workloads.admission import defaults
from trellis.workloads.admission.claims import claim_problems
from trellis.workloads.admission.cliques import clique_problems
from trellis.workloads.admission.consumers import consumer_problems
from trellis.workloads.admission.delays import delay_problems
from trellis.workloads.admission.fabric import fabric_problems
from trellis.workloads.admission.groups import group_problems
from trellis.workloads.admission.ledgers import ledger_problems
from trellis.workloads.admission.limits import limit_problems
from trellis.workloads.admission.names import name_problems
from trellis.workloads.admission.pods import pod_problems
from trellis.workloads.admission.policy import NOTHING
from trellis.workloads.admission.problems import causes, fresh
from trellis.workloads.admission.schedulers import scheduler_problems
from trellis.workloads.admission.startup import startup_problems
from trellis.workloads.admission.subject import Document, subject
from trellis.workloads.admission.switching import switching
from trellis.workloads.admission.topology import topology_problems
from trellis.workloads.admission.updates import update_problems
from trellis.workloads.admission.warnings import warnings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.webhooks.review import Review
    from trellis.webhooks.verdict import Handler, Verdict
    from trellis.workloads.admission.policy import Policy, Stored
    from trellis.workloads.admission.problems import Problem
    from trellis.workloads.admission.subject import Subject


# Nobody reads as many, and who writes a set may write any number of them.
MOST_PROBLEMS = 1000


class _Leaving(msgspec.Struct, frozen=True):
    """What is read of an object to see whether it is on its way out."""

    metadata: Metadata


def defaulting(review: Review) -> Verdict:
    """Fills in what the set does not say."""
    if _passes(review):
        return ALLOWED
    new = review.new()
    old = review.old() if review.operation is Operation.UPDATE else None
    said = defaults.fill(new, old, review.namespace)
    return Allowed(object=new, warnings=said)


def validating(policy: Policy, stored: Stored = NOTHING) -> Handler:
    """Refuses what cannot be, with every reason that is not as old as the stored object."""

    def handle(review: Review) -> Verdict:
        if _passes(review):
            return ALLOWED
        new = subject(review.new_as(Document))
        return judged(new, _stored(review), policy, stored)

    return handle


def judged(new: Subject, old: Subject | None, policy: Policy, stored: Stored = NOTHING) -> Verdict:
    """`old` is as it is stored, if it is and can be read."""
    found = tuple(islice(problems_of(new, policy), MOST_PROBLEMS))
    if found and old is not None:
        found = fresh(found, islice(problems_of(old, policy), MOST_PROBLEMS))
    if old is not None:
        found = (*update_problems(new, old, policy), *found)
    said = (*(switching(new, old, stored) if old else ()), *warnings(new, old))
    return refusal(*causes(found), warnings=said) if found else Allowed(warnings=said)


def problems_of(found: Subject, policy: Policy) -> Iterator[Problem]:
    """All that is wrong with a set by itself."""
    yield from limit_problems(found, policy.limits)
    yield from ledger_problems(found, policy)
    yield from clique_problems(found)
    yield from group_problems(found)
    yield from startup_problems(found, policy.limits)
    yield from delay_problems(found)
    yield from pod_problems(found)
    yield from scheduler_problems(found, policy)
    yield from claim_problems(found)
    yield from consumer_problems(found, policy.limits)
    yield from topology_problems(found, policy.topology)
    yield from fabric_problems(found, enabled=policy.fabric)
    yield from name_problems(found)


def _passes(review: Review) -> bool:
    if review.operation not in (Operation.CREATE, Operation.UPDATE) or review.sub_resource:
        return True
    if review.operation is Operation.CREATE:
        return False
    new, old = review.new(), review.old()
    if new.get("spec") == old.get("spec") and _groups(new) == _groups(old):
        return True
    return review.new_as(_Leaving).metadata.deleting


def _groups(document: dict[str, object]) -> object:
    """What of the metadata must not change either."""
    metadata = document.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return annotations.get(annotation.MNNVL_GROUP) if isinstance(annotations, dict) else None


def _stored(review: Review) -> Subject | None:
    """What an older release let in and nobody can read any more is no measure of what is new."""
    if review.operation is not Operation.UPDATE:
        return None
    try:
        return subject(review.old_as(Document))
    except Unfit:
        return None
