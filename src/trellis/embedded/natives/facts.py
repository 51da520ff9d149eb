# SPDX-License-Identifier: Apache-2.0
"""What the registry of the real server says of each built-in kind, as data.

Which kinds PUT creates, which may be replaced without a resourceVersion, which come back whole when
they are deleted, what counts as a generation, which fields can be selected by.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from trellis.embedded.natives.syntax import (
    Grammar,
    dns_label,
    dns_subdomain,
    path_segment,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trellis.embedded.asking import Object

Key = tuple[str, str]
ADMISSION, APPS, AUTOSCALING = "admissionregistration.k8s.io", "apps", "autoscaling"
BATCH, COORDINATION, DISCOVERY = "batch", "coordination.k8s.io", "discovery.k8s.io"
EVENTS, FLOWS, NETWORKING = "events.k8s.io", "flowcontrol.apiserver.k8s.io", "networking.k8s.io"
NODE, POLICY, RBAC = "node.k8s.io", "policy", "rbac.authorization.k8s.io"
DRA, SCHEDULING, STORAGE = "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io"
CERTIFICATES = "certificates.k8s.io"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """How the server treats one kind. The defaults are those of most kinds."""

    namespaced: bool = True
    names: Grammar = dns_subdomain
    own_finalizers: bool = True
    """Finalizers without a domain must be Kubernetes' own."""
    creates_on_update: bool = False
    """PUT of an object that is not there creates it."""
    unconditional_update: bool = True
    """PUT without a resourceVersion replaces whatever is there."""
    answers_with_object: bool = False
    """DELETE that takes effect at once answers with the object, not with a Status."""
    counted: tuple[str, ...] = ()
    """Parts whose change is a new generation; empty where no generation is kept."""
    status: Mapping[str, Any] | None = None
    """An empty status as Go writes it; None where there is no status subresource."""
    status_keeps: tuple[str, ...] = ()
    """Of the metadata, what a write of the status does not change."""


_ALL_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
_SPEC = ("spec",)
_NUMBERS = {
    "replicas": {"replicas": 0},
    "stateful": {"replicas": 0, "availableReplicas": 0},
    "daemon": {
        "currentNumberScheduled": 0,
        "desiredNumberScheduled": 0,
        "numberMisscheduled": 0,
        "numberReady": 0,
    },
    "budget": {
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "disruptionsAllowed": 0,
        "expectedPods": 0,
    },
}
_BALANCED: dict[str, Any] = {"loadBalancer": {}}
_NODE_INFO = dict.fromkeys(
    (
        "machineID",
        "systemUUID",
        "bootID",
        "kernelVersion",
        "osImage",
        "containerRuntimeVersion",
        "kubeletVersion",
        "kubeProxyVersion",
        "operatingSystem",
        "architecture",
    ),
    "",
)
_NODE_STATUS: dict[str, Any] = {
    "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
    "nodeInfo": _NODE_INFO,
}
_HOOKS = Facts(
    namespaced=False, own_finalizers=False, unconditional_update=False, counted=("webhooks",)
)
_ROLE = Facts(names=path_segment, creates_on_update=True)
_CLUSTER_ROLE = Facts(namespaced=False, names=path_segment, creates_on_update=True)
_POLICY = Facts(
    namespaced=False,
    own_finalizers=False,
    unconditional_update=False,
    counted=_SPEC,
    status={},
    status_keeps=_ALL_METADATA,
)
_POLICY_BINDING = Facts(
    namespaced=False, own_finalizers=False, unconditional_update=False, counted=_SPEC
)
_CLUSTER_SPEC = Facts(namespaced=False, counted=_SPEC)
_CLUSTER_WHOLE = Facts(namespaced=False, answers_with_object=True)
_FLOW = Facts(namespaced=False, counted=_SPEC, status={}, status_keeps=_ALL_METADATA)
_FACTS: dict[Key, Facts] = {
    ("", "Binding"): Facts(),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): Facts(
        namespaced=False, unconditional_update=False, counted=_SPEC, status={}
    ),
    ("apiregistration.k8s.io", "APIService"): Facts(
        namespaced=False, unconditional_update=False, status={}
    ),
    ("", "ComponentStatus"): Facts(namespaced=False),
    ("", "Endpoints"): Facts(creates_on_update=True),
    ("", "Event"): Facts(creates_on_update=True),
    ("", "LimitRange"): Facts(creates_on_update=True),
    ("", "Namespace"): Facts(
        namespaced=False, names=dns_label, status={}, answers_with_object=True
    ),
    ("", "Node"): Facts(namespaced=False, status=_NODE_STATUS),
    ("", "PersistentVolume"): Facts(namespaced=False, status={}, answers_with_object=True),
    ("", "PersistentVolumeClaim"): Facts(status={}, answers_with_object=True),
    ("", "Pod"): Facts(counted=_SPEC, status={}, answers_with_object=True),
    ("", "PodTemplate"): Facts(counted=("template",), answers_with_object=True),
    ("", "ReplicationController"): Facts(counted=_SPEC, status=_NUMBERS["replicas"]),
    ("", "ResourceQuota"): Facts(status={}, answers_with_object=True),
    ("", "Service"): Facts(
        names=dns_label, creates_on_update=True, status=_BALANCED, answers_with_object=True
    ),
    ("", "ServiceAccount"): Facts(answers_with_object=True),
    (ADMISSION, "MutatingWebhookConfiguration"): _HOOKS,
    (ADMISSION, "ValidatingWebhookConfiguration"): _HOOKS,
    (ADMISSION, "ValidatingAdmissionPolicy"): _POLICY,
    (ADMISSION, "ValidatingAdmissionPolicyBinding"): _POLICY_BINDING,
    (ADMISSION, "MutatingAdmissionPolicy"): _POLICY_BINDING,
    (ADMISSION, "MutatingAdmissionPolicyBinding"): _POLICY_BINDING,
    (APPS, "Deployment"): Facts(counted=_SPEC, status={}, status_keeps=("labels",)),
    (APPS, "ReplicaSet"): Facts(counted=_SPEC, status=_NUMBERS["replicas"]),
    (APPS, "StatefulSet"): Facts(names=dns_label, counted=_SPEC, status=_NUMBERS["stateful"]),
    (APPS, "DaemonSet"): Facts(counted=_SPEC, status=_NUMBERS["daemon"]),
    (AUTOSCALING, "HorizontalPodAutoscaler"): Facts(
        status={"currentMetrics": None, "desiredReplicas": 0}
    ),
    (BATCH, "Job"): Facts(counted=_SPEC, status={}),
    (BATCH, "CronJob"): Facts(counted=_SPEC, status={}),
    (CERTIFICATES, "CertificateSigningRequest"): Facts(
        namespaced=False, status={}, status_keeps=_ALL_METADATA
    ),
    (COORDINATION, "Lease"): Facts(creates_on_update=True, unconditional_update=False),
    (DISCOVERY, "EndpointSlice"): Facts(counted=("endpoints", "ports", "addressType", "metadata")),
    (EVENTS, "Event"): Facts(creates_on_update=True),
    (FLOWS, "FlowSchema"): _FLOW,
    (FLOWS, "PriorityLevelConfiguration"): _FLOW,
    (NETWORKING, "Ingress"): Facts(counted=_SPEC, status=_BALANCED),
    (NETWORKING, "IngressClass"): _CLUSTER_SPEC,
    (NETWORKING, "IPAddress"): Facts(namespaced=False),
    (NETWORKING, "NetworkPolicy"): Facts(counted=_SPEC),
    (NETWORKING, "ServiceCIDR"): Facts(namespaced=False, status={}, status_keeps=_ALL_METADATA),
    (NODE, "RuntimeClass"): Facts(
        namespaced=False, creates_on_update=True, unconditional_update=False
    ),
    (POLICY, "PodDisruptionBudget"): Facts(
        names=path_segment,
        own_finalizers=False,
        unconditional_update=False,
        counted=_SPEC,
        status=_NUMBERS["budget"],
    ),
    (RBAC, "Role"): _ROLE,
    (RBAC, "RoleBinding"): _ROLE,
    (RBAC, "ClusterRole"): _CLUSTER_ROLE,
    (RBAC, "ClusterRoleBinding"): _CLUSTER_ROLE,
    (DRA, "DeviceClass"): Facts(namespaced=False, counted=_SPEC, answers_with_object=True),
    (DRA, "ResourceClaim"): Facts(status={}, status_keeps=_ALL_METADATA, answers_with_object=True),
    (DRA, "ResourceClaimTemplate"): Facts(answers_with_object=True),
    (DRA, "ResourceSlice"): Facts(namespaced=False, counted=_SPEC, answers_with_object=True),
    (SCHEDULING, "PriorityClass"): Facts(namespaced=False),
    (STORAGE, "CSIDriver"): Facts(
        namespaced=False, unconditional_update=False, answers_with_object=True
    ),
    (STORAGE, "CSINode"): Facts(
        namespaced=False, unconditional_update=False, answers_with_object=True
    ),
    (STORAGE, "CSIStorageCapacity"): Facts(unconditional_update=False),
    (STORAGE, "StorageClass"): _CLUSTER_WHOLE,
    (STORAGE, "VolumeAttachment"): Facts(
        namespaced=False,
        unconditional_update=False,
        answers_with_object=True,
        status={"attached": False},
        status_keeps=_ALL_METADATA,
    ),
    (STORAGE, "VolumeAttributesClass"): _CLUSTER_WHOLE,
}
_PLAIN = Facts()


def facts_of(group: str, kind: str) -> Facts:
    return _FACTS.get((group, kind), _PLAIN)


def _at(*path: str, absent: str = "") -> Callable[[Object], str]:
    def read(held: Object) -> str:
        value: Any = held
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        if value is None:
            return absent
        return str(value).lower() if isinstance(value, bool) else str(value)

    return read


def _pod_ip(pod: Object) -> str:
    status = pod.get("status") or {}
    return "".join(each.get("ip") or "" for each in (status.get("podIPs") or ())[:1])


def _source(event: Object) -> str:
    reporter = event.get("reportingComponent") or event.get("reportingController")
    return (event.get("source") or {}).get("component") or reporter or ""


_INVOLVED = (
    "kind",
    "namespace",
    "name",
    "uid",
    "apiVersion",
    "resourceVersion",
    "fieldPath",
)
_EVENT = {
    **{f"involvedObject.{name}": _at("involvedObject", name) for name in _INVOLVED},
    "reason": _at("reason"),
    "reportingComponent": _at("reportingComponent"),
    "source": _source,
    "type": _at("type"),
}
_NEW_EVENT = {
    **{f"regarding.{name}": _at("regarding", name) for name in _INVOLVED},
    "reason": _at("reason"),
    "reportingController": _at("reportingController"),
    "type": _at("type"),
}
_FIELDS: dict[Key, dict[str, Callable[[Object], str]]] = {
    ("", "Pod"): {
        "spec.nodeName": _at("spec", "nodeName"),
        "spec.host": _at("spec", "nodeName"),
        "spec.restartPolicy": _at("spec", "restartPolicy"),
        "spec.schedulerName": _at("spec", "schedulerName"),
        "spec.serviceAccountName": _at("spec", "serviceAccountName"),
        "spec.hostNetwork": _at("spec", "hostNetwork", absent="false"),
        "status.phase": _at("status", "phase"),
        "status.podIP": _pod_ip,
        # Taken, but no pod has it: a slip of the server's.
        "status.podIPs": lambda _: "",
        "status.nominatedNodeName": _at("status", "nominatedNodeName"),
    },
    ("", "Node"): {"spec.unschedulable": _at("spec", "unschedulable", absent="false")},
    ("", "Namespace"): {"status.phase": _at("status", "phase")},
    ("", "Secret"): {"type": _at("type")},
    ("", "Service"): {"spec.clusterIP": _at("spec", "clusterIP"), "spec.type": _at("spec", "type")},
    ("", "ReplicationController"): {"status.replicas": _at("status", "replicas", absent="0")},
    ("", "Event"): _EVENT,
    (EVENTS, "Event"): _NEW_EVENT,
    (BATCH, "Job"): {"status.successful": _at("status", "succeeded", absent="0")},
    (DRA, "ResourceSlice"): {
        "spec.nodeName": _at("spec", "nodeName"),
        "spec.driver": _at("spec", "driver"),
    },
    (CERTIFICATES, "CertificateSigningRequest"): {"spec.signerName": _at("spec", "signerName")},
}


@lru_cache(maxsize=256)
def selectable_fields(group: str, kind: str) -> Mapping[str, Callable[[Object], str]]:
    """By which fields objects can be selected, with what reads each."""
    found = {"metadata.name": _at("metadata", "name")}
    if facts_of(group, kind).namespaced:
        found["metadata.namespace"] = _at("metadata", "namespace")
    return found | _FIELDS.get((group, kind), {})
