# SPDX-License-Identifier: Apache-2.0
"""Network policies, ingresses and their classes, endpoints and their slices.

Nothing here carries traffic: defaults are whole, of the checks there are those people run into.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import FieldError, invalid, required
from trellis.embedded.natives.metadata import unchanged
from trellis.embedded.natives.pod.probes import validate_port
from trellis.embedded.natives.rules import (
    Rule,
    any_text,
    domain_path,
    every,
    needed,
    needed_choice,
    needed_text,
    one_of,
    part,
    struct,
)
from trellis.embedded.natives.selectors import validate_selector
from trellis.embedded.natives.strategy import Native
from trellis.embedded.natives.syntax import dns_label, dns_subdomain, port_name, wildcard_subdomain

if TYPE_CHECKING:
    from trellis.embedded.asking import Object


def _port(port: int | str | None, path: str) -> list[FieldError]:
    return [] if port is None else validate_port(port, path)


def _some_peer(peer: dict[str, Any], path: str) -> list[FieldError]:
    return [] if peer else [required(path, "must specify a peer")]


def _directed(peers: str) -> Rule:
    peer = every(struct(podSelector=validate_selector, namespaceSelector=validate_selector))
    ports = every(struct(protocol=one_of("TCP", "UDP", "SCTP"), port=_port))
    return every(struct(ports=ports, **{peers: (peer, every(_some_peer))}))


class NetworkPolicies(Native):
    rules = struct(
        spec=struct(
            podSelector=validate_selector,
            ingress=_directed("from"),
            egress=_directed("to"),
            policyTypes=every(one_of("Ingress", "Egress")),
        )
    )

    def default(self, new: Object) -> None:
        spec = new.setdefault("spec", {})
        for direction in ("ingress", "egress"):
            for rule in spec.get(direction) or ():
                for port in rule.get("ports") or ():
                    port.setdefault("protocol", "TCP")
        if not spec.get("policyTypes"):
            spec["policyTypes"] = ["Ingress", *(["Egress"] if spec.get("egress") else [])]


def _backend(backend: dict[str, Any] | None, path: str) -> list[FieldError]:
    service, resource = (backend or {}).get("service"), (backend or {}).get("resource")
    if resource is not None:
        return []
    if service is None:
        return [required(path, "must specify a service or a resource backend")]
    errors = needed_text(dns_label)(service.get("name"), f"{path}.service.name")
    port = service.get("port") or {}
    if port.get("name"):
        return errors + any_text(port_name)(port["name"], f"{path}.service.port.name")
    if port.get("number"):
        return errors + validate_port(port["number"], f"{path}.service.port.number")
    return [*errors, required(path, "port name or number is required")]


def _host(host: str | None, path: str) -> list[FieldError]:
    if not host:
        return []
    return any_text(wildcard_subdomain if "*" in host else dns_subdomain)(host, path)


def _path(each: dict[str, Any], path: str) -> list[FieldError]:
    kind, text = each.get("pathType"), each.get("path") or ""
    if kind is None:
        return [required(f"{path}.pathType", "pathType must be specified")]
    errors = one_of("Exact", "ImplementationSpecific", "Prefix")(kind, f"{path}.pathType")
    free = kind == "ImplementationSpecific" and not text
    if not errors and not free and not text.startswith("/"):
        errors = [invalid(f"{path}.path", text, "must be an absolute path")]
    return errors + _backend(each.get("backend"), f"{path}.backend")


def _some_rule(spec: dict[str, Any], path: str) -> list[FieldError]:
    if spec.get("rules") or spec.get("defaultBackend") is not None:
        return []
    detail = "either `defaultBackend` or `rules` must be specified"
    return [invalid(path, spec.get("rules"), detail)]


class Ingresses(Native):
    rules = part(
        spec=(
            _some_rule,
            struct(
                defaultBackend=lambda value, path: [] if value is None else _backend(value, path),
                rules=every(struct(host=_host, http=struct(paths=(needed(), every(_path))))),
            ),
        )
    )


class IngressClasses(Native):
    rules = struct(spec=part(controller=domain_path))

    def default(self, new: Object) -> None:
        parameters = (new.get("spec") or {}).get("parameters")
        if parameters is not None:
            parameters["scope"] = parameters.get("scope") or "Cluster"

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        return unchanged(new, old, "spec.controller") + self.check(new)


class EndpointSlices(Native):
    rules = struct(addressType=needed_choice("FQDN", "IPv4", "IPv6"))

    def default(self, new: Object) -> None:
        for port in new.get("ports") or ():
            port.setdefault("name", "")
            port.setdefault("protocol", "TCP")

    def changed(self, new: Object, old: Object) -> bool:
        """Of the metadata, its labels make a new generation of a slice."""
        fresh, stored = (
            {**held, "metadata": held["metadata"].get("labels") or {}} for held in (new, old)
        )
        return fresh != stored

    def check_update(self, new: Object, old: Object) -> list[FieldError]:
        return self.check(new) + unchanged(new, old, "addressType")


class Endpoints(Native):
    def default(self, new: Object) -> None:
        for subset in new.get("subsets") or ():
            for port in subset.get("ports") or ():
                port.setdefault("protocol", "TCP")
