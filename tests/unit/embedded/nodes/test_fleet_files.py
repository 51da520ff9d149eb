# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from importlib.resources import files

import pytest

from tests.unit.embedded.nodes.builders import E2_FLEET
from trellis.embedded.nodes import schema
from trellis.embedded.nodes.expanding import TooFewNodes, expand
from trellis.embedded.nodes.loading import READY_MADE, InvalidFleet, load, ready_made

SIZES = {"tiny": (4, 16), "nvl72": (144, 576), "dgx-1k": (1000, 8000), "dgx-10k": (10_000, 80_000)}


@pytest.mark.parametrize("name", READY_MADE)
def test_ready_made_fleets_have_the_nodes_and_cards_of_their_name(name: str) -> None:
    plans = expand(ready_made(name))
    assert (len(plans), sum(len(plan.machine.gpus) for plan in plans)) == SIZES[name]
    assert len({plan.name for plan in plans}) == len(plans)
    assert len({plan.host_ip for plan in plans}) == len(plans)
    assert len({plan.pod_network for plan in plans}) == len(plans)


def test_the_form_of_the_gpu_specification_loads_as_it_is() -> None:
    fleet = load(E2_FLEET)
    node = fleet.nodes[0]
    assert (node.name, node.kernel, node.os.id, node.os.version_id) == (
        "worker-01",
        "6.8.0-45-generic",
        "ubuntu",
        "22.04",
    )
    assert node.driver is not None
    assert (node.driver.version, node.driver.cuda, node.driver.toolkit) == (
        "550.54.15",
        "12.4",
        True,
    )
    assert [(gpu.address, gpu.device, gpu.class_, gpu.model) for gpu in node.gpus] == [
        ("0000:17:00.0", "20b2", "0302", "A100-SXM4-80GB"),
        ("0000:65:00.0", "26b9", "0302", "L40S"),
    ]
    first, second = fleet.faults
    assert (first.at, first.node, first.gpu, first.xid) == (
        "120s",
        "worker-01",
        "0000:17:00.0",
        79,
    )
    assert (second.at, second.dcgm, second.for_) == ("300s", "down", "90s")


def test_a_pci_address_without_quotes_stays_what_was_written() -> None:
    text = "nodes: [{name: a, gpus: [{address: 0000:17:00.0, model: L4}]}]"
    assert load(text).nodes[0].gpus[0].address == "0000:17:00.0"


NODE = "nodes: [{{name: a, {}}}]"
CARD = "nodes: [{{name: a, gpus: [{{address: 0000:17:00.0, model: L4, {}}}]}}]"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("[", "line 1, column 2: ", id="no YAML"),
        pytest.param("x", "the file: 'x' is not a fleet; write a mapping", id="no mapping"),
        pytest.param("{}", "has no nodes; add nodes: or groups:", id="no nodes"),
        pytest.param("nods: []", "nods: [] is not known; did you mean nodes?", id="unknown key"),
        pytest.param(
            "nodes: [{name: A_b}]", "nodes[0].name: 'A_b' must be lower-case", id="bad node name"
        ),
        pytest.param(
            "nodes: [{name: a}, {name: a}]", "nodes: 'a' is there 2 times", id="node twice"
        ),
        pytest.param(
            NODE.format("labels: {a: 1}"),
            "nodes[0].labels.a: 1 is not a string; put it in quotes",
            id="label of a number",
        ),
        pytest.param(
            NODE.format("labels: [a]"),
            "nodes[0].labels: ['a'] is not a mapping; write key: value",
            id="labels as a list",
        ),
        pytest.param(
            NODE.format("labels: {a b: c}"), "nodes[0].labels.a b: 'a b' must be", id="bad key"
        ),
        pytest.param(
            NODE.format("labels: {a: ' '}"), "nodes[0].labels.a: ' ' must be", id="bad value"
        ),
        pytest.param(
            NODE.format("memory: lots"),
            "nodes[0].memory: 'lots' is no quantity; write it like 64, 500m or 512Gi",
            id="memory of words",
        ),
        pytest.param(
            NODE.format("driver: {version: 550.54}"),
            "nodes[0].driver.version: 550.54 is not a string; put it in quotes",
            id="version of a number",
        ),
        pytest.param(
            NODE.format("driver: {version: latest}"),
            "nodes[0].driver.version: 'latest' is no version",
            id="version of words",
        ),
        pytest.param(
            NODE.format("gpus: [{address: '17', model: L4}]"),
            "nodes[0].gpus[0].address: '17' is no PCI address; write domain:bus:device.function",
            id="bad address",
        ),
        pytest.param(
            NODE.format("gpus: [{address: 0000:17:00.0, model: X9}]"),
            "nodes[0].gpus[0].model: 'X9' is no known model; add memory: to it, or use one of",
            id="unknown model",
        ),
        pytest.param(
            CARD.format("device: 2330"),
            "nodes[0].gpus[0].device: 2330 is not a string; put it in quotes",
            id="device of digits without quotes",
        ),
        pytest.param(
            CARD.format("device: xyz"),
            "nodes[0].gpus[0].device: 'xyz' is no PCI id; write four digits of hex",
            id="device that is not hex",
        ),
        pytest.param(
            CARD.replace("L4", "B200").format("mig: [{profile: big}]"),
            "nodes[0].gpus[0].mig[0].profile: 'big' is no MIG profile",
            id="bad profile",
        ),
        pytest.param(
            CARD.format("mig: [{profile: 1g.5gb}]"),
            "nodes[0].gpus[0].mig: 'L4' cannot be cut into slices; remove mig:",
            id="MIG on a card without it",
        ),
        pytest.param(
            "nodes: [{name: a, gpus: [{address: 0000:17:00.0, model: B200,"
            " mig: [{profile: 3g.90gb, count: 3}]}]}]",
            "nodes[0].gpus[0].mig: 9 slices are more than a card has; use at most 7 in all",
            id="too many MIG slices",
        ),
        pytest.param(
            "groups: [{name: a, shape: b}]",
            "groups[0].shape: 'b' is no shape; use one of shapes: none is there yet",
            id="unknown shape",
        ),
        pytest.param(
            "shapes: [{name: s}]\ngroups: [{name: a, shape: s, racks: 200, nodes: 100}]",
            "groups: 20000 are too many nodes; use at most 16384",
            id="too many nodes",
        ),
        pytest.param(
            "shapes: [{name: s}]\ngroups: [{name: a, shape: s, clique: zone}]",
            "groups[0].clique: 'zone' is not allowed; use one of ",
            id="unknown clique",
        ),
        pytest.param(
            "nodes: [{name: a}]\nfaults: [{at: soon, node: a, vanish: true}]",
            "faults[0].at: 'soon' is no time from the start; write it like 120s",
            id="fault at no time",
        ),
        pytest.param(
            "nodes: [{name: a}]\nfaults: [{at: 1s, node: a}]",
            "faults[0]: '1s' says nothing that can go wrong there; a pod's is",
            id="fault without harm",
        ),
        pytest.param(
            "nodes: [{name: a}]\nfaults: [{at: 1s, vanish: true}]",
            "faults[0]: '' names not one place; give node: or pod:",
            id="fault nowhere",
        ),
        pytest.param(
            "nodes: [{name: a}]\nfaults: [{at: 1s, node: b, vanish: true}]",
            "faults[0].node: 'b' is no node; name a node of this fleet",
            id="fault of a node that is not there",
        ),
        pytest.param(
            CARD.format("class: '0302'") + "\nfaults: [{at: 1s, node: a, gpu: b, xid: 79}]",
            "faults[0].gpu: 'b' is no card there; the node has 0000:17:00.0",
            id="fault of a card that is not there",
        ),
        pytest.param(
            "nodes: [{name: a}]\nfaults: [{at: 1s, pod: x, crash: true}]",
            "faults[0].pod: 'x' is no pod; write it as namespace/name",
            id="fault of a pod without namespace",
        ),
    ],
)
def test_a_bad_fleet_file_is_told_by_path_value_and_remedy(text: str, said: str) -> None:
    with pytest.raises(InvalidFleet) as caught:
        load(text)
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_all_faults_of_a_file_are_told_at_once() -> None:
    with pytest.raises(InvalidFleet) as caught:
        load("nodes: [{name: A, cpu: many}, {name: b, memory: none}]")
    assert len(str(caught.value).splitlines()) == 3


def test_ten_thousand_nodes_are_thirty_lines() -> None:
    text = (files("trellis.embedded.nodes") / "fleets" / "dgx-10k.yaml").read_text()
    assert len(text.splitlines()) <= 30


def test_the_committed_schema_is_what_the_types_say() -> None:
    committed = (files("trellis.embedded.nodes") / schema.FILE).read_text()
    assert committed == schema.text(), (
        "write it anew: python -m trellis.embedded.nodes.schema"
        " > src/trellis/embedded/nodes/fleet.schema.json"
    )


def test_racks_blocks_and_zones_are_labels_of_the_topology() -> None:
    plans = expand(
        load(
            "shapes: [{name: s}]\ngroups: [{name: g, shape: s, zones: [x, y], blocks: 2, racks: 2}]"
        )
    )
    levels = [
        tuple(plan.labels[f"topology.kubernetes.io/{level}"] for level in ("zone", "block", "rack"))
        for plan in plans
    ]
    assert levels == [
        ("x", "g-b01", "g-r001"),
        ("x", "g-b01", "g-r002"),
        ("x", "g-b02", "g-r003"),
        ("x", "g-b02", "g-r004"),
        ("y", "g-b03", "g-r005"),
        ("y", "g-b03", "g-r006"),
        ("y", "g-b04", "g-r007"),
        ("y", "g-b04", "g-r008"),
    ]
    assert all(plan.labels["kubernetes.io/hostname"] == plan.name for plan in plans)


def test_the_trays_of_a_rack_share_one_nvlink_clique() -> None:
    plans = expand(ready_made("nvl72"))
    by_rack: dict[str, set[str]] = {}
    for plan in plans:
        rack = plan.labels["topology.kubernetes.io/rack"]
        by_rack.setdefault(rack, set()).add(plan.labels["nvidia.com/gpu.clique"])
    assert len(by_rack) == 8
    assert all(len(cliques) == 1 for cliques in by_rack.values())
    assert len({next(iter(cliques)) for cliques in by_rack.values()}) == 8


@pytest.mark.parametrize(
    ("wanted", "last"),
    [
        pytest.param(3, "tiny-r002-n01", id="fewer than the fleet has"),
        pytest.param(7, "tiny-r004-n01", id="more, by further racks"),
    ],
)
def test_so_many_nodes_of_a_fleet_can_be_asked_for(wanted: int, last: str) -> None:
    plans = expand(ready_made("tiny"), wanted)
    assert (len(plans), plans[-1].name) == (wanted, last)


def test_nodes_written_out_one_by_one_cannot_become_more() -> None:
    with pytest.raises(
        TooFewNodes, match=r"the fleet has 1 nodes, .* and 5 are wanted; add a group"
    ):
        expand(load(E2_FLEET), 5)


def test_uuids_follow_seed_node_and_address_alone() -> None:
    one, two = expand(ready_made("tiny"))[:2]
    card = one.machine.gpus[0]
    assert one.uuid(card) == expand(ready_made("tiny"), 40)[0].uuid(card)
    assert one.uuid(card) != two.uuid(card)
    assert one.uuid(card) != one.uuid(one.machine.gpus[1])
