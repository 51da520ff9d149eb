# SPDX-License-Identifier: Apache-2.0
"""Node and Lease as a kubelet writes them. Pure: the time is a parameter."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.api.meta import Resource, to_micro_time, to_seconds
from trellis.embedded.nodes import chance
from trellis.embedded.nodes.faults import PREFIX, NodeState
from trellis.embedded.nodes.slices import slice_name

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from trellis.embedded.nodes.expanding import NodePlan

SIMULATED = f"{PREFIX}/node"
"""The label of every object that is made here: what has it may be removed by us."""
GPUS = f"{PREFIX}/gpus"
"""The annotation that lists the addresses of a node's cards."""
CONTENT = f"{PREFIX}/content"
"""The annotation by which a later run knows whether an object is as it would make it."""
TAINT = {"key": SIMULATED, "value": "true", "effect": "NoSchedule"}
LEASES = Resource("coordination.k8s.io", "v1", "Lease", "leases")
LEASE_NAMESPACE = "kube-node-lease"
LEASE_SECONDS = 40
KUBELET = "v1.36.3"
READY_MESSAGE = "kubelet is posting ready status"
_PRESSURES = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}
_WELL = NodeState()
_DIGEST = 16

Json = dict[str, Any]


def node(plan: NodePlan, now: datetime, *, tainted: bool = False) -> Json:
    """As a kubelet registers it: with its status."""
    machine = plan.machine
    labels = {
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": machine.arch,
        **plan.labels,
        SIMULATED: "true",
    }
    network = f"{plan.pod_network}.0/24"
    status = node_status(plan, now)
    content = {"labels": labels, **status, "conditions": None}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": plan.name,
            "labels": labels,
            "annotations": {
                GPUS: ",".join(gpu.address for gpu in machine.gpus),
                CONTENT: digest_of(content),
            },
        },
        "spec": {
            "podCIDR": network,
            "podCIDRs": [network],
            "providerID": f"trellis://{plan.name}",
            **({"taints": [TAINT]} if tainted else {}),
        },
        "status": status,
    }


def digest_of(content: Json) -> str:
    return chance.digest(msgspec.json.encode(content).decode())[:_DIGEST]


def node_status(plan: NodePlan, now: datetime, state: NodeState = _WELL) -> Json:
    return {
        **amounts(plan, state),
        "conditions": conditions(now),
        "addresses": [
            {"type": "InternalIP", "address": plan.host_ip},
            {"type": "Hostname", "address": plan.name},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": _info(plan),
    }


def conditions(now: datetime) -> list[Json]:
    """Of a node that is well."""
    stamp = to_seconds(now).isoformat().replace("+00:00", "Z")
    found = [_condition(type_, "False", *why, stamp=stamp) for type_, why in _PRESSURES.items()]
    return [*found, _condition("Ready", "True", "KubeletReady", READY_MESSAGE, stamp=stamp)]


def amounts(plan: NodePlan, state: NodeState = _WELL) -> Json:
    """Capacity counts the cards that are there, allocatable those that are well."""
    machine = plan.machine
    common = {
        "cpu": machine.cpu,
        "memory": machine.memory,
        "pods": str(machine.pods),
        "ephemeral-storage": "1Ti",
    }
    if not machine.publish.device_plugin or machine.driver is None or not machine.gpus:
        return {"capacity": common, "allocatable": common}
    there = _resources(plan, (g.address for g in machine.gpus if not state.card(g.address).removed))
    well = _resources(plan, (g.address for g in machine.gpus if state.card(g.address).healthy))
    return {"capacity": common | there, "allocatable": common | well}


def lease(plan: NodePlan, uid: str, now: datetime) -> Json:
    return {
        "apiVersion": LEASES.api_version,
        "kind": LEASES.kind,
        "metadata": {
            "name": plan.name,
            "labels": {SIMULATED: "true"},
            "ownerReferences": [_owner(plan, uid)],
        },
        "spec": {"holderIdentity": plan.name, "leaseDurationSeconds": LEASE_SECONDS} | renewal(now),
    }


def renewal(now: datetime) -> Json:
    return {"renewTime": to_micro_time(now)}


def resource_slice(plan: NodePlan, driver: str, uid: str, spec: Json, resource: Resource) -> Json:
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {
            "name": slice_name(plan, driver),
            "labels": {SIMULATED: "true"},
            "annotations": {CONTENT: digest_of({"uid": uid, "devices": spec["devices"]})},
            "ownerReferences": [{**_owner(plan, uid), "controller": True}],
        },
        "spec": spec,
    }


def _resources(plan: NodePlan, addresses: Iterable[str]) -> dict[str, str]:
    """What the device plugin offers of those cards. One that all cards left stays, as zero."""
    counts: Counter[str] = Counter()
    for gpu in plan.machine.gpus:
        for name in [f"nvidia.com/mig-{mig.profile}" for mig in gpu.mig] or ["nvidia.com/gpu"]:
            counts[name] += 0
    chosen = set(addresses)
    for gpu in plan.machine.gpus:
        if gpu.address in chosen:
            counts.update({f"nvidia.com/mig-{mig.profile}": mig.count for mig in gpu.mig})
            counts["nvidia.com/gpu"] += 0 if gpu.mig else 1
    return {name: str(number) for name, number in counts.items()}


def _info(plan: NodePlan) -> Json:
    machine = plan.machine
    identity = chance.uuid(plan.seed, plan.name, "machine")
    return {
        "architecture": machine.arch,
        "bootID": chance.uuid(plan.seed, plan.name, "boot"),
        "containerRuntimeVersion": "containerd://2.1.0",
        "kernelVersion": machine.kernel,
        "kubeProxyVersion": "",
        "kubeletVersion": KUBELET,
        "machineID": identity.replace("-", ""),
        "operatingSystem": "linux",
        "osImage": f"{machine.os.id.capitalize()} {machine.os.version_id}",
        "systemUUID": identity,
    }


def _condition(type_: str, status: str, reason: str, message: str, *, stamp: str) -> Json:
    return {
        "type": type_,
        "status": status,
        "reason": reason,
        "message": message,
        "lastHeartbeatTime": stamp,
        "lastTransitionTime": stamp,
    }


def _owner(plan: NodePlan, uid: str) -> Json:
    return {"apiVersion": "v1", "kind": "Node", "name": plan.name, "uid": uid}
