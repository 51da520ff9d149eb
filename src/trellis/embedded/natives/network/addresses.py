# SPDX-License-Identifier: Apache-2.0
"""The addresses and node ports of services: which ranges they come from, and which are taken."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import FieldError, invalid
from trellis.embedded.refusals import internal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.asking import Object
    from trellis.embedded.served import Circumstances

RANGE = ipaddress.ip_network("10.0.0.0/16")
PORTS = range(30000, 32768)
# The lower part is left to those who name their address, as the server does.
_FIRST_DRAWN = 256
_TRIES = 64


def allocate(spec: dict[str, Any], about: Circumstances) -> None:
    """Draws the address and the ports that the service has not named."""
    if not spec.get("clusterIP") and not spec.get("clusterIPs"):
        address = _drawn_address(about)
        spec["clusterIP"], spec["clusterIPs"] = address, [address]
    elif not spec.get("clusterIP"):
        spec["clusterIP"] = spec["clusterIPs"][0]
    if not _with_node_ports(spec):
        return
    used = {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}
    lacking = [port for port in spec.get("ports") or () if not port.get("nodePort")]
    health = spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"
    if lacking or (health and not spec.get("healthCheckNodePort")):
        used |= {number for other in _others(about) for number in _node_ports(other)}
        for port in lacking:
            port["nodePort"] = _drawn_port(about, used)
        if health and not spec.get("healthCheckNodePort"):
            spec["healthCheckNodePort"] = _drawn_port(about, used)


def _with_node_ports(spec: dict[str, Any]) -> bool:
    kind = spec.get("type")
    balanced = kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is not False
    return kind == "NodePort" or balanced


def _drawn_address(about: Circumstances) -> str:
    taken = {address for other in _others(about) for address in _addresses(other)}
    for _ in range(_TRIES):
        offset = about.random.randrange(_FIRST_DRAWN, RANGE.num_addresses - 1)
        address = str(RANGE[offset])
        if address not in taken:
            return address
    for offset in range(1, RANGE.num_addresses - 1):
        if (address := str(RANGE[offset])) not in taken:
            return address
    raise internal("failed to allocate a serviceIP: range is full")


def _drawn_port(about: Circumstances, used: set[int]) -> int:
    for _ in range(_TRIES):
        port: int = about.random.randrange(PORTS.start, PORTS.stop)
        if port not in used:
            used.add(port)
            return port
    free = next((port for port in PORTS if port not in used), None)
    if free is None:
        raise internal("failed to allocate a nodePort: range is full")
    used.add(free)
    return free


def allocation_problems(service: Object, about: Circumstances) -> list[FieldError]:
    """Addresses and ports that a service names, but that it cannot have."""
    spec = service["spec"]
    errors: list[FieldError] = []
    addresses = [each for each in _addresses(service) if ipaddress.ip_address(each).version == 4]
    others = [other for other in _others(about) if not _same(other, service)]
    taken = {address for other in others for address in _addresses(other)}
    for address in addresses:
        why = ""
        if ipaddress.ip_address(address) not in RANGE:
            why = "the provided network does not match the current range"
        elif address in taken:
            why = "provided IP is already allocated"
        if why:
            detail = f"failed to allocate IP {address}: {why}"
            errors.append(invalid("spec.clusterIPs", spec["clusterIPs"], detail))
    used = {number for other in others for number in _node_ports(other)}
    for position, port in enumerate(spec.get("ports") or ()):
        number = port.get("nodePort") or 0
        at = f"spec.ports[{position}].nodePort"
        if number and number not in PORTS:
            detail = (
                "provided port is not in the valid range. The range of valid ports is "
                f"{PORTS.start}-{PORTS.stop - 1}"
            )
            errors.append(invalid(at, number, detail))
        elif number in used:
            errors.append(invalid(at, number, "provided port is already allocated"))
    return errors


def _others(about: Circumstances) -> Iterator[Object]:
    """All services that are stored; the reader gives the list of a kind for an empty name."""
    found = about.read("", "services", "", "") if about.read is not None else None
    yield from (found or {}).get("items") or ()


def _same(one: Object, other: Object) -> bool:
    names = ("name", "namespace")
    return all(one["metadata"].get(n) == other["metadata"].get(n) for n in names)


def _addresses(service: Object) -> list[str]:
    listed = (service.get("spec") or {}).get("clusterIPs") or []
    return [address for address in listed if address != "None"]


def _node_ports(service: Object) -> Iterator[int]:
    spec = service.get("spec") or {}
    yield from (port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort"))
    if health := spec.get("healthCheckNodePort"):
        yield health
