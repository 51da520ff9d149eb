# SPDX-License-Identifier: Apache-2.0
"""Claims, slices and classes of devices (`resource.k8s.io/v1`) by what a scheduler reads of them.

What goes back to the cluster is kept raw: configuration of drivers, attributes of devices.
"""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import field

from trellis.api.core.resourceclaim import GROUP, ClaimConsumer
from trellis.api.meta import Object, Resource, Value
from trellis.embedded.scheduling.pods import NodeSelector, Toleration

EXACT = "ExactCount"
ALL = "All"
FINALIZER = "resource.kubernetes.io/delete-protection"


class Cel(Value, frozen=True, kw_only=True):
    expression: str


class Selector(Value, frozen=True, kw_only=True):
    cel: Cel = Cel(expression="false")


class Ask(Value, frozen=True, kw_only=True):
    """So many devices of a class: the `exactly` of a request, or one of its alternatives."""

    device_class_name: str
    name: str = ""
    selectors: tuple[Selector, ...] = ()
    allocation_mode: str = EXACT
    count: int = 1
    admin_access: bool | None = None
    tolerations: tuple[Toleration, ...] = ()


class Request(Value, frozen=True, kw_only=True):
    name: str
    exactly: Ask | None = None
    first_available: tuple[Ask, ...] = ()

    @property
    def asks(self) -> list[tuple[str, Ask]]:
        """What would do for it, the best first, each with the name that its devices are told by."""
        exactly = [(self.name, self.exactly)] if self.exactly else []
        return [*exactly, *((f"{self.name}/{one.name}", one) for one in self.first_available)]


class Constraint(Value, frozen=True, kw_only=True):
    """On the devices of all requests, or of those that are named."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class ClaimDevices(Value, frozen=True, kw_only=True):
    requests: tuple[Request, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    config: tuple[dict[str, Any], ...] = ()


class ClaimSpec(Value, frozen=True, kw_only=True):
    devices: ClaimDevices = ClaimDevices()


class Result(Value, frozen=True, kw_only=True):
    """A device that was given."""

    request: str
    driver: str
    pool: str
    device: str
    admin_access: bool | None = None
    tolerations: tuple[Toleration, ...] = ()


class Results(Value, frozen=True, kw_only=True):
    results: tuple[Result, ...] = ()
    config: tuple[dict[str, Any], ...] = ()


class Allocation(Value, frozen=True, kw_only=True):
    """What was given, and on which nodes it can be used; None: on all."""

    devices: Results = Results()
    node_selector: NodeSelector | None = None


class ClaimStatus(Value, frozen=True, kw_only=True):
    allocation: Allocation | None = None
    reserved_for: tuple[ClaimConsumer, ...] = ()


class Claim(Object, frozen=True, kw_only=True):
    """A ResourceClaim."""

    resource: ClassVar = Resource(GROUP, "v1", "ResourceClaim", "resourceclaims")

    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()


class ClassSpec(Value, frozen=True, kw_only=True):
    selectors: tuple[Selector, ...] = ()
    config: tuple[dict[str, Any], ...] = ()


class DeviceClass(Object, frozen=True, kw_only=True):
    """A DeviceClass."""

    resource: ClassVar = Resource(GROUP, "v1", "DeviceClass", "deviceclasses", namespaced=False)

    spec: ClassSpec = ClassSpec()


class DeviceTaint(Value, frozen=True, kw_only=True):
    key: str
    value: str = ""
    effect: str = ""


class Device(Value, frozen=True, kw_only=True):
    """A device of a slice. One that names nodes does so in a slice that leaves them to devices."""

    name: str
    attributes: dict[str, dict[str, Any]] = field(default_factory=dict)
    capacity: dict[str, dict[str, Any]] = field(default_factory=dict)
    taints: tuple[DeviceTaint, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool = False


class Pool(Value, frozen=True, kw_only=True):
    name: str
    generation: int = 0
    resource_slice_count: int = 1


class SliceSpec(Value, frozen=True, kw_only=True):
    driver: str
    pool: Pool
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    per_device_node_selection: bool = False
    devices: tuple[Device, ...] = ()


class Slice(Object, frozen=True, kw_only=True):
    """A ResourceSlice."""

    resource: ClassVar = Resource(GROUP, "v1", "ResourceSlice", "resourceslices", namespaced=False)

    spec: SliceSpec
