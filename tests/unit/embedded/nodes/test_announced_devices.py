# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.support.virtual import START
from tests.unit.embedded.nodes.builders import e2_node, tiny_node
from trellis.embedded.nodes import bodies, slices
from trellis.embedded.nodes.expanding import NodePlan, expand
from trellis.embedded.nodes.faults import CardState, NodeState
from trellis.embedded.nodes.loading import load, ready_made

MIG_FLEET = """\
nodes:
- name: cut
  driver: {version: 550.54.15, cuda: "12.4"}
  gpus:
  - address: 0000:17:00.0
    model: A100-SXM4-80GB
    mig: [{profile: 1g.10gb, count: 2}, {profile: 3g.40gb}]
  - {address: 0000:31:00.0, model: A100-SXM4-80GB}
"""


def cut_node() -> NodePlan:
    return expand(load(MIG_FLEET))[0]


def state(**cards: CardState) -> NodeState:
    addresses = {"first": "0000:17:00.0", "second": "0000:65:00.0"}
    return NodeState(cards={addresses[name]: card for name, card in cards.items()})


def names(devices: list[dict[str, Any]]) -> list[str]:
    return [device["name"] for device in devices]


def test_a_card_has_the_attributes_that_nvidias_driver_publishes() -> None:
    plan = e2_node()
    device = slices.devices(plan, slices.GPUS)[0]
    assert device == {
        "name": "gpu-0",
        "attributes": {
            "addressingMode": {"string": "HMM"},
            "architecture": {"string": "Ampere"},
            "brand": {"string": "Nvidia"},
            "cudaComputeCapability": {"version": "8.0.0"},
            "cudaDriverVersion": {"version": "12.4.0"},
            "driverVersion": {"version": "550.54.15"},
            "productName": {"string": "NVIDIA A100-SXM4-80GB"},
            "resource.kubernetes.io/pciBusID": {"string": "0000:17:00.0"},
            "resource.kubernetes.io/pcieRoot": {"string": "pci0000:16"},
            "type": {"string": "gpu"},
            "uuid": {"string": plan.uuid(plan.machine.gpus[0])},
        },
        "capacity": {"memory": {"value": "81920Mi"}},
    }


def test_a_driver_version_has_no_leading_zeros() -> None:
    device = slices.devices(expand(ready_made("dgx-1k"), 1)[0], slices.GPUS)[0]
    assert device["attributes"]["driverVersion"] == {"version": "570.124.6"}


def test_a_card_that_is_cut_is_published_in_its_slices() -> None:
    devices = slices.devices(cut_node(), slices.GPUS)
    assert names(devices) == [
        "gpu-0-mig-1g10gb-0",
        "gpu-0-mig-1g10gb-1",
        "gpu-0-mig-3g40gb-2",
        "gpu-1",
    ]
    third = devices[2]
    assert third["attributes"]["profile"] == {"string": "3g.40gb"}
    assert third["attributes"]["type"] == {"string": "mig"}
    assert sorted(third["capacity"]) == [
        "memory",
        "memorySlice2",
        "memorySlice3",
        "memorySlice4",
        "memorySlice5",
        "multiprocessors",
    ]
    uuids = [device["attributes"]["uuid"]["string"] for device in devices]
    assert len(set(uuids)) == 4


def test_the_device_plugin_offers_slices_of_each_profile_and_whole_cards() -> None:
    amounts = bodies.amounts(cut_node())["allocatable"]
    assert {name: number for name, number in amounts.items() if "nvidia" in name} == {
        "nvidia.com/mig-1g.10gb": "2",
        "nvidia.com/mig-3g.40gb": "1",
        "nvidia.com/gpu": "1",
    }


@pytest.mark.parametrize(
    ("ill", "capacity", "allocatable", "published"),
    [
        pytest.param(NodeState(), "2", "2", ["gpu-0", "gpu-1"], id="all well"),
        pytest.param(state(first=CardState(xid=79)), "2", "1", ["gpu-1"], id="fatal Xid"),
        pytest.param(
            state(first=CardState(xid=31)), "2", "2", ["gpu-0", "gpu-1"], id="Xid of a program"
        ),
        pytest.param(state(second=CardState(removed=True)), "1", "1", ["gpu-0"], id="removed"),
        pytest.param(
            state(first=CardState(removed=True), second=CardState(removed=True)),
            "0",
            "0",
            [],
            id="all removed, and zero is still said",
        ),
    ],
)
def test_cards_that_are_not_well_are_counted_and_published_no_more(
    ill: NodeState, capacity: str, allocatable: str, published: list[str]
) -> None:
    plan = e2_node()
    amounts = bodies.amounts(plan, ill)
    assert amounts["capacity"]["nvidia.com/gpu"] == capacity
    assert amounts["allocatable"]["nvidia.com/gpu"] == allocatable
    assert names(slices.devices(plan, slices.GPUS, ill)) == published


def test_a_node_without_a_driver_shows_no_cards() -> None:
    plan = expand(load("nodes: [{name: a, gpus: [{address: 0000:17:00.0, model: L4}]}]"))[0]
    assert slices.drivers(plan) == ()
    assert "nvidia.com/gpu" not in bodies.amounts(plan)["capacity"]


def test_nodes_of_an_nvlink_rack_publish_a_channel_and_a_daemon() -> None:
    plan = expand(ready_made("nvl72"), 1)[0]
    assert slices.drivers(plan) == (slices.GPUS, slices.COMPUTE_DOMAINS)
    devices = slices.devices(plan, slices.COMPUTE_DOMAINS)
    assert devices == [
        {"name": "channel-0", "attributes": {"type": {"string": "channel"}, "id": {"int": 0}}},
        {"name": "daemon-0", "attributes": {"type": {"string": "daemon"}, "id": {"int": 0}}},
    ]


def test_the_first_beta_nests_what_a_device_has() -> None:
    plan = tiny_node()
    spec = slices.spec(plan, slices.GPUS, slices.devices(plan, slices.GPUS), 3)
    assert slices.in_version(spec, "v1") == spec
    device = slices.in_version(spec, "v1beta1")["devices"][0]
    assert sorted(device) == ["basic", "name"]
    assert sorted(device["basic"]) == ["attributes", "capacity"]
    assert spec["pool"] == {"name": plan.name, "generation": 3, "resourceSliceCount": 1}


@pytest.mark.parametrize("tainted", [False, True])
def test_a_node_is_born_ready_and_marked_as_simulated(*, tainted: bool) -> None:
    node = bodies.node(tiny_node(), START, tainted=tainted)
    assert node["metadata"]["labels"]["sim.trellis.dev/node"] == "true"
    ready = node["status"]["conditions"][-1]
    assert (ready["type"], ready["status"]) == ("Ready", "True")
    assert ready["lastHeartbeatTime"] == "2026-01-01T00:00:00Z"
    taints = [taint["key"] for taint in node["spec"].get("taints", [])]
    assert taints == (["sim.trellis.dev/node"] if tainted else [])
