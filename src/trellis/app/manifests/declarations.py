# SPDX-License-Identifier: Apache-2.0
"""What a part of the operator declares that it needs in a cluster: rights, webhooks, policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from trellis.api.meta import Resource
    from trellis.api.permissions import Grant
    from trellis.app.manifests.installation import Installation

Manifest: TypeAlias = dict[str, Any]
Policies: TypeAlias = Callable[["Installation"], Iterable[Manifest]]
"""What the API server itself holds to, so that it holds while we are down."""


class WebhookKind(Enum):
    MUTATING = "MutatingWebhookConfiguration"
    VALIDATING = "ValidatingWebhookConfiguration"


class FailurePolicy(Enum):
    """What becomes of a request that the webhook cannot be asked about."""

    FAIL = "Fail"
    IGNORE = "Ignore"
    """For kinds that are not ours: others must not stand still because we do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Which requests are reviewed. Deletions are not: they must work while we are down."""

    resource: Resource
    subresource: str = ""
    operations: tuple[str, ...] = ("CREATE", "UPDATE")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchCondition:
    """A CEL expression that must hold in the API server for a request to be reviewed."""

    name: str
    expression: str


SPEC_CHANGES = MatchCondition(
    name="spec-changes",
    expression="request.operation != 'UPDATE' || object.?spec != oldObject.?spec",
)
"""Keeps out what a webhook has no say in, so that it works with us down: the removal of a finalizer
and every other change of the metadata alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """One webhook of one configuration object. Names and paths are Grove's where Grove has them."""

    configuration: str
    name: str
    path: str
    kind: WebhookKind
    rules: tuple[Rule, ...]
    conditions: tuple[MatchCondition, ...] = (SPEC_CHANGES,)
    failure_policy: FailurePolicy = FailurePolicy.FAIL
    timeout_seconds: int = 3
    labels: tuple[tuple[str, str], ...] = ()
    """What an object must be labelled with, now or before, to be reviewed."""
    spares_operator: bool = False
    """Whether what the operator itself does is not reviewed."""
    optional: str = ""
    """Not installed unless the kustomize component of this name is."""


def no_policies(_: Installation) -> Iterable[Manifest]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A controller with all that belongs to it. `name` is what `--controllers` calls it."""

    name: str
    grants: tuple[Grant, ...] = ()
    webhooks: tuple[Webhook, ...] = ()
    policies: Policies = no_policies
