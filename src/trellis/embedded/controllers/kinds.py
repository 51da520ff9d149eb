# SPDX-License-Identifier: Apache-2.0
"""The built-in kinds, with the fields that these controllers read.

Templates and statuses are plain values: they are copied, compared and written, hardly looked into.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import field

from trellis.api.meta import Object, Resource, Time, Value
from trellis.api.selectors import LabelSelector

if TYPE_CHECKING:
    from datetime import datetime

Json = dict[str, Any]


class Condition(Value, frozen=True, kw_only=True):
    """A condition of a pod or a node, of which only this much matters."""

    type: str
    status: str = ""
    last_transition_time: Time | None = None


class Terminated(Value, frozen=True, kw_only=True):
    exit_code: int = 0
    finished_at: Time | None = None


class ContainerState(Value, frozen=True, kw_only=True):
    terminated: Terminated | None = None


class ContainerStatus(Value, frozen=True, kw_only=True):
    name: str = ""
    restart_count: int = 0
    state: ContainerState = ContainerState()


class PodClaim(Value, frozen=True, kw_only=True):
    """A claim that a pod uses: one that is there, or one to be made from a template."""

    name: str
    resource_claim_name: str = ""
    resource_claim_template_name: str = ""


class PodClaimStatus(Value, frozen=True, kw_only=True):
    name: str
    resource_claim_name: str = ""


class FieldRequirement(Value, frozen=True, kw_only=True):
    key: str = ""
    values: tuple[str, ...] = ()


class NodeTerm(Value, frozen=True, kw_only=True):
    match_fields: tuple[FieldRequirement, ...] = ()


class NodeTerms(Value, frozen=True, kw_only=True):
    node_selector_terms: tuple[NodeTerm, ...] = ()


class NodeAffinity(Value, frozen=True, kw_only=True):
    required: NodeTerms = field(
        default=NodeTerms(), name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Value, frozen=True, kw_only=True):
    """Of a pod's affinity only the one node that a daemon is meant for."""

    node_affinity: NodeAffinity = NodeAffinity()


class PodSpec(Value, frozen=True, kw_only=True):
    node_name: str = ""
    affinity: Affinity | None = None
    restart_policy: str = ""
    resource_claims: tuple[PodClaim, ...] = ()


class PodStatus(Value, frozen=True, kw_only=True):
    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resource_claim_statuses: tuple[PodClaimStatus, ...] = ()


class Pod(Object, frozen=True, kw_only=True):
    resource: ClassVar = Resource("", "v1", "Pod", "pods")

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def finished(self) -> bool:
        return self.status.phase in {"Succeeded", "Failed"}

    @property
    def target(self) -> str:
        """The node that it is on, or that it alone may be on."""
        if self.spec.node_name or self.spec.affinity is None:
            return self.spec.node_name
        terms = self.spec.affinity.node_affinity.required.node_selector_terms
        fields = [one for term in terms for one in term.match_fields]
        return next((one.values[0] for one in fields if one.key == "metadata.name"), "")

    @property
    def active(self) -> bool:
        return not (self.finished or self.metadata.deleting)

    @property
    def terminating(self) -> bool:
        return self.metadata.deleting and not self.finished

    @property
    def ready(self) -> bool:
        return self.ready_since is not None

    @property
    def ready_since(self) -> Time | None:
        """Since when it is ready; None: it is not."""
        found = self.condition("Ready")
        if found is None or found.status != "True":
            return None
        return found.last_transition_time or self.metadata.creation_timestamp

    def condition(self, kind: str) -> Condition | None:
        return next((one for one in self.status.conditions if one.type == kind), None)

    def available(self, now: datetime, seconds: int) -> bool:
        """Whether it has been ready for so long."""
        since = self.ready_since
        return since is not None and (now - since).total_seconds() >= seconds


class NodeSpec(Value, frozen=True, kw_only=True):
    unschedulable: bool = False
    taints: tuple[Json, ...] = ()


class NodeStatus(Value, frozen=True, kw_only=True):
    conditions: tuple[Condition, ...] = ()


class Node(Object, frozen=True, kw_only=True):
    resource: ClassVar = Resource("", "v1", "Node", "nodes", namespaced=False)

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class NamespaceSpec(Value, frozen=True, kw_only=True):
    finalizers: tuple[str, ...] = ()


class Namespace(Object, frozen=True, kw_only=True):
    resource: ClassVar = Resource("", "v1", "Namespace", "namespaces", namespaced=False)

    spec: NamespaceSpec = NamespaceSpec()
    status: Json = field(default_factory=dict)


class ServiceAccount(Object, frozen=True, kw_only=True):
    resource: ClassVar = Resource("", "v1", "ServiceAccount", "serviceaccounts")


class ConfigMap(Object, frozen=True, kw_only=True):
    resource: ClassVar = Resource("", "v1", "ConfigMap", "configmaps")

    data: dict[str, str] = field(default_factory=dict)


class JobSpec(Value, frozen=True, kw_only=True):
    parallelism: int = 1
    completions: int | None = None
    completion_mode: str = "NonIndexed"
    backoff_limit: int = 6
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    suspend: bool = False
    active_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    managed_by: str = ""
    pod_replacement_policy: str = "TerminatingOrFailed"
    pod_failure_policy: Json = field(default_factory=dict)
    success_policy: Json = field(default_factory=dict)
    template: Json = field(default_factory=dict)

    @property
    def indexed(self) -> bool:
        return self.completion_mode == "Indexed"


class Job(Object, frozen=True, kw_only=True):
    resource: ClassVar = Resource("batch", "v1", "Job", "jobs")

    spec: JobSpec = JobSpec()
    status: Json = field(default_factory=dict)


class ReplicaSetSpec(Value, frozen=True, kw_only=True):
    replicas: int = 1
    min_ready_seconds: int = 0
    selector: LabelSelector = LabelSelector()
    template: Json = field(default_factory=dict)


class ReplicaSet(Object, frozen=True, kw_only=True):
    resource: ClassVar = Resource("apps", "v1", "ReplicaSet", "replicasets")

    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: Json = field(default_factory=dict)


class RollingUpdate(Value, frozen=True, kw_only=True):
    max_surge: int | str = 0
    max_unavailable: int | str = 0


class Strategy(Value, frozen=True, kw_only=True):
    type: str = "RollingUpdate"
    rolling_update: RollingUpdate = RollingUpdate()


class DeploymentSpec(ReplicaSetSpec, frozen=True, kw_only=True):
    strategy: Strategy = Strategy()
    paused: bool = False
    revision_history_limit: int = 10
    progress_deadline_seconds: int = 600


class Deployment(Object, frozen=True, kw_only=True):
    resource: ClassVar = Resource("apps", "v1", "Deployment", "deployments")

    spec: DeploymentSpec = DeploymentSpec()
    status: Json = field(default_factory=dict)


class DaemonSetSpec(Value, frozen=True, kw_only=True):
    min_ready_seconds: int = 0
    selector: LabelSelector = LabelSelector()
    template: Json = field(default_factory=dict)
    update_strategy: Strategy = Strategy()


class DaemonSet(Object, frozen=True, kw_only=True):
    resource: ClassVar = Resource("apps", "v1", "DaemonSet", "daemonsets")

    spec: DaemonSetSpec = DaemonSetSpec()
    status: Json = field(default_factory=dict)


class BudgetSpec(Value, frozen=True, kw_only=True):
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: LabelSelector | None = None


class Budget(Object, frozen=True, kw_only=True):
    resource: ClassVar = Resource("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets")

    spec: BudgetSpec = BudgetSpec()
    status: Json = field(default_factory=dict)


class Consumer(Value, frozen=True, kw_only=True):
    """What a claim is reserved for."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class ClaimStatus(Value, frozen=True, kw_only=True):
    allocation: Json | None = None
    reserved_for: tuple[Consumer, ...] = ()


class Claim(Object, frozen=True, kw_only=True):
    resource: ClassVar = Resource("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims")

    status: ClaimStatus = ClaimStatus()


class ClaimTemplate(Object, frozen=True, kw_only=True):
    resource: ClassVar = Resource(
        "resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates"
    )

    spec: Json = field(default_factory=dict)


class ClusterRole(Object, frozen=True, kw_only=True):
    resource: ClassVar = Resource(
        "rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", namespaced=False
    )

    rules: list[Json] | None = None
    aggregation_rule: Json | None = None


class Policy(Object, frozen=True, kw_only=True):
    resource: ClassVar = Resource(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
        namespaced=False,
    )

    spec: Json = field(default_factory=dict)
    status: Json = field(default_factory=dict)


class DefinitionNames(Value, frozen=True, kw_only=True):
    plural: str
    kind: str


class DefinedVersion(Value, frozen=True, kw_only=True):
    name: str
    served: bool = False
    storage: bool = False


class DefinitionSpec(Value, frozen=True, kw_only=True):
    group: str
    names: DefinitionNames
    scope: str
    versions: tuple[DefinedVersion, ...] = ()


class DefinitionStatus(Value, frozen=True, kw_only=True):
    conditions: tuple[Condition, ...] | None = None


class Definition(Object, frozen=True, kw_only=True):
    """A CustomResourceDefinition: which kind there is, and whether it is served yet."""

    resource: ClassVar = Resource(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        namespaced=False,
    )

    spec: DefinitionSpec
    status: DefinitionStatus = DefinitionStatus()

    @property
    def served(self) -> Resource | None:
        """What it defines, in the version that is stored if that one is served."""
        found = [one for one in self.status.conditions or () if one.type == "Established"]
        versions = sorted(
            (one for one in self.spec.versions if one.served), key=lambda one: not one.storage
        )
        if not versions or not found or found[0].status != "True":
            return None
        spec = self.spec
        namespaced = spec.scope == "Namespaced"
        return Resource(
            spec.group, versions[0].name, spec.names.kind, spec.names.plural, namespaced
        )
