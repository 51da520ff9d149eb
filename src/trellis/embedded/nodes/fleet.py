# SPDX-License-Identifier: Apache-2.0
"""The fleet file: which nodes there are, what is in them, and what goes wrong when.

`nodes` are written out one by one; `groups` are shapes times zones, blocks and racks. Field names
are those that people write, so this file is the reference; the JSON schema is made from it.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from trellis.api.meta import Value
from trellis.api.schema.marks import mark

NODES_LIMIT = 16_384
"""As many as there are /24 networks for their pods in 100.64.0.0/10."""
_COUNT = {"minimum": 1, "maximum": NODES_LIMIT}


class Mig(Value, frozen=True, kw_only=True):
    """Slices of one size that a card is cut into."""

    profile: Annotated[str, mark("As NVIDIA writes it: 1g.10gb, 3g.40gb.")]
    count: Annotated[int, mark("How many of them.", minimum=1, maximum=7)] = 1


class Gpu(Value, frozen=True, kw_only=True):
    """A card. What is left out is known from its model."""

    address: Annotated[str, mark("Its PCI address: 0000:17:00.0.")]
    model: Annotated[str, mark("The model, such as A100-SXM4-80GB.")]
    device: Annotated[str, mark("The PCI device id in hex, in quotes if only digits: '2330'.")] = ""
    class_: Annotated[str, mark("The PCI class in quotes: '0302' or '0300'.")] = field(
        default="0302", name="class"
    )
    uuid: Annotated[str, mark("The card's UUID. Made from seed, node and address without.")] = ""
    memory: Annotated[str, mark("Its memory, such as 80Gi; for models nobody knows.")] = ""
    mig: Annotated[tuple[Mig, ...], mark("The slices it is cut into. It is whole without.")] = ()


class Driver(Value, frozen=True, kw_only=True):
    """What NVIDIA software is on the node."""

    version: Annotated[str, mark("The driver's version, such as 550.54.15.")] = "580.105.08"
    cuda: Annotated[str, mark("The CUDA version that it brings, in quotes: '12.4'.")] = "13.0"
    toolkit: Annotated[bool, mark("Whether the container toolkit is there.")] = True


class Os(Value, frozen=True, kw_only=True):
    """The operating system, by the keys of /etc/os-release."""

    id: Annotated[str, mark("ubuntu, debian, …")] = field(default="ubuntu", name="ID")
    version_id: Annotated[str, mark("In quotes: '22.04'.")] = field(
        default="22.04", name="VERSION_ID"
    )


class Publish(Value, frozen=True, kw_only=True):
    """How the cards are told to the cluster."""

    device_plugin: Annotated[bool, mark("As nvidia.com/gpu in the node's allocatable.")] = True
    slices: Annotated[bool, mark("As ResourceSlices of gpu.nvidia.com.")] = True
    compute_domains: Annotated[
        bool, mark("Also the channel and daemon of compute-domain.nvidia.com.")
    ] = False


class Machine(Value, frozen=True, kw_only=True):
    """What a node is made of."""

    labels: Annotated[dict[str, str], mark("Labels of the node.")] = field(default_factory=dict)
    cpu: Annotated[str, mark("Processors, in quotes.")] = "64"
    memory: Annotated[str, mark("Memory.")] = "512Gi"
    pods: Annotated[int, mark("Most pods.", minimum=1, maximum=250)] = 110
    arch: Annotated[str, mark("The processor.", enum=["amd64", "arm64"])] = "amd64"
    kernel: Annotated[str, mark("The kernel's version.")] = "6.8.0-45-generic"
    os: Annotated[Os, mark("The operating system.")] = Os()
    modules: Annotated[tuple[str, ...], mark("Loaded kernel modules.")] = ()
    driver: Annotated[Driver | None, mark("NVIDIA software. None without.")] = None
    gpus: Annotated[tuple[Gpu, ...], mark("The cards.")] = ()
    publish: Annotated[Publish, mark("How the cards are told to the cluster.")] = Publish()


class NodeEntry(Machine, frozen=True, kw_only=True):
    """One node, written out."""

    name: Annotated[str, mark("The node's name.")]


class Shape(Machine, frozen=True, kw_only=True):
    """A machine that groups are made of."""

    name: Annotated[str, mark("What groups call it.")]


class Group(Value, frozen=True, kw_only=True):
    """Many nodes of one shape: zones times blocks times racks times nodes."""

    name: Annotated[str, mark("What the names of its nodes, racks and blocks begin with.")]
    shape: Annotated[str, mark("The shape of its nodes.")]
    region: Annotated[str, mark("topology.kubernetes.io/region of all. None without.")] = ""
    zones: Annotated[tuple[str, ...], mark("Their names: topology.kubernetes.io/zone.")] = ("a",)
    blocks: Annotated[int, mark("Blocks in each zone.", **_COUNT)] = 1
    racks: Annotated[int, mark("Racks in each block.", **_COUNT)] = 1
    nodes: Annotated[int, mark("Nodes in each rack.", **_COUNT)] = 1
    clique: Annotated[
        str, mark("What one NVLink clique spans: nvidia.com/gpu.clique.", enum=["", "rack", "node"])
    ] = ""
    labels: Annotated[dict[str, str], mark("Further labels.")] = field(default_factory=dict)


class Ailment(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is wrong with a node or with one of its cards."""

    gpu: Annotated[str, mark("The PCI address of the card that it is about.")] = ""
    vanish: Annotated[bool, mark("The node is not heard of any more.")] = False
    slow_images: Annotated[str, mark("How much longer images take here: 60s.", duration=True)] = ""
    xid: Annotated[int, mark("The card reports this Xid.", minimum=0, maximum=1000)] = 0
    removed: Annotated[bool, mark("The card is not there any more.")] = False
    dcgm: Annotated[str, mark("The exporter is silent.", enum=["", "down"])] = ""


class Fault(Ailment, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that goes wrong at a time, on a node or with a pod."""

    at: Annotated[str, mark("How long after the start: 120s.")]
    for_: Annotated[str, mark("For how long. For good without.", duration=True)] = field(
        default="", name="for"
    )
    node: Annotated[str, mark("The node.")] = ""
    pod: Annotated[str, mark("The pod, as namespace/name.")] = ""
    crash: Annotated[bool, mark("The pod's container ends with an error.")] = False
    oom: Annotated[bool, mark("The pod's container is killed for want of memory.")] = False
    container: Annotated[str, mark("Which container. The first without.")] = ""


class Fleet(Value, frozen=True, kw_only=True):
    """Everything that is simulated."""

    seed: Annotated[int, mark("What identities and jitter are made from.", minimum=0)] = 1
    shapes: Annotated[tuple[Shape, ...], mark("Machines that groups are made of.")] = ()
    groups: Annotated[tuple[Group, ...], mark("Many nodes alike.")] = ()
    nodes: Annotated[tuple[NodeEntry, ...], mark("Nodes, one by one.")] = ()
    faults: Annotated[tuple[Fault, ...], mark("What goes wrong when.")] = ()
