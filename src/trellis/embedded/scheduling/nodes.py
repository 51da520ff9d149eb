# SPDX-License-Identifier: Apache-2.0
"""Node and Namespace by what a scheduler reads of them. Heartbeats change nothing here."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from trellis.api.core.node import NodeSpec
from trellis.api.core.pod import Amounts
from trellis.api.meta import Object, Resource, Value

HOSTNAME = "kubernetes.io/hostname"


class Allocatable(Value, frozen=True, kw_only=True):
    allocatable: Amounts = field(default_factory=dict)


class ScheduledNode(Object, frozen=True, kw_only=True):
    """A node."""

    resource: ClassVar = Resource("", "v1", "Node", "nodes", namespaced=False)

    spec: NodeSpec = NodeSpec()
    status: Allocatable = Allocatable()


class Namespace(Object, frozen=True, kw_only=True):
    """A namespace: only its labels matter, for terms that select namespaces."""

    resource: ClassVar = Resource("", "v1", "Namespace", "namespaces", namespaced=False)
