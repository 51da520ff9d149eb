# SPDX-License-Identifier: Apache-2.0
"""Node: what it has, whether it is well, and what keeps pods away."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from trellis.api.conditions import Condition, is_true
from trellis.api.core.pod import Amounts
from trellis.api.meta import Object, Resource, Value

READY = "Ready"


class Taint(Value, frozen=True, kw_only=True):
    """Keeps away pods that do not tolerate it."""

    key: str
    value: str = ""
    effect: str = ""


class NodeSpec(Value, frozen=True, kw_only=True):
    """What keeps pods away."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeStatus(Value, frozen=True, kw_only=True):
    """What there is for pods, and whether the kubelet is heard."""

    allocatable: Amounts = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()


class Node(Object, frozen=True, kw_only=True):
    """A node."""

    resource: ClassVar = Resource("", "v1", "Node", "nodes", namespaced=False)

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def is_ready(self) -> bool:
        return is_true(self.status.conditions, READY)
