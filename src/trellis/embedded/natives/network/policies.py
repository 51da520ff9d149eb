# SPDX-License-Identifier: Apache-2.0
"""Network policies, ingresses and their classes, endpoints and their slices."""

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
    too_many,
)
from trellis.embedded.natives.metadata import immutable
from trellis.embedded.natives.pod.probes import validate_port
from trellis.embedded.natives.selectors import validate_selector
from trellis.embedded.natives.strategy import Native
from trellis.embedded.natives.syntax import (
    check,
    cidr,
    dns_label,
    dns_subdomain,
    is_http_path,
    is_ip,
    label_key,
    port_name,
    wildcard_subdomain,
)

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.served import Circumstances

_PROTOCOLS = ("TCP", "UDP", "SCTP")
_SORTED_PROTOCOLS = ("SCTP", "TCP", "UDP")
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_CLASS_ANNOTATION = "kubernetes.io/ingress.class"


class NetworkPolicies(Native):
    def default(self, new: Object) -> None:
        spec = new.setdefault("spec", {})
        for direction in ("ingress", "egress"):
            for rule in spec.get(direction) or ():
                for port in rule.get("ports") or ():
                    port.setdefault("protocol", "TCP")
        if not spec.get("policyTypes"):
            spec["policyTypes"] = ["Ingress", *(["Egress"] if spec.get("egress") else [])]

    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        errors = validate_selector(spec.get("podSelector"), "spec.podSelector")
        for direction, peers in (("ingress", "from"), ("egress", "to")):
            for position, rule in enumerate(spec.get(direction) or ()):
                at = f"spec.{direction}[{position}]"
                for index, port in enumerate(rule.get("ports") or ()):
                    errors += _policy_port(port, f"{at}.ports[{index}]")
                for index, peer in enumerate(rule.get(peers) or ()):
                    errors += _peer(peer, f"{at}.{peers}[{index}]")
        types = spec.get("policyTypes") or []
        if len(types) > 2:
            detail = "may not specify more than two policyTypes"
            return [*errors, invalid("spec.policyTypes", types, detail)]
        return errors + [
            not_supported(f"spec.policyTypes[{position}]", each, ("Ingress", "Egress"))
            for position, each in enumerate(types)
            if each not in {"Ingress", "Egress"}
        ]


def _policy_port(port: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    protocol, number = port.get("protocol"), port.get("port")
    if protocol is not None and protocol not in _PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    if number is not None:
        errors += validate_port(number, f"{path}.port")
    if (end := port.get("endPort")) is not None:
        at = f"{path}.endPort"
        if number is None:
            detail = "may not be specified when `port` is not specified"
            errors.append(invalid(at, end, detail))
        elif isinstance(number, str):
            errors.append(invalid(at, end, "may not be specified when `port` is non-numeric"))
        elif end < number:
            errors.append(invalid(at, end, "must be greater than or equal to `port`"))
    return errors


def _peer(peer: dict[str, Any], path: str) -> list[FieldError]:
    errors = validate_selector(peer.get("podSelector"), f"{path}.podSelector")
    errors += validate_selector(peer.get("namespaceSelector"), f"{path}.namespaceSelector")
    block = peer.get("ipBlock")
    if block is not None:
        errors += _block(block, f"{path}.ipBlock")
    present = [
        n for n in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(n) is not None
    ]
    if not present:
        errors.append(required(path, "must specify a peer"))
    elif len(present) > 1 and block is not None:
        errors.append(forbidden(path, "may not specify both ipBlock and another peer"))
    return errors


def _block(block: dict[str, Any], path: str) -> list[FieldError]:
    whole = block.get("cidr") or ""
    if not whole:
        return [required(f"{path}.cidr")]
    errors = check(cidr, f"{path}.cidr", whole)
    for position, part in enumerate(block.get("except") or ()):
        at = f"{path}.except[{position}]"
        found = check(cidr, at, part)
        errors += found
        if not found and not check(cidr, "", whole) and not _inside(part, whole):
            errors.append(invalid(at, part, "must be a strict subset of `cidr`"))
    return errors


def _inside(part: str, whole: str) -> bool:
    inner = ipaddress.ip_network(part, strict=False)
    outer = ipaddress.ip_network(whole, strict=False)
    if inner.version != outer.version or inner.prefixlen <= outer.prefixlen:
        return False
    return inner.network_address in outer


class Ingresses(Native):
    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        errors: list[FieldError] = []
        if not spec.get("rules") and spec.get("defaultBackend") is None:
            detail = "either `defaultBackend` or `rules` must be specified"
            errors.append(invalid("spec", spec.get("rules"), detail))
        if (backend := spec.get("defaultBackend")) is not None:
            errors += _backend(backend, "spec.defaultBackend")
        for position, rule in enumerate(spec.get("rules") or ()):
            errors += _rule(rule, f"spec.rules[{position}]")
        for position, each in enumerate(spec.get("tls") or ()):
            for index, host in enumerate(each.get("hosts") or ()):
                errors += _host(host, f"spec.tls[{position}].hosts[{index}]")
        if (name := spec.get("ingressClassName")) is not None:
            errors += check(dns_subdomain, "spec.ingressClassName", name)
        return errors

    def validate_create(self, new: Object, about: Circumstances) -> list[FieldError]:
        errors = super().validate_create(new, about)
        told = (new["metadata"].get("annotations") or {}).get(_CLASS_ANNOTATION)
        name = (new.get("spec") or {}).get("ingressClassName")
        if told is not None and name is not None and told != name:
            detail = "must match `ingressClassName` when both are specified"
            errors.append(invalid(f"annotations.{_CLASS_ANNOTATION}", told, detail))
        return errors


def _host(host: str, path: str) -> list[FieldError]:
    return check(wildcard_subdomain if "*" in host else dns_subdomain, path, host)


def _rule(rule: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if host := rule.get("host"):
        if is_ip(host):
            errors.append(invalid(f"{path}.host", host, "must be a DNS name, not an IP address"))
        else:
            errors += _host(host, f"{path}.host")
    if (http := rule.get("http")) is not None:
        if not http.get("paths"):
            errors.append(required(f"{path}.http.paths"))
        for position, each in enumerate(http.get("paths") or ()):
            errors += _path(each, f"{path}.http.paths[{position}]")
    return errors


def _path(each: dict[str, Any], path: str) -> list[FieldError]:
    kind, text = each.get("pathType"), each.get("path") or ""
    if kind is None:
        return [required(f"{path}.pathType", "pathType must be specified")]
    if kind in {"Exact", "Prefix"}:
        errors = _strict_path(text, f"{path}.path")
    elif kind == "ImplementationSpecific":
        loose = not text or text.startswith("/")
        errors = [] if loose else [invalid(f"{path}.path", text, "must be an absolute path")]
    else:
        errors = [not_supported(f"{path}.pathType", kind, _PATH_TYPES)]
    return errors + _backend(each.get("backend") or {}, f"{path}.backend")


def _strict_path(text: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if not text.startswith("/"):
        errors.append(invalid(path, text, "must be an absolute path"))
    for bad in ("//", "/./", "/../", "%2f", "%2F"):
        if bad in text:
            errors.append(invalid(path, text, f"must not contain '{bad}'"))
    for bad in ("/..", "/."):
        if text.endswith(bad):
            errors.append(invalid(path, text, f"cannot end with '{bad}'"))
    return errors


def _backend(backend: dict[str, Any], path: str) -> list[FieldError]:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        return [invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        missing = [name for name in ("kind", "name") if not resource.get(name)]
        return [required(f"{path}.resource.{name}") for name in missing]
    if service is None:
        return [required(path, "must specify a service or a resource backend")]
    at, port = f"{path}.service", service.get("port") or {}
    name = service.get("name") or ""
    errors = check(dns_label, f"{at}.name", name) if name else [required(f"{at}.name")]
    if port.get("name") and port.get("number"):
        errors.append(invalid(path, "", "cannot set both port name & port number"))
    elif port.get("name"):
        errors += check(port_name, f"{at}.port.name", port["name"])
    elif port.get("number"):
        errors += validate_port(port["number"], f"{at}.port.number")
    else:
        errors.append(required(path, "port name or number is required"))
    return errors


class IngressClasses(Native):
    def default(self, new: Object) -> None:
        parameters = (new.get("spec") or {}).get("parameters")
        if parameters is not None:
            parameters["scope"] = parameters.get("scope") or "Cluster"

    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        errors: list[FieldError] = []
        controller = spec.get("controller") or ""
        if len(controller) > 250:
            at = "spec.controller"
            errors.append(invalid(at, controller, "may not be more than 250 bytes"))
        errors += validate_controller(controller, "spec.controller")
        if (parameters := spec.get("parameters")) is not None:
            at = "spec.parameters"
            errors += [required(f"{at}.{n}") for n in ("kind", "name") if not parameters.get(n)]
            scope, namespace = parameters.get("scope"), parameters.get("namespace")
            if scope not in {"Cluster", "Namespace"}:
                errors.append(not_supported(f"{at}.scope", scope, ("Cluster", "Namespace")))
            if scope == "Namespace" and not namespace:
                detail = "`parameters.scope` is set to 'Namespace'"
                errors.append(required(f"{at}.namespace", detail))
            if scope == "Cluster" and namespace is not None:
                detail = "`parameters.scope` is set to 'Cluster'"
                errors.append(forbidden(f"{at}.namespace", detail))
        return errors

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        fresh, stored = new["spec"].get("controller"), old["spec"].get("controller")
        return immutable("spec.controller", fresh, stored) + self.check(new)


def validate_controller(name: str, path: str) -> list[FieldError]:
    if not name:
        return [required(path)]
    host, _, rest = name.partition("/")
    if not host or not rest:
        detail = 'must be a domain-prefixed path (such as "acme.io/foo")'
        return [invalid(path, name, detail)]
    errors = check(dns_subdomain, path, host)
    if not is_http_path(rest):
        errors.append(invalid(path, rest, "Invalid path"))
    return errors


class EndpointSlices(Native):
    def default(self, new: Object) -> None:
        for port in new.get("ports") or ():
            port.setdefault("name", "")
            port.setdefault("protocol", "TCP")

    def changed(self, new: Object, old: Object) -> bool:
        fresh, stored = ({**held, "metadata": _counted(held)} for held in (new, old))
        return fresh != stored

    def check(self, new: Object) -> list[FieldError]:
        kind = new.get("addressType") or ""
        errors: list[FieldError] = []
        if not kind:
            errors.append(required("addressType"))
        elif kind not in _ADDRESS_TYPES:
            errors.append(not_supported("addressType", kind, _ADDRESS_TYPES))
        endpoints = new.get("endpoints") or []
        if len(endpoints) > 1000:
            errors.append(too_many("endpoints", len(endpoints), 1000))
        for position, endpoint in enumerate(endpoints):
            errors += _endpoint(endpoint, kind, f"endpoints[{position}]")
        names: set[str] = set()
        for position, port in enumerate(new.get("ports") or ()):
            name = port.get("name") or ""
            if name in names:
                errors.append(duplicate(f"ports[{position}].name", name))
            names.add(name)
            protocol = port.get("protocol")
            if protocol not in _SORTED_PROTOCOLS:
                at = f"ports[{position}].protocol"
                errors.append(not_supported(at, protocol, _SORTED_PROTOCOLS))
        return errors

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        fixed = immutable("addressType", new.get("addressType"), old.get("addressType"))
        return self.check(new) + fixed


def _counted(held: Object) -> dict[str, Any]:
    """Of the metadata, what makes a new generation of a slice: its labels."""
    return dict(held["metadata"].get("labels") or {})


def _endpoint(endpoint: dict[str, Any], kind: str, path: str) -> list[FieldError]:
    addresses = endpoint.get("addresses") or []
    errors: list[FieldError] = []
    if not addresses:
        errors.append(required(f"{path}.addresses", "must contain at least 1 address"))
    elif len(addresses) > 100:
        errors.append(too_many(f"{path}.addresses", len(addresses), 100))
    for position, address in enumerate(addresses):
        at = f"{path}.addresses[{position}]"
        if kind == "FQDN":
            errors += check(dns_subdomain, at, address)
        elif kind in {"IPv4", "IPv6"} and not _of_family(address, kind):
            errors.append(invalid(at, address, f"must be an {kind} address"))
    if (host := endpoint.get("hostname")) is not None:
        errors += check(dns_label, f"{path}.hostname", host)
    for key in endpoint.get("deprecatedTopology") or {}:
        errors += check(label_key, f"{path}.deprecatedTopology", key)
    return errors


def _of_family(address: str, kind: str) -> bool:
    return is_ip(address) and f"IPv{ipaddress.ip_address(address).version}" == kind


class Endpoints(Native):
    def default(self, new: Object) -> None:
        for subset in new.get("subsets") or ():
            for port in subset.get("ports") or ():
                port.setdefault("protocol", "TCP")
