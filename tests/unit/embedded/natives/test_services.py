# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ipaddress
from typing import Any

import pytest

from tests.conformance.natives import SERVICE
from tests.unit.embedded.natives.desk import PROBE, Desk
from trellis.embedded.natives.network.addresses import PORTS, RANGE
from trellis.embedded.patches import merge_patch
from trellis.embedded.refusals import Refusal


def _made(desk: Desk, name: str = "a", **spec: Any) -> dict[str, Any]:
    body = SERVICE.new(PROBE, {"spec": spec})
    body["metadata"]["name"] = name
    made = desk.create(SERVICE, body)
    made["metadata"]["resourceVersion"] = "1"
    desk.stored["", "services", PROBE.ns, name] = made
    return made


def test_addresses_and_ports_are_never_given_twice() -> None:
    desk = Desk()
    made = [_made(desk, f"s{number}", type="NodePort") for number in range(200)]
    addresses = [each["spec"]["clusterIP"] for each in made]
    ports = [each["spec"]["ports"][0]["nodePort"] for each in made]
    assert len(set(addresses)) == len(set(ports)) == 200
    assert all(ipaddress.ip_address(address) in RANGE for address in addresses)
    assert all(port in PORTS for port in ports)


def test_the_same_seed_gives_the_same_address() -> None:
    assert _made(Desk(seed=3))["spec"] == _made(Desk(seed=3))["spec"]


def test_a_range_that_is_nearly_full_still_gives_what_is_left() -> None:
    desk = Desk()
    full = [{"nodePort": number} for number in PORTS if number != 31000]
    taken = {"metadata": {"name": "all", "namespace": "x"}, "spec": {"ports": full}}
    desk.stored["", "services", "x", "all"] = taken
    assert _made(desk, type="NodePort")["spec"]["ports"][0]["nodePort"] == 31000


def test_a_named_address_that_is_taken_is_refused() -> None:
    desk = Desk()
    first = _made(desk)["spec"]["clusterIP"]
    with pytest.raises(Refusal, match=f"failed to allocate IP {first}: provided IP is already"):
        _made(desk, "b", clusterIP=first)


def test_an_update_keeps_address_and_node_ports_that_it_leaves_out() -> None:
    desk = Desk()
    old = _made(desk, type="NodePort")
    plain = {"clusterIP": None, "clusterIPs": None, "ports": [{"port": 80}]}
    new = desk.change(SERVICE, old, merge_patch(old, {"spec": plain}))
    assert new["spec"] == old["spec"]


def test_a_change_of_type_drops_what_the_new_one_cannot_have() -> None:
    desk = Desk()
    old = _made(desk, type="LoadBalancer", externalTrafficPolicy="Local")
    new = desk.change(SERVICE, old, merge_patch(old, {"spec": {"type": "ClusterIP"}}))
    assert "nodePort" not in new["spec"]["ports"][0]
    gone = {"healthCheckNodePort", "externalTrafficPolicy", "allocateLoadBalancerNodePorts"}
    assert not gone & new["spec"].keys()
    named = {"type": "ExternalName", "externalName": "example.com"}
    assert "clusterIP" not in desk.change(SERVICE, old, merge_patch(old, {"spec": named}))["spec"]


def test_a_service_that_becomes_a_node_port_gets_its_ports() -> None:
    desk = Desk()
    old = _made(desk)
    new = desk.change(SERVICE, old, merge_patch(old, {"spec": {"type": "NodePort"}}))
    assert new["spec"]["ports"][0]["nodePort"] in PORTS
    assert new["spec"]["clusterIP"] == old["spec"]["clusterIP"]
