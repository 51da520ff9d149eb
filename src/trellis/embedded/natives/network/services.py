# SPDX-License-Identifier: Apache-2.0
"""Services: their defaults, the addresses and ports they are given, and what must hold of them."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from trellis.embedded.natives.goforms import printed
from trellis.embedded.natives.metadata import validate_labels
from trellis.embedded.natives.network.addresses import (
    allocate,
    allocation_problems,
)
from trellis.embedded.natives.pod.probes import validate_port
from trellis.embedded.natives.strategy import Native, keep
from trellis.embedded.natives.syntax import (
    check,
    dns_label,
    dns_subdomain,
    ip_address,
    is_ip,
    label_key,
    port_number,
)

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.served import Circumstances

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_INTERNAL = ("ClusterIP", "LoadBalancer", "NodePort")
_AFFINITIES = ("ClientIP", "None")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_FAMILIES = ("IPv4", "IPv6")
_FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_THREE_HOURS = 10800
_DAY = 86400


class Services(Native):
    def default(self, new: Object) -> None:
        spec = new.setdefault("spec", {})
        kind = spec["type"] = spec.get("type") or "ClusterIP"
        _default_affinity(spec)
        for port in spec.get("ports") or ():
            port["protocol"] = port.get("protocol") or "TCP"
            if port.get("targetPort") in {None, 0, ""}:
                port["targetPort"] = port.get("port") or 0
        if _external(spec) and not spec.get("externalTrafficPolicy"):
            spec["externalTrafficPolicy"] = "Cluster"
        if kind in _INTERNAL and spec.get("internalTrafficPolicy") is None:
            spec["internalTrafficPolicy"] = "Cluster"
        if kind == "LoadBalancer":
            spec.setdefault("allocateLoadBalancerNodePorts", True)
            _default_ingress(new.get("status") or {})

    def prepare_create(self, new: Object, about: Circumstances) -> None:
        super().prepare_create(new, about)
        spec = new["spec"]
        if spec.get("clusterIP") and not spec.get("clusterIPs"):
            spec["clusterIPs"] = [spec["clusterIP"]]
        self._complete(new, about)

    def prepare_update(self, new: Object, old: Object, about: Circumstances) -> None:
        super().prepare_update(new, old, about)
        if not about.subresource:
            self._complete(new, about)

    def prepare_main(self, new: Object, old: Object) -> None:
        fresh, stored = new["spec"], old["spec"]
        _normalise(fresh, stored)
        if _addressed(fresh) and _addressed(stored):
            if not fresh.get("clusterIP") and stored.get("clusterIP"):
                for name in ("clusterIP", "clusterIPs"):
                    keep(fresh, stored, name)
            _keep_ports(fresh, stored)
        _drop_what_is_of_the_old_type(fresh, stored)

    def _complete(self, new: Object, about: Circumstances) -> None:
        spec = new["spec"]
        if spec["type"] not in _INTERNAL:
            return
        _families(spec)
        allocate(spec, about)

    def validate_create(self, new: Object, about: Circumstances) -> list[FieldError]:
        errors = super().validate_create(new, about)
        return errors or allocation_problems(new, about)

    def validate_update(self, new: Object, old: Object, about: Circumstances) -> list[FieldError]:
        errors = super().validate_update(new, old, about)
        return errors or ([] if about.subresource else allocation_problems(new, about))

    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        errors = _ports(spec)
        errors += _type(spec)
        if selector := spec.get("selector"):
            errors += validate_labels(selector, "spec.selector")
        errors += _affinity(spec)
        errors += _cluster_ips(spec)
        for position, address in enumerate(spec.get("externalIPs") or ()):
            errors += check(ip_address, f"spec.externalIPs[{position}]", address)
        return errors + _traffic(spec)

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        fresh, stored = new["spec"], old["spec"]
        errors: list[FieldError] = []
        if "ExternalName" not in {fresh["type"], stored["type"]}:
            errors += _kept_addresses(fresh.get("clusterIPs") or [], stored.get("clusterIPs") or [])
        return errors + self.check(new)


def _default_affinity(spec: dict[str, Any]) -> None:
    affinity = spec["sessionAffinity"] = spec.get("sessionAffinity") or "None"
    if affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    elif affinity == "ClientIP":
        client = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        if client.get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": _THREE_HOURS}}


def _default_ingress(status: dict[str, Any]) -> None:
    for ingress in (status.get("loadBalancer") or {}).get("ingress") or ():
        if ingress.get("ip"):
            ingress.setdefault("ipMode", "VIP")


def _external(spec: dict[str, Any]) -> bool:
    kind = spec.get("type")
    cluster = kind == "ClusterIP" and bool(spec.get("externalIPs"))
    return cluster or kind in {"LoadBalancer", "NodePort"}


def _addressed(spec: dict[str, Any]) -> bool:
    return spec.get("type") in _INTERNAL


def is_headless(spec: dict[str, Any]) -> bool:
    return (spec.get("clusterIPs") or [])[:1] == ["None"]


def _normalise(fresh: dict[str, Any], stored: dict[str, Any]) -> None:
    """The list follows the single address where only that one was changed, and is cleared too."""
    single, several = fresh.get("clusterIP") or "", fresh.get("clusterIPs") or []
    if single != (stored.get("clusterIP") or "") and several == (stored.get("clusterIPs") or []):
        if single:
            fresh["clusterIPs"] = [single]
        else:
            fresh.pop("clusterIPs", None)
            fresh.pop("clusterIP", None)
    elif single and not several:
        fresh["clusterIPs"] = [single]


def _keep_ports(fresh: dict[str, Any], stored: dict[str, Any]) -> None:
    """Ports that were given a node port keep it when a client leaves it out."""
    if fresh["type"] not in {"NodePort", "LoadBalancer"}:
        return
    given = {
        (port.get("protocol"), port.get("port")): port["nodePort"]
        for port in stored.get("ports") or ()
        if port.get("nodePort")
    }
    taken = {port.get("nodePort") for port in fresh.get("ports") or ()}
    for port in fresh.get("ports") or ():
        before = given.get((port.get("protocol"), port.get("port")))
        if not port.get("nodePort") and before and before not in taken:
            port["nodePort"] = before
    if _needs_health_check(fresh) and not fresh.get("healthCheckNodePort"):
        keep(fresh, stored, "healthCheckNodePort")


def _drop_what_is_of_the_old_type(fresh: dict[str, Any], stored: dict[str, Any]) -> None:
    """A change of type takes along what only the old type has, unless it was changed too."""
    kind = fresh["type"]
    if kind == stored["type"]:
        return
    named = kind == "ExternalName"
    foreign = {
        **dict.fromkeys(("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"), named),
        "externalTrafficPolicy": not _external(fresh),
        "healthCheckNodePort": not _needs_health_check(fresh),
        "allocateLoadBalancerNodePorts": kind != "LoadBalancer",
        "loadBalancerClass": kind != "LoadBalancer",
    }
    for name, goes in foreign.items():
        if goes and fresh.get(name) == stored.get(name):
            fresh.pop(name, None)
    if kind == "ClusterIP" and _node_ports(fresh) == _node_ports(stored):
        for port in fresh.get("ports") or ():
            port.pop("nodePort", None)


def _node_ports(spec: dict[str, Any]) -> list[Any]:
    return [port.get("nodePort") for port in spec.get("ports") or ()]


def _needs_health_check(spec: dict[str, Any]) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _families(spec: dict[str, Any]) -> None:
    """Which families of addresses: those asked for, else the cluster's one."""
    headless = is_headless(spec)
    if headless and not spec.get("selector") and not spec.get("ipFamilies"):
        spec.setdefault("ipFamilyPolicy", "RequireDualStack")
    policy = spec.get("ipFamilyPolicy")
    if not spec.get("ipFamilies"):
        both = headless and not spec.get("selector") and policy != "SingleStack"
        spec["ipFamilies"] = ["IPv4", "IPv6"] if both else [_family(spec)]
    if policy is None:
        dual = len(spec["ipFamilies"]) > 1
        spec["ipFamilyPolicy"] = "RequireDualStack" if dual else "SingleStack"


def _family(spec: dict[str, Any]) -> str:
    first = (spec.get("clusterIPs") or [""])[0]
    six = is_ip(first) and ipaddress.ip_address(first).version == 6
    return "IPv6" if six else "IPv4"


def _ports(spec: dict[str, Any]) -> list[FieldError]:
    ports = spec.get("ports") or []
    errors: list[FieldError] = []
    if not ports and not is_headless(spec) and spec.get("type") != "ExternalName":
        errors.append(required("spec.ports"))
    names: set[str] = set()
    pairs: set[tuple[Any, Any]] = set()
    node_ports: set[tuple[Any, Any]] = set()
    for position, port in enumerate(ports):
        at = f"spec.ports[{position}]"
        errors += _port(port, names, at, named=len(ports) > 1)
        if on_node := port.get("nodePort"):
            if spec.get("type") == "ClusterIP":
                detail = "may not be used when `type` is 'ClusterIP'"
                errors.append(forbidden(f"{at}.nodePort", detail))
            if (port.get("protocol"), on_node) in node_ports:
                errors.append(duplicate(f"{at}.nodePort", on_node))
            node_ports.add((port.get("protocol"), on_node))
        pair = (port.get("protocol"), port.get("port") or 0)
        if pair in pairs:
            shown = printed("core.ServicePort", {"protocol": pair[0], "port": pair[1]})
            errors.append(duplicate(at, shown))
        pairs.add(pair)
    return errors


def _port(port: dict[str, Any], names: set[str], path: str, *, named: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    name, number = port.get("name") or "", port.get("port") or 0
    if name:
        errors += check(dns_label, f"{path}.name", name)
        if name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.add(name)
    elif named:
        errors.append(required(f"{path}.name"))
    errors += [invalid(f"{path}.port", number, problem) for problem in port_number(number)]
    protocol = port.get("protocol") or ""
    if protocol not in _PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    errors += validate_port(port.get("targetPort", 0), f"{path}.targetPort")
    if (application := port.get("appProtocol")) is not None:
        errors += check(label_key, f"{path}.appProtocol", application)
    return errors


def _type(spec: dict[str, Any]) -> list[FieldError]:
    kind = spec.get("type") or ""
    errors: list[FieldError] = []
    if kind not in _TYPES:
        errors.append(not_supported("spec.type", kind, _TYPES))
    if kind in {"LoadBalancer", "NodePort"} and is_headless(spec):
        detail = f"may not be set to 'None' for {kind} services"
        errors.append(invalid("spec.clusterIPs[0]", "None", detail))
    if kind == "ExternalName":
        for name in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if spec.get(name):
                detail = "may not be set for ExternalName services"
                errors.append(forbidden(f"spec.{name}", detail))
        name = (spec.get("externalName") or "").removesuffix(".")
        at = "spec.externalName"
        errors += check(dns_subdomain, at, name) if name else [required(at)]
    elif spec.get("allocateLoadBalancerNodePorts") is not None and kind != "LoadBalancer":
        detail = "may only be used when `type` is 'LoadBalancer'"
        errors.append(forbidden("spec.allocateLoadBalancerNodePorts", detail))
    return errors


def _affinity(spec: dict[str, Any]) -> list[FieldError]:
    affinity = spec.get("sessionAffinity") or ""
    if affinity not in _AFFINITIES:
        return [not_supported("spec.sessionAffinity", affinity, _AFFINITIES)]
    if affinity == "None":
        return []
    client = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
    seconds = client.get("timeoutSeconds") or 0
    if 0 < seconds <= _DAY:
        return []
    at = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
    return [invalid(at, seconds, f"must be greater than 0 and less than {_DAY}")]


def _cluster_ips(spec: dict[str, Any]) -> list[FieldError]:
    if spec.get("type") == "ExternalName":
        return []
    single, several = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    at = "spec.clusterIPs"
    errors: list[FieldError] = []
    if single and (not several or several[0] != single):
        errors.append(invalid(at, several, "first value must match `clusterIP`"))
    if several and not single:
        detail = "must be empty when `clusterIP` is not specified"
        errors.append(invalid(at, several, detail))
    seen: set[str] = set()
    for position, family in enumerate(spec.get("ipFamilies") or ()):
        if family not in _FAMILIES:
            errors.append(not_supported(f"spec.ipFamilies[{position}]", family, _FAMILIES))
        if family in seen:
            errors.append(duplicate(f"spec.ipFamilies[{position}]", family))
        seen.add(family)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in _FAMILY_POLICIES:
        errors.append(not_supported("spec.ipFamilyPolicy", policy, _FAMILY_POLICIES))
    return errors + _addresses(several, at)


def _addresses(addresses: list[str], path: str) -> list[FieldError]:
    if addresses[:1] == ["None"]:
        detail = "'None' must be the first and only value"
        return [invalid(path, addresses, detail)] if len(addresses) > 1 else []
    errors = [
        error
        for position, address in enumerate(addresses)
        for error in check(ip_address, f"{path}[{position}]", address)
    ]
    if len(addresses) > 2:
        errors.append(invalid(path, addresses, "may only hold up to 2 values"))
    if len(addresses) > 1 and not errors:
        versions = {ipaddress.ip_address(address).version for address in addresses}
        if len(versions) < 2:
            detail = "may specify no more than one IP for each IP family"
            errors.append(invalid(path, addresses, detail))
    return errors


def _kept_addresses(fresh: list[str], stored: list[str]) -> list[FieldError]:
    if fresh[:1] == stored[:1] == ["None"]:
        return []
    if stored and not fresh:
        return [invalid("spec.clusterIPs[0]", None, "primary clusterIP can not be unset")]
    return [
        invalid(f"spec.clusterIPs[{position}]", fresh, "may not change once set")
        for position, (new, old) in enumerate(zip(fresh, stored, strict=False))
        if new != old
    ]


def _traffic(spec: dict[str, Any]) -> list[FieldError]:
    errors: list[FieldError] = []
    policy, at = spec.get("externalTrafficPolicy") or "", "spec.externalTrafficPolicy"
    if not _external(spec):
        if policy:
            detail = "may only be set for externally-accessible services"
            errors.append(invalid(at, policy, detail))
    elif policy not in {"Cluster", "Local"}:
        errors.append(not_supported(at, policy, ("Cluster", "Local")) if policy else required(at))
    health = spec.get("healthCheckNodePort") or 0
    if health and not _needs_health_check(spec):
        detail = (
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        )
        errors.append(invalid("spec.healthCheckNodePort", health, detail))
    internal = spec.get("internalTrafficPolicy")
    if internal is not None and internal not in {"Cluster", "Local"}:
        at = "spec.internalTrafficPolicy"
        errors.append(not_supported(at, internal, ("Cluster", "Local")))
    spread = spec.get("trafficDistribution")
    allowed = ("PreferClose", "PreferSameZone", "PreferSameNode")
    if spread is not None and spread not in allowed:
        errors.append(not_supported("spec.trafficDistribution", spread, allowed))
    return errors
