# SPDX-License-Identifier: Apache-2.0
"""Where objects of the kinds that stories speak of are served."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.core.autoscaler import HorizontalPodAutoscaler
from trellis.api.core.pod import Pod
from trellis.api.core.rbac import Role, RoleBinding
from trellis.api.core.resourceclaim import ResourceClaim
from trellis.api.core.service import Service
from trellis.api.meta import Resource
from trellis.kube.resource import path

if TYPE_CHECKING:
    from tests.sim.chronicle import Place

from tests.sim.ground import OUR_KINDS

_EVENTS = Resource("events.k8s.io", "v1", "Event", "events")
_NODES = Resource("", "v1", "Node", "nodes", namespaced=False)
_LEASES = Resource("coordination.k8s.io", "v1", "Lease", "leases")
_PRIORITIES = Resource(
    "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", namespaced=False
)
_CLAIM_TEMPLATES = Resource(
    "resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates"
)

RESOURCES = {
    resource.plural: resource
    for resource in (
        *(
            kind.resource
            for kind in (
                *OUR_KINDS,
                Pod,
                Service,
                HorizontalPodAutoscaler,
                Role,
                RoleBinding,
                ResourceClaim,
            )
        ),
        _EVENTS,
        _NODES,
        _LEASES,
        _PRIORITIES,
        _CLAIM_TEMPLATES,
    )
}
"""By plural, which is unique among them."""


def path_of(place: Place) -> str:
    return path(RESOURCES[place.plural], place.namespace, place.name)


def collection(plural: str, namespace: str) -> str:
    return path(RESOURCES[plural], namespace)
