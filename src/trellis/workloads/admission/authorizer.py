# SPDX-License-Identifier: Apache-2.0
"""Who may change what the operator has made: the operator, and the cluster itself. Pure.

Decided by the object as it is stored, so that taking its labels off is no way round. Off unless it
is configured. Users may always delete pods, which is how they update with OnDelete, and scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from trellis.api import labels
from trellis.api.annotation import DISABLE_PROTECTION
from trellis.api.core.pod import Pod
from trellis.api.meta import Key, Metadata
from trellis.webhooks.review import Operation
from trellis.webhooks.verdict import ALLOWED, Allowed, Denied
from trellis.workloads.admission.policy import NOTHING, Stored

if TYPE_CHECKING:
    from trellis.api.config.types import Authorizer
    from trellis.webhooks.review import Review
    from trellis.webhooks.verdict import Handler, Verdict

_SYSTEM = "system:serviceaccount:kube-system"
# Who keeps a cluster going, and who schedules: without these, nothing of ours would ever end.
CLUSTER = (
    f"{_SYSTEM}:generic-garbage-collector",
    f"{_SYSTEM}:namespace-controller",
    f"{_SYSTEM}:horizontal-pod-autoscaler",
    "system:kube-controller-manager",
    "system:serviceaccount:kai-scheduler:pod-grouper",
    "system:serviceaccount:kai-scheduler:binder",
)


class _Known(msgspec.Struct, frozen=True):
    metadata: Metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """`operator` is its whole user name."""

    operator: str
    settings: Authorizer
    stored: Stored = NOTHING

    @property
    def exempt(self) -> tuple[str, ...]:
        return self.operator, *CLUSTER, *self.settings.exempt_service_account_user_names


def authorizing(guard: Guard) -> Handler:
    exempt = frozenset(guard.exempt)

    def handle(review: Review) -> Verdict:
        if not guard.settings.enabled or review.sub_resource or _free(review):
            return ALLOWED
        if review.user.username in exempt:
            return ALLOWED
        return _judged(review, guard.stored)

    return handle


def _free(review: Review) -> bool:
    """What anybody may do who has the right to."""
    if review.operation is Operation.CONNECT:
        return True
    resource = (review.resource.group, review.resource.resource)
    pods = (Pod.resource.group, Pod.resource.plural)
    return review.operation is Operation.DELETE and resource == pods


def _judged(review: Review, stored: Stored) -> Verdict:
    known = review.new_as if review.operation is Operation.CREATE else review.old_as
    metadata = known(_Known).metadata
    name = metadata.labels.get(labels.PART_OF, "")
    if metadata.labels.get(labels.MANAGED_BY) != labels.OPERATOR:
        return ALLOWED
    if not name:
        return _unowned(f"has no label {labels.PART_OF}")
    if stored.set_at is not None:
        found = stored.set_at(Key(review.namespace, name))
        if found is None:
            return _unowned(f"belongs to PodCliqueSet {name[:63]!r}, which does not exist")
        if found.metadata.annotations.get(DISABLE_PROTECTION) == "true":
            return ALLOWED
    return Denied(
        message=(
            f"{review.kind.kind} {review.name or metadata.name} is kept by the operator for "
            f"PodCliqueSet {name[:63]!r}: change that one instead, or scale this one; to let "
            f"{review.user.username or 'this user'} change it, add the name to "
            "authorizer.exemptServiceAccountUserNames of the operator's configuration"
        )
    )


def _unowned(why: str) -> Allowed:
    return Allowed(warnings=(f"not protected: it says that the operator manages it, and {why}",))
