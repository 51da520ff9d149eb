# SPDX-License-Identifier: Apache-2.0
"""The cells of built-in kinds, in the order of their columns, as the real server prints them."""

from trellis.embedded.wire.printing import clusters, networks, pods, storage, workloads
from trellis.embedded.wire.printing.values import Cells, age, count, dated, plain, row

__all__ = ["BUILT_IN", "Cells", "dated", "plain"]

_REGISTRATION = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"

BUILT_IN: dict[tuple[str, str], Cells] = {
    ("", "Pod"): pods.cells,
    ("", "Node"): clusters.node,
    ("", "Namespace"): clusters.namespace,
    ("", "Service"): networks.service,
    ("", "ConfigMap"): clusters.config_map,
    ("", "Secret"): clusters.secret,
    ("", "ComponentStatus"): clusters.component_status,
    ("", "ServiceAccount"): plain,
    ("", "Event"): clusters.event,
    ("events.k8s.io", "Event"): clusters.event,
    ("", "Endpoints"): networks.endpoints,
    ("", "PersistentVolume"): storage.volume,
    ("", "PersistentVolumeClaim"): storage.claim,
    ("", "PodTemplate"): workloads.pod_template,
    ("", "ReplicationController"): workloads.replication_controller,
    ("", "ResourceQuota"): clusters.quota,
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("apps", "ControllerRevision"): workloads.controller_revision,
    ("batch", "Job"): workloads.job,
    ("batch", "CronJob"): workloads.cron_job,
    ("autoscaling", "HorizontalPodAutoscaler"): workloads.autoscaler,
    ("policy", "PodDisruptionBudget"): workloads.budget,
    ("coordination.k8s.io", "Lease"): row("spec.holderIdentity", age),
    ("scheduling.k8s.io", "PriorityClass"): workloads.priority_class,
    ("node.k8s.io", "RuntimeClass"): row("handler", age),
    ("discovery.k8s.io", "EndpointSlice"): networks.endpoint_slice,
    ("resource.k8s.io", "DeviceClass"): plain,
    ("resource.k8s.io", "ResourceClaim"): workloads.resource_claim,
    ("resource.k8s.io", "ResourceClaimTemplate"): plain,
    ("resource.k8s.io", "ResourceSlice"): workloads.resource_slice,
    ("networking.k8s.io", "Ingress"): networks.ingress,
    ("networking.k8s.io", "IngressClass"): networks.ingress_class,
    ("networking.k8s.io", "NetworkPolicy"): networks.network_policy,
    ("networking.k8s.io", "ServiceCIDR"): networks.cidrs,
    ("networking.k8s.io", "IPAddress"): networks.ip_address,
    (_RBAC, "RoleBinding"): clusters.binding,
    (_RBAC, "ClusterRoleBinding"): clusters.binding,
    (_REGISTRATION, "MutatingWebhookConfiguration"): row(count("webhooks"), age),
    (_REGISTRATION, "ValidatingWebhookConfiguration"): row(count("webhooks"), age),
    (_REGISTRATION, "ValidatingAdmissionPolicy"): clusters.policy("validations"),
    (_REGISTRATION, "MutatingAdmissionPolicy"): clusters.policy("mutations"),
    (_REGISTRATION, "ValidatingAdmissionPolicyBinding"): clusters.policy_binding,
    (_REGISTRATION, "MutatingAdmissionPolicyBinding"): clusters.policy_binding,
    ("apiregistration.k8s.io", "APIService"): clusters.api_service,
    ("certificates.k8s.io", "CertificateSigningRequest"): clusters.signing_request,
    ("storage.k8s.io", "StorageClass"): storage.storage_class,
    ("storage.k8s.io", "CSIDriver"): storage.csi_driver,
    ("storage.k8s.io", "CSINode"): row(count("spec.drivers"), age),
    ("storage.k8s.io", "VolumeAttachment"): storage.attachment,
    ("storage.k8s.io", "VolumeAttributesClass"): row("driverName", age),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): clusters.flow_schema,
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): clusters.priority_level,
}
