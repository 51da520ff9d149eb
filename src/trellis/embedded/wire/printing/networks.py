# SPDX-License-Identifier: Apache-2.0
"""Rows of services and what leads to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.wire.printing.values import (
    NONE,
    UNKNOWN,
    Object,
    age,
    at,
    default_mark,
    labels_text,
    name,
    row,
    selected,
    some,
)

if TYPE_CHECKING:
    from datetime import datetime

_DEFAULT = ("ingressclass.kubernetes.io/is-default-class",)


def service(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    addresses = spec.get("clusterIPs") or [NONE]
    ports = ",".join(_service_port(port) for port in spec.get("ports") or ())
    return [
        name(obj),
        spec.get("type", ""),
        addresses[0],
        _external(obj, spec),
        ports or NONE,
        age(obj, now),
        labels_text(spec.get("selector")),
    ]


def _service_port(port: Object) -> str:
    outside = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port', 0)}{outside}/{port.get('protocol', '')}"


def _external(obj: Object, spec: Object) -> str:
    own = spec.get("externalIPs") or []
    kind = spec.get("type")
    if kind == "ExternalName":
        return str(spec.get("externalName", ""))
    if kind == "LoadBalancer":
        given = _balancers(obj)
        return ",".join([*(given.split(",") if given else ()), *own]) or "<pending>"
    if kind in ("ClusterIP", "NodePort"):
        return ",".join(own) or NONE
    return UNKNOWN


def _balancers(obj: Object) -> str:
    listed = at(obj, "status", "loadBalancer", "ingress", default=())
    return ",".join(
        sorted({each.get("ip") or each.get("hostname") or "" for each in listed} - {""})
    )


def ingress(obj: Object, now: datetime) -> list[Any]:
    rules = at(obj, "spec", "rules", default=())
    hosts = [rule["host"] for rule in rules if rule.get("host")]
    shown = ",".join(hosts[:3]) or "*"
    if len(hosts) >= 3 and len(rules) > 3:
        shown += f" + {len(rules) - 3} more..."
    return [
        name(obj),
        at(obj, "spec", "ingressClassName", default=NONE),
        shown,
        _balancers(obj),
        "80, 443" if at(obj, "spec", "tls") else "80",
        age(obj, now),
    ]


def _parameters(obj: Object, _: datetime) -> str:
    found = at(obj, "spec", "parameters")
    if not found:
        return NONE
    group = f".{found['apiGroup']}" if found.get("apiGroup") else ""
    return f"{found.get('kind', '')}{group}/{found.get('name', '')}"


ingress_class = default_mark(row("spec.controller", _parameters, age), _DEFAULT)


def endpoints(obj: Object, now: datetime) -> list[Any]:
    found = [
        f"{address.get('ip', '')}:{port.get('port', 0)}" if port else address.get("ip", "")
        for subset in obj.get("subsets") or ()
        for port in subset.get("ports") or (None,)
        for address in subset.get("addresses") or ()
    ]
    return [name(obj), some(found, empty="" if obj.get("subsets") else NONE), age(obj, now)]


def endpoint_slice(obj: Object, now: datetime) -> list[Any]:
    ports = [str(each.get("port") or each.get("name") or "*") for each in obj.get("ports") or ()]
    addresses = [
        address for each in obj.get("endpoints") or () for address in each.get("addresses") or ()
    ]
    return [
        name(obj),
        obj.get("addressType", ""),
        some(ports),
        some(addresses),
        age(obj, now),
    ]


network_policy = row(selected("spec.podSelector"), age)
cidrs = row(lambda obj, _: ",".join(at(obj, "spec", "cidrs", default=())), age)


def ip_address(obj: Object, now: datetime) -> list[Any]:
    parent = at(obj, "spec", "parentRef")
    shown = NONE
    if parent:
        group = f".{parent['group']}" if parent.get("group") else ""
        place = [f"{parent.get('resource', '')}{group}".lower(), parent.get("namespace", "")]
        shown = "/".join([*filter(None, place), parent.get("name", "")])
    return [name(obj), shown, age(obj, now)]
