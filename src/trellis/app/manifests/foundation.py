# SPDX-License-Identifier: Apache-2.0
"""What the operator may do whatever controllers it runs: lead, speak, and keep its certificates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.permissions import Grant, Where
from trellis.api.schema.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.api.config import OperatorConfiguration
    from trellis.app.manifests.declarations import Webhook, WebhookKind

_ADMISSION = "admissionregistration.k8s.io"


def foundation(
    configuration: OperatorConfiguration, webhooks: Iterable[Webhook]
) -> tuple[Grant, ...]:
    lease = configuration.leader_election.resource_name
    secret = configuration.server.webhooks.secret_name
    return (
        *_kept("coordination.k8s.io", "leases", lease),
        *_kept("", "secrets", secret),
        Grant(group="events.k8s.io", resources=("events",), verbs=("create", "patch")),
        Grant(
            group="apiextensions.k8s.io",
            resources=("customresourcedefinitions",),
            verbs=("get",),
            names=tuple(one.type.resource.full_name for one in KINDS),
        ),
        *_bundles(webhooks),
    )


def _kept(group: str, resource: str, name: str) -> tuple[Grant, ...]:
    """One object in our own namespace that we make and then keep up to date."""
    return (
        Grant(group=group, resources=(resource,), verbs=("create",), where=Where.OWN),
        Grant(
            group=group,
            resources=(resource,),
            verbs=("get", "patch"),
            names=(name,),
            where=Where.OWN,
        ),
    )


def _bundles(webhooks: Iterable[Webhook]) -> Iterable[Grant]:
    """For the authorities that the API server is to trust, in our own configurations alone."""
    names: dict[WebhookKind, set[str]] = {}
    for webhook in webhooks:
        names.setdefault(webhook.kind, set()).add(webhook.configuration)
    for kind, found in names.items():
        yield Grant(
            group=_ADMISSION,
            resources=(f"{kind.value.lower()}s",),
            verbs=("get", "patch"),
            names=tuple(sorted(found)),
        )
