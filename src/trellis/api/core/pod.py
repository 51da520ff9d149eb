# SPDX-License-Identifier: Apache-2.0
"""Pod, as lean as it can be: a cluster has tens of thousands, and all of them are in memory.

Whoever needs another field adds it here and measures what it costs (`bench`). Pods are made from
raw templates, never from this struct.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import field, structs

from trellis.api.conditions import Condition
from trellis.api.meta import Object, Resource, Value

PENDING = "Pending"
RUNNING = "Running"
SUCCEEDED = "Succeeded"
FAILED = "Failed"

READY = "Ready"
SCHEDULED = "PodScheduled"
DISRUPTION_TARGET = "DisruptionTarget"
SCHEDULING_GATED = "SchedulingGated"
UNSCHEDULABLE = "Unschedulable"
_KEPT_CONDITIONS = (READY, SCHEDULED, DISRUPTION_TARGET)

Amounts = dict[str, str | int]


class Gate(Value, frozen=True, kw_only=True):
    """A scheduling gate: while a pod has one, it is not scheduled."""

    name: str


class Resources(Value, frozen=True, kw_only=True):
    """What a container, or a pod as a whole, asks for."""

    requests: Amounts = field(default_factory=dict)


class Container(Value, frozen=True, kw_only=True):
    """A container by what it asks for. An init container that restarts for ever is a sidecar."""

    resources: Resources = Resources()
    restart_policy: str = ""

    @property
    def is_sidecar(self) -> bool:
        return self.restart_policy == "Always"


class PodSpec(Value, frozen=True, kw_only=True):
    """Where a pod is, under whom it runs, what holds it back and what it asks for."""

    node_name: str = ""
    hostname: str = ""
    service_account_name: str = ""
    scheduling_gates: tuple[Gate, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    resources: Resources | None = None
    overhead: Amounts = field(default_factory=dict)


class Terminated(Value, frozen=True, kw_only=True):
    """How a container ended."""

    exit_code: int = 0


class ContainerState(Value, frozen=True, kw_only=True):
    """The end of a container, if it ended."""

    terminated: Terminated | None = None


class ContainerStatus(Value, frozen=True, kw_only=True):
    """Whether a container started and is ready, how it ended, and how it did the time before."""

    started: bool | None = None
    ready: bool = False
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


class PodStatus(Value, frozen=True, kw_only=True):
    """How a pod is."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()

    def __post_init__(self) -> None:
        # Kubelets write twice as many conditions as anybody here reads, with long messages.
        kept = tuple(
            structs.replace(one, message="", observed_generation=0)
            for one in self.conditions
            if one.type in _KEPT_CONDITIONS
        )
        structs.force_setattr(self, "conditions", kept)


class Pod(Object, frozen=True, kw_only=True):
    """A pod."""

    resource: ClassVar = Resource("", "v1", "Pod", "pods")

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def gates(self) -> tuple[str, ...]:
        return tuple(gate.name for gate in self.spec.scheduling_gates)

    @property
    def last_exit_codes(self) -> tuple[int, ...]:
        """The exit code of each container that has ended before, this time or the last."""
        ends = (
            status.state.terminated or status.last_state.terminated
            for status in self.status.container_statuses
        )
        return tuple(end.exit_code for end in ends if end is not None)
