# SPDX-License-Identifier: Apache-2.0
"""Service: the headless ones by which pods find each other."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from trellis.api.meta import Object, Resource, Value

HEADLESS = "None"


class ServicePort(Value, frozen=True, kw_only=True):
    """A port, by name or number."""

    name: str = ""
    port: int
    target_port: int | str | None = None
    protocol: str = ""


class ServiceSpec(Value, frozen=True, kw_only=True):
    """Which pods it stands for."""

    cluster_ip: str = field(name="clusterIP", default="")
    selector: dict[str, str] = field(default_factory=dict)
    ports: tuple[ServicePort, ...] = ()
    publish_not_ready_addresses: bool = False


class Service(Object, frozen=True, kw_only=True):
    """A Service."""

    resource: ClassVar = Resource("", "v1", "Service", "services")

    spec: ServiceSpec = ServiceSpec()
