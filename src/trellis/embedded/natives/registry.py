# SPDX-License-Identifier: Apache-2.0
"""Which strategy a built-in kind has. Kinds without rules of their own have the general one."""

from __future__ import annotations

from functools import lru_cache

from trellis.embedded.natives.autoscaling import HorizontalPodAutoscalers, PodDisruptionBudgets
from trellis.embedded.natives.batch.cronjobs import CronJobs
from trellis.embedded.natives.batch.jobs import Jobs
from trellis.embedded.natives.cluster import (
    Events,
    Leases,
    Namespaces,
    Nodes,
    PriorityClasses,
    RuntimeClasses,
)
from trellis.embedded.natives.configuration import (
    ConfigMaps,
    LimitRanges,
    ResourceQuotas,
    Secrets,
)
from trellis.embedded.natives.dra.claims import (
    DeviceClasses,
    ResourceClaims,
    ResourceClaimTemplates,
)
from trellis.embedded.natives.dra.slices import ResourceSlices
from trellis.embedded.natives.facts import (
    ADMISSION,
    APPS,
    AUTOSCALING,
    BATCH,
    COORDINATION,
    DISCOVERY,
    DRA,
    EVENTS,
    NETWORKING,
    NODE,
    POLICY,
    RBAC,
    SCHEDULING,
    STORAGE,
)
from trellis.embedded.natives.network.policies import (
    Endpoints,
    EndpointSlices,
    IngressClasses,
    Ingresses,
    NetworkPolicies,
)
from trellis.embedded.natives.network.services import Services
from trellis.embedded.natives.pod.strategy import Pods, PodTemplates
from trellis.embedded.natives.rbac import Bindings, Roles
from trellis.embedded.natives.registration.policies import (
    ValidatingAdmissionPolicies,
    ValidatingAdmissionPolicyBindings,
)
from trellis.embedded.natives.registration.webhooks import WebhookConfigurations
from trellis.embedded.natives.storage.claims import PersistentVolumeClaims
from trellis.embedded.natives.storage.volumes import CSIDrivers, PersistentVolumes, StorageClasses
from trellis.embedded.natives.strategy import Native
from trellis.embedded.natives.workloads import (
    ControllerRevisions,
    DaemonSets,
    Deployments,
    ReplicaSets,
    StatefulSets,
)

_STRATEGIES: dict[tuple[str, str], type[Native]] = {
    ("", "ConfigMap"): ConfigMaps,
    ("", "Endpoints"): Endpoints,
    ("", "Event"): Events,
    ("", "LimitRange"): LimitRanges,
    ("", "Namespace"): Namespaces,
    ("", "Node"): Nodes,
    ("", "PersistentVolume"): PersistentVolumes,
    ("", "PersistentVolumeClaim"): PersistentVolumeClaims,
    ("", "Pod"): Pods,
    ("", "PodTemplate"): PodTemplates,
    ("", "ResourceQuota"): ResourceQuotas,
    ("", "Secret"): Secrets,
    ("", "Service"): Services,
    (ADMISSION, "MutatingWebhookConfiguration"): WebhookConfigurations,
    (ADMISSION, "ValidatingAdmissionPolicy"): ValidatingAdmissionPolicies,
    (ADMISSION, "ValidatingAdmissionPolicyBinding"): ValidatingAdmissionPolicyBindings,
    (ADMISSION, "ValidatingWebhookConfiguration"): WebhookConfigurations,
    (APPS, "ControllerRevision"): ControllerRevisions,
    (APPS, "DaemonSet"): DaemonSets,
    (APPS, "Deployment"): Deployments,
    (APPS, "ReplicaSet"): ReplicaSets,
    (APPS, "StatefulSet"): StatefulSets,
    (AUTOSCALING, "HorizontalPodAutoscaler"): HorizontalPodAutoscalers,
    (BATCH, "CronJob"): CronJobs,
    (BATCH, "Job"): Jobs,
    (COORDINATION, "Lease"): Leases,
    (DISCOVERY, "EndpointSlice"): EndpointSlices,
    (DRA, "DeviceClass"): DeviceClasses,
    (DRA, "ResourceClaim"): ResourceClaims,
    (DRA, "ResourceClaimTemplate"): ResourceClaimTemplates,
    (DRA, "ResourceSlice"): ResourceSlices,
    (EVENTS, "Event"): Events,
    (NETWORKING, "Ingress"): Ingresses,
    (NETWORKING, "IngressClass"): IngressClasses,
    (NETWORKING, "NetworkPolicy"): NetworkPolicies,
    (NODE, "RuntimeClass"): RuntimeClasses,
    (POLICY, "PodDisruptionBudget"): PodDisruptionBudgets,
    (RBAC, "ClusterRole"): Roles,
    (RBAC, "ClusterRoleBinding"): Bindings,
    (RBAC, "Role"): Roles,
    (RBAC, "RoleBinding"): Bindings,
    (SCHEDULING, "PriorityClass"): PriorityClasses,
    (STORAGE, "CSIDriver"): CSIDrivers,
    (STORAGE, "StorageClass"): StorageClasses,
}


@lru_cache(maxsize=256)
def strategy_of(group: str, kind: str) -> Native:
    return _STRATEGIES.get((group, kind), Native)(group, kind)
