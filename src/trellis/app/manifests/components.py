# SPDX-License-Identifier: Apache-2.0
"""What each part of the operator declares. `trellis.app.wiring` lists the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.grove.clustertopology import ClusterTopology, ClusterTopologyBinding
from trellis.app.manifests.declarations import Component, Rule, Webhook, WebhookKind
from trellis.topology.grants import GRANTS
from trellis.topology.guard import Operator
from trellis.topology.policy import guard

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.app.manifests.declarations import Manifest
    from trellis.app.manifests.installation import Installation

_TOPOLOGY_WEBHOOKS = "clustertopology-validating-webhook"


def _topology_guard(installation: Installation) -> Iterable[Manifest]:
    return guard(Operator(namespace=installation.namespace, service_account=installation.name))


CLUSTER_TOPOLOGY = Component(
    name="clustertopology",
    grants=GRANTS,
    webhooks=(
        Webhook(
            configuration=_TOPOLOGY_WEBHOOKS,
            name="clustertopology.validating.webhooks.grove.io",
            path="/webhooks/validate-clustertopology",
            kind=WebhookKind.VALIDATING,
            rules=(Rule(resource=ClusterTopology.resource),),
        ),
        Webhook(
            configuration=_TOPOLOGY_WEBHOOKS,
            name="clustertopologybinding.validating.webhooks.grove.io",
            path="/webhooks/validate-clustertopologybinding",
            kind=WebhookKind.VALIDATING,
            rules=(Rule(resource=ClusterTopologyBinding.resource),),
        ),
    ),
    policies=_topology_guard,
)
