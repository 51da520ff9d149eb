# SPDX-License-Identifier: Apache-2.0
"""Pod, Node and ResourceClaim by what a kubelet reads of them. Nothing here is ever sent back."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from trellis.api.conditions import Condition, is_true
from trellis.api.core.node import NodeSpec
from trellis.api.core.pod import Amounts
from trellis.api.meta import Metadata, Object, Resource, Time, Value

PODS = Resource("", "v1", "Pod", "pods")


class PodMetadata(Metadata, frozen=True, kw_only=True):
    """The grace is what is left of it when a deletion has begun."""

    deletion_grace_period_seconds: int | None = None


class Container(Value, frozen=True, kw_only=True):
    name: str
    image: str = ""
    restart_policy: str = ""


class Claim(Value, frozen=True, kw_only=True):
    name: str
    resource_claim_name: str | None = None


class ReadinessGate(Value, frozen=True, kw_only=True):
    condition_type: str


class Spec(Value, frozen=True, kw_only=True):
    node_name: str = ""
    restart_policy: str = "Always"
    host_network: bool = False
    service_account_name: str = ""
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    resource_claims: tuple[Claim, ...] = ()
    readiness_gates: tuple[ReadinessGate, ...] = ()


class Running(Value, frozen=True, kw_only=True):
    started_at: Time | None = None


class Terminated(Value, frozen=True, kw_only=True):
    exit_code: int = 0
    reason: str = ""
    started_at: Time | None = None
    finished_at: Time | None = None


class State(Value, frozen=True, kw_only=True):
    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(Value, frozen=True, kw_only=True):
    name: str
    restart_count: int = 0
    state: State = State()
    last_state: State = State()


class ClaimStatus(Value, frozen=True, kw_only=True):
    name: str
    resource_claim_name: str | None = None


class Status(Value, frozen=True, kw_only=True):
    phase: str = ""
    pod_ip: str = field(default="", name="podIP")
    start_time: Time | None = None
    conditions: tuple[Condition, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    resource_claim_statuses: tuple[ClaimStatus, ...] = ()


class KubeletPod(Object, frozen=True, kw_only=True):
    """A pod."""

    resource: ClassVar = PODS

    metadata: PodMetadata
    spec: Spec = Spec()
    status: Status = Status()

    @property
    def claims(self) -> tuple[str | None, ...]:
        """The claims that it waits for, None for one that is not made yet.

        A template that makes no claim is told by an entry without a name.
        """
        made = {one.name: one.resource_claim_name for one in self.status.resource_claim_statuses}
        wanted = (
            claim.resource_claim_name or (made[claim.name] or "" if claim.name in made else None)
            for claim in self.spec.resource_claims
        )
        return tuple(name for name in wanted if name != "")


class KubeletNodeStatus(Value, frozen=True, kw_only=True):
    """What there is, what of it can be used, and how the node is."""

    capacity: Amounts = field(default_factory=dict)
    allocatable: Amounts = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()


class KubeletNode(Object, frozen=True, kw_only=True):
    """A node: its labels, what ails it by its annotations, its taints and whether it is ready."""

    resource: ClassVar = Resource("", "v1", "Node", "nodes", namespaced=False)

    spec: NodeSpec = NodeSpec()
    status: KubeletNodeStatus = KubeletNodeStatus()

    @property
    def is_ready(self) -> bool:
        return is_true(self.status.conditions, "Ready")
