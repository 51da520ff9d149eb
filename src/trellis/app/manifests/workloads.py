# SPDX-License-Identifier: Apache-2.0
"""What the controllers of PodCliqueSets, and of what is made for them, declare."""

from __future__ import annotations

from trellis.api.annotation import MNNVL_GROUP
from trellis.api.core.autoscaler import HorizontalPodAutoscaler
from trellis.api.core.pod import Pod
from trellis.api.core.rbac import Role, RoleBinding
from trellis.api.core.service import Service
from trellis.api.core.serviceaccount import ServiceAccount
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.labels import MANAGED_BY, OPERATOR
from trellis.api.meta import Resource
from trellis.api.scheduler.podgang import PodGang
from trellis.app.manifests.declarations import (
    Component,
    MatchCondition,
    Rule,
    Webhook,
    WebhookKind,
)
from trellis.workloads.admission.authorizer import CLUSTER
from trellis.workloads.admission.claimrights import claim_rights
from trellis.workloads.podclique.grants import GRANTS as CLIQUE_GRANTS
from trellis.workloads.podcliqueset.grants import GRANTS as SET_GRANTS
from trellis.workloads.podgang.grants import GRANTS as GANG_GRANTS
from trellis.workloads.scalinggroup.grants import GRANTS as GROUP_GRANTS

_VALIDATING = "podcliqueset-validating-webhook"
_SETS = (Rule(resource=PodCliqueSet.resource),)
_GROUP = f"metadata.?annotations[?'{MNNVL_GROUP}']"
_JUDGED_CHANGES = MatchCondition(
    name="judged-changes",
    expression="request.operation != 'UPDATE' || object.?spec != oldObject.?spec"
    f" || object.{_GROUP} != oldObject.{_GROUP}",
)
"""All of the metadata that must not change is one annotation."""
_NOT_THE_CLUSTER = MatchCondition(
    name="not-the-cluster-itself",
    expression=f"!(request.userInfo.username in {list(CLUSTER)})",
)
"""What ends things must work with us down."""

_SECRETS = Resource("", "v1", "Secret", "secrets")
_CHANGED = ("UPDATE", "DELETE")
_ALL = ("CREATE", *_CHANGED)
_MADE = {
    _SECRETS: _CHANGED,
    ServiceAccount.resource: _CHANGED,
    Service.resource: _CHANGED,
    Role.resource: _CHANGED,
    RoleBinding.resource: _CHANGED,
    HorizontalPodAutoscaler.resource: _CHANGED,
    Pod.resource: ("UPDATE",),
    PodClique.resource: _ALL,
    PodCliqueScalingGroup.resource: _ALL,
    PodGang.resource: _ALL,
}

WORKLOAD_WEBHOOKS = (
    Webhook(
        configuration="podcliqueset-defaulting-webhook",
        name="pcs.defaulting.webhooks.grove.io",
        path="/webhooks/default-podcliqueset",
        kind=WebhookKind.MUTATING,
        rules=_SETS,
    ),
    Webhook(
        configuration=_VALIDATING,
        name="pcs.validating.webhooks.grove.io",
        path="/webhooks/validate-podcliqueset",
        kind=WebhookKind.VALIDATING,
        rules=_SETS,
        conditions=(_JUDGED_CHANGES,),
    ),
    Webhook(
        configuration=_VALIDATING,
        name="scale.validating.webhooks.grove.io",
        path="/webhooks/validate-scale",
        kind=WebhookKind.VALIDATING,
        rules=(
            Rule(resource=PodCliqueSet.resource, subresource="scale", operations=("UPDATE",)),
            *(
                rule
                for resource in (PodClique.resource, PodCliqueScalingGroup.resource)
                for rule in (
                    Rule(resource=resource),
                    Rule(resource=resource, subresource="scale", operations=("UPDATE",)),
                )
            ),
        ),
        spares_operator=True,
    ),
    Webhook(
        configuration="authorizer-webhook",
        name="authorizer.webhooks.grove.io",
        path="/webhooks/authorizer-webhook",
        kind=WebhookKind.VALIDATING,
        rules=tuple(
            Rule(resource=resource, operations=operations) for resource, operations in _MADE.items()
        ),
        conditions=(_NOT_THE_CLUSTER,),
        labels=((MANAGED_BY, OPERATOR),),
        spares_operator=True,
        optional="authorizer",
    ),
)

POD_CLIQUE_SET = Component(
    name="podcliqueset",
    grants=SET_GRANTS,
    webhooks=WORKLOAD_WEBHOOKS,
    policies=lambda _installation: claim_rights(),
)
POD_CLIQUE_SCALING_GROUP = Component(name="podcliquescalinggroup", grants=GROUP_GRANTS)
POD_GANG = Component(name="podgang", grants=GANG_GRANTS)
POD_CLIQUE = Component(name="podclique", grants=CLIQUE_GRANTS)
