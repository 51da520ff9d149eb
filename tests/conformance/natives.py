# SPDX-License-Identifier: Apache-2.0
"""Built-in kinds as small as the server takes them, and asleep: no controller acts on them.

await p.see("POST", JOB.collection(p), JOB.new(p, {"spec": {"parallelism": 2}}))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.conformance.builders import IMAGE, NOBODY

if TYPE_CHECKING:
    from tests.conformance.probe import Probe

_LABELS = {"app": "a"}
_SELECTOR = {"matchLabels": _LABELS}
_POD = {"schedulerName": NOBODY, "containers": [{"name": "app", "image": IMAGE}]}
_ONCE = {"spec": {**_POD, "restartPolicy": "Never"}}
_TEMPLATE = {"metadata": {"labels": _LABELS}, "spec": _POD}
_REQUESTS = {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}
# Nothing is ever of this group, so the webhooks are never called.
_HOOKS = [
    {
        "name": "a.example.com",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {"url": "https://127.0.0.1:1/a"},
        "rules": [
            {
                "apiGroups": ["nothing.example.com"],
                "apiVersions": ["v1"],
                "resources": ["things"],
                "operations": ["CREATE"],
            }
        ],
    }
]


def merged(base: Any, changes: Any) -> Any:
    """JSON merge patch: maps are merged, null removes, anything else replaces."""
    if not isinstance(changes, dict):
        return changes
    done = dict(base) if isinstance(base, dict) else {}
    for key, change in changes.items():
        if change is None:
            done.pop(key, None)
        else:
            done[key] = merged(done.get(key), change)
    return done


@dataclass(frozen=True, slots=True)
class Native:
    version: str
    resource: str
    kind: str
    rest: dict[str, Any]
    """All of the object beside apiVersion, kind and metadata."""
    namespaced: bool = True

    def name(self, p: Probe) -> str:
        return "a" if self.namespaced else f"a-{p.id}"

    def collection(self, p: Probe) -> str:
        of = p.path if self.namespaced else p.everywhere
        return of(self.version, self.resource)

    def path(self, p: Probe, *more: str) -> str:
        return "/".join([self.collection(p), self.name(p), *more])

    def new(self, p: Probe, changes: Any = None, **metadata: Any) -> dict[str, Any]:
        """The object; `changes` is a merge patch to it. Gone again when the probe ends."""
        if not self.namespaced:
            p.cleanup.push_async_callback(p.ask, "DELETE", self.path(p))
        named = {"name": self.name(p), **metadata}
        whole = {"apiVersion": self.version, "kind": self.kind, "metadata": named, **self.rest}
        done: dict[str, Any] = merged(whole, changes or {})
        return done

    async def make(self, p: Probe, changes: Any = None, **metadata: Any) -> Any:
        return await p.do("POST", self.collection(p), self.new(p, changes, **metadata))


def _workload(kind: str, **spec: Any) -> Native:
    whole = {"selector": _SELECTOR, "template": _TEMPLATE, **spec}
    return Native("apps/v1", f"{kind.lower()}s", kind, {"spec": whole})


def _webhooks(kind: str) -> Native:
    version = "admissionregistration.k8s.io/v1"
    resource = f"{kind.lower()}webhookconfigurations"
    return Native(version, resource, f"{kind}WebhookConfiguration", {"webhooks": _HOOKS}, False)


CONFIG_MAP = Native("v1", "configmaps", "ConfigMap", {"data": {"a": "1"}})
SECRET = Native("v1", "secrets", "Secret", {"stringData": {"a": "1"}})
POD = Native("v1", "pods", "Pod", {"spec": _POD})
POD_TEMPLATE = Native("v1", "podtemplates", "PodTemplate", {"template": _TEMPLATE})
SERVICE = Native("v1", "services", "Service", {"spec": {"ports": [{"port": 80}]}})
SERVICE_ACCOUNT = Native("v1", "serviceaccounts", "ServiceAccount", {})
NAMESPACE = Native("v1", "namespaces", "Namespace", {}, False)
# Not schedulable, lest pods of other probes land on it.
NODE = Native("v1", "nodes", "Node", {"spec": {"unschedulable": True}}, False)
CLAIM = Native(
    "v1",
    "persistentvolumeclaims",
    "PersistentVolumeClaim",
    {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "nobody",
        }
    },
)
VOLUME = Native(
    "v1",
    "persistentvolumes",
    "PersistentVolume",
    {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "hostPath": {"path": "/tmp/a"},  # noqa: S108  nothing mounts it
            # Of another class than the claim, lest claims of other probes be bound to it.
            "storageClassName": "nobody-else",
        }
    },
    False,
)
LIMIT_RANGE = Native("v1", "limitranges", "LimitRange", {"spec": {"limits": [{"type": "Pod"}]}})
QUOTA = Native("v1", "resourcequotas", "ResourceQuota", {"spec": {"hard": {"services": "9"}}})
DEPLOYMENT = _workload("Deployment", replicas=0)
REPLICA_SET = _workload("ReplicaSet", replicas=0)
STATEFUL_SET = _workload("StatefulSet", replicas=0, serviceName="a")
DAEMON_SET = _workload(
    "DaemonSet",
    template=merged(_TEMPLATE, {"spec": {"nodeSelector": {"example.com/no": "where"}}}),
)
JOB = Native("batch/v1", "jobs", "Job", {"spec": {"suspend": True, "template": _ONCE}})
CRON_JOB = Native(
    "batch/v1",
    "cronjobs",
    "CronJob",
    {
        "spec": {
            "schedule": "0 0 1 1 *",
            "suspend": True,
            "jobTemplate": {"spec": {"template": _ONCE}},
        }
    },
)
DISRUPTION_BUDGET = Native(
    "policy/v1",
    "poddisruptionbudgets",
    "PodDisruptionBudget",
    {"spec": {"selector": _SELECTOR, "minAvailable": 1}},
)
AUTOSCALER = Native(
    "autoscaling/v2",
    "horizontalpodautoscalers",
    "HorizontalPodAutoscaler",
    {
        "spec": {
            "maxReplicas": 3,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "missing"},
        }
    },
)
LEASE = Native("coordination.k8s.io/v1", "leases", "Lease", {"spec": {"holderIdentity": "me"}})
RESOURCE_CLAIM = Native(
    "resource.k8s.io/v1", "resourceclaims", "ResourceClaim", {"spec": {"devices": _REQUESTS}}
)
CLAIM_TEMPLATE = Native(
    "resource.k8s.io/v1",
    "resourceclaimtemplates",
    "ResourceClaimTemplate",
    {"spec": {"spec": {"devices": _REQUESTS}}},
)
DEVICE_CLASS = Native("resource.k8s.io/v1", "deviceclasses", "DeviceClass", {"spec": {}}, False)
RESOURCE_SLICE = Native(
    "resource.k8s.io/v1",
    "resourceslices",
    "ResourceSlice",
    {
        "spec": {
            "driver": "nobody.example.com",
            "nodeName": "missing",
            "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0"}],
        }
    },
    False,
)
PRIORITY_CLASS = Native(
    "scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", {"value": 1000}, False
)
MUTATING = _webhooks("Mutating")
VALIDATING = _webhooks("Validating")
NETWORK_POLICY = Native(
    "networking.k8s.io/v1", "networkpolicies", "NetworkPolicy", {"spec": {"podSelector": {}}}
)
INGRESS = Native(
    "networking.k8s.io/v1",
    "ingresses",
    "Ingress",
    {"spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}}},
)
INGRESS_CLASS = Native(
    "networking.k8s.io/v1",
    "ingressclasses",
    "IngressClass",
    {"spec": {"controller": "example.com/nobody"}},
    False,
)
ENDPOINT_SLICE = Native(
    "discovery.k8s.io/v1",
    "endpointslices",
    "EndpointSlice",
    {"addressType": "IPv4", "endpoints": [{"addresses": ["192.0.2.1"]}], "ports": [{"port": 80}]},
)
ROLE = Native(
    "rbac.authorization.k8s.io/v1",
    "roles",
    "Role",
    {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
)
ROLE_BINDING = Native(
    "rbac.authorization.k8s.io/v1",
    "rolebindings",
    "RoleBinding",
    {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"},
        "subjects": [
            {"kind": "ServiceAccount", "name": "default"},
            {"kind": "User", "name": "someone"},
        ],
    },
)
CLUSTER_ROLE = Native(
    "rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", {"rules": []}, False
)
STORAGE_CLASS = Native(
    "storage.k8s.io/v1",
    "storageclasses",
    "StorageClass",
    {"provisioner": "example.com/nobody"},
    False,
)
CSI_DRIVER = Native("storage.k8s.io/v1", "csidrivers", "CSIDriver", {"spec": {}}, False)
RUNTIME_CLASS = Native("node.k8s.io/v1", "runtimeclasses", "RuntimeClass", {"handler": "a"}, False)
CONTROLLER_REVISION = Native(
    "apps/v1", "controllerrevisions", "ControllerRevision", {"revision": 1, "data": {"a": 1}}
)
EVENT = Native("v1", "events", "Event", {"involvedObject": {}, "reason": "Test", "type": "Normal"})
