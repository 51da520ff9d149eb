# SPDX-License-Identifier: Apache-2.0
"""How a person asks for faults: by annotations, which the simulator follows wherever it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import structs

from trellis.embedded.nodes.bodies import GPUS, SIMULATED
from trellis.embedded.nodes.faults import ON_NODE, ON_POD, PodFault, read_node, written
from trellis.embedded.nodes.pods import PODS, KubeletNode, KubeletPod
from trellis.kube.codec import encode
from trellis.kube.errors import NotFound
from trellis.kube.verbs import merge_patch

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.api.meta import Key
    from trellis.embedded.nodes.faults import NodeFault
    from trellis.kube.client import Client


class CannotStrike(Exception):
    """What was to be struck is not there, or is not simulated."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an order leaves on a node: the faults that are there from then on."""

    faults: tuple[NodeFault, ...]


async def strike_node(
    client: Client, name: str, fault: NodeFault, until: datetime | None = None
) -> Change:
    """Adds a fault to a node; one of the same kind on the same card is replaced."""
    node = await _node(client, name)
    if fault.gpu and fault.gpu not in _cards(node):
        cards = ", ".join(_cards(node)) or "none"
        raise CannotStrike(f"node {name} has no card {fault.gpu}; it has {cards}")
    present = read_node(node.metadata.annotations.get(ON_NODE, "[]"))
    kept = tuple(one for one in present if _about(one) != _about(fault))
    return await _write(client, node, (*kept, structs.replace(fault, until=until)))


async def heal_node(client: Client, name: str, gpu: str = "") -> Change:
    """Takes all faults out: of one card, or of the node and all its cards."""
    node = await _node(client, name)
    present = read_node(node.metadata.annotations.get(ON_NODE, "[]"))
    kept = tuple(one for one in present if gpu and one.gpu != gpu)
    return await _write(client, node, kept)


async def strike_pod(client: Client, key: Key, fault: PodFault) -> None:
    """Ends a container of a pod."""
    pods = client.of(PODS, KubeletPod, key.namespace)
    try:
        pod = await pods.get(key.name)
    except NotFound:
        raise CannotStrike(f"there is no pod {key}") from None
    names = [one.name for one in (*pod.spec.containers, *pod.spec.init_containers)]
    if fault.container and fault.container not in names:
        raise CannotStrike(
            f"pod {key} has no container {fault.container}; it has {', '.join(names)}"
        )
    if not pod.spec.node_name:
        raise CannotStrike(f"pod {key} runs nowhere yet")
    await _node(client, pod.spec.node_name)
    annotations = {ON_POD: encode(fault).decode()}
    await pods.patch(key.name, merge_patch({"metadata": {"annotations": annotations}}))


async def _node(client: Client, name: str) -> KubeletNode:
    try:
        node = await client.of(KubeletNode.resource, KubeletNode).get(name)
    except NotFound:
        raise CannotStrike(f"there is no node {name}") from None
    if SIMULATED not in node.metadata.labels:
        raise CannotStrike(f"node {name} is real: it has not the label {SIMULATED}")
    return node


async def _write(client: Client, node: KubeletNode, faults: tuple[NodeFault, ...]) -> Change:
    annotations = {ON_NODE: written(faults) if faults else None}
    version = node.metadata.resource_version
    patch = merge_patch({"metadata": {"annotations": annotations, "resourceVersion": version}})
    await client.of(KubeletNode.resource, bytes).patch(node.metadata.name, patch)
    return Change(faults)


def _cards(node: KubeletNode) -> list[str]:
    return [one for one in node.metadata.annotations.get(GPUS, "").split(",") if one]


def _about(fault: NodeFault) -> tuple[str, ...]:
    """What tells one fault of a node from another: the card, and which fields speak."""
    kinds = ("vanish", "slow_images", "xid", "removed", "dcgm")
    return (fault.gpu, *(kind for kind in kinds if getattr(fault, kind)))
