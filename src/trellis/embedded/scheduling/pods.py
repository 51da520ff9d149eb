# SPDX-License-Identifier: Apache-2.0
"""Pod by what a scheduler reads of it. Nothing here is ever sent back."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from trellis.api.conditions import Condition
from trellis.api.core import pod as core
from trellis.api.meta import Object, Time, Value
from trellis.api.selectors import LabelSelector

DEFAULT_SCHEDULER = "default-scheduler"
NEVER = "Never"


class Port(Value, frozen=True, kw_only=True):
    host_port: int = 0
    host_ip: str = field(default="", name="hostIP")
    protocol: str = "TCP"


class Container(core.Container, frozen=True, kw_only=True):
    ports: tuple[Port, ...] = ()


class Toleration(Value, frozen=True, kw_only=True):
    """Of a node's taint, or of a device's."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class NodeRequirement(Value, frozen=True, kw_only=True):
    key: str
    operator: str
    values: tuple[str, ...] = ()


class NodeTerm(Value, frozen=True, kw_only=True):
    """All of its requirements must hold; one without any holds nowhere."""

    match_expressions: tuple[NodeRequirement, ...] = ()
    match_fields: tuple[NodeRequirement, ...] = ()


class NodeSelector(Value, frozen=True, kw_only=True):
    """One of the terms must hold."""

    node_selector_terms: tuple[NodeTerm, ...] = ()


class PreferredNodes(Value, frozen=True, kw_only=True):
    weight: int
    preference: NodeTerm


class NodeAffinity(Value, frozen=True, kw_only=True):
    required: NodeSelector | None = field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[PreferredNodes, ...] = field(
        default=(), name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class PodTerm(Value, frozen=True, kw_only=True):
    """Pods to be near to, or far from. No selector selects none; no namespaces: its own."""

    topology_key: str
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class PreferredPods(Value, frozen=True, kw_only=True):
    weight: int
    pod_affinity_term: PodTerm


class PodAffinity(Value, frozen=True, kw_only=True):
    required: tuple[PodTerm, ...] = field(
        default=(), name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[PreferredPods, ...] = field(
        default=(), name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Value, frozen=True, kw_only=True):
    node_affinity: NodeAffinity = NodeAffinity()
    pod_affinity: PodAffinity = PodAffinity()
    pod_anti_affinity: PodAffinity = PodAffinity()


class Spread(Value, frozen=True, kw_only=True):
    topology_key: str
    max_skew: int = 1
    when_unsatisfiable: str = "DoNotSchedule"
    label_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    min_domains: int | None = None
    node_affinity_policy: str = "Honor"
    node_taints_policy: str = "Ignore"


class PodClaim(Value, frozen=True, kw_only=True):
    """A claim that exists, or one to be made from a template, which the status then names."""

    name: str
    resource_claim_name: str | None = None


class Spec(core.PodSpec, frozen=True, kw_only=True):
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    scheduler_name: str = DEFAULT_SCHEDULER
    priority: int = 0
    preemption_policy: str = "PreemptLowerPriority"
    node_selector: dict[str, str] = field(default_factory=dict)
    affinity: Affinity = Affinity()
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[Spread, ...] = ()
    resource_claims: tuple[PodClaim, ...] = ()


class Status(Value, frozen=True, kw_only=True):
    phase: str = ""
    nominated_node_name: str = ""
    start_time: Time | None = None
    conditions: tuple[Condition, ...] = ()
    resource_claim_statuses: tuple[PodClaim, ...] = ()


class ScheduledPod(Object, frozen=True, kw_only=True):
    """A pod, with a node or without."""

    resource: ClassVar = core.Pod.resource

    spec: Spec = Spec()
    status: Status = Status()

    @property
    def is_over(self) -> bool:
        """Whether it takes nothing of its node any more."""
        return self.status.phase in {core.SUCCEEDED, core.FAILED}

    def condition(self, kind: str) -> Condition | None:
        return next((one for one in self.status.conditions if one.type == kind), None)
