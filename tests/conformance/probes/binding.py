# SPDX-License-Identifier: Apache-2.0
"""Binding pods to nodes: what it changes and when it is refused."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import pod
from tests.conformance.probe import Probe, probe

PODS = "pods"
OTHER_UID = "00000000-0000-4000-8000-000000000001"


def _binding(name: str = "a", **changes: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "n1"},
        **changes,
    }


def _path(p: Probe, *more: str) -> str:
    return p.path("v1", PODS, "a", *more)


async def _made(p: Probe, **metadata: Any) -> dict[str, Any]:
    made: dict[str, Any] = await p.do("POST", p.path("v1", PODS), pod("a", **metadata))
    return made


@probe("a binding answers 201 Success, sets the node and PodScheduled True")
async def bound(p: Probe) -> None:
    await _made(p)
    await p.see("POST", _path(p, "binding"), _binding())
    await p.see("GET", _path(p))


@probe("POST to bindings binds the pod that its name tells")
async def by_collection(p: Probe) -> None:
    await _made(p)
    await p.see("POST", p.path("v1", "bindings"), _binding())
    await p.see("GET", _path(p))
    await p.see("GET", p.path("v1", "bindings"))


@probe("a binding's annotations and labels are copied to the pod, over what is there")
async def metadata_copied(p: Probe) -> None:
    await _made(p, annotations={"keep": "1", "x": "old"}, labels={"l": "old"})
    metadata = {
        "name": "a",
        "annotations": {"x": "new", "y": "2"},
        "labels": {"l": "new", "topology.kubernetes.io/zone": "z1", "example.com/rack": "r1"},
    }
    await p.see("POST", _path(p, "binding"), _binding(metadata=metadata))
    await p.see("GET", _path(p), pick=lambda body: body["metadata"])


@probe("a binding counts no generation and is seen by a watch as one MODIFIED")
async def watched(p: Probe) -> None:
    made = await _made(p)
    query = {"resourceVersion": made["metadata"]["resourceVersion"]}
    async with p.watch(p.path("v1", PODS), query=query) as watch:
        await p.do("POST", _path(p, "binding"), _binding())
        await watch.read(1)


@probe("a binding with the pod's uid works, with another it is a conflict")
async def uid(p: Probe) -> None:
    made = await _made(p)
    other = {"name": "a", "uid": OTHER_UID}
    await p.see("POST", _path(p, "binding"), _binding(metadata=other))
    own = {"name": "a", "uid": made["metadata"]["uid"]}
    await p.see("POST", _path(p, "binding"), _binding(metadata=own))


@probe("a binding with the pod's resourceVersion works, with another it is a conflict")
async def resource_version(p: Probe) -> None:
    made = await _made(p)
    other = {"name": "a", "resourceVersion": "1"}
    await p.see("POST", _path(p, "binding"), _binding(metadata=other))
    own = {"name": "a", "resourceVersion": made["metadata"]["resourceVersion"]}
    await p.see("POST", _path(p, "binding"), _binding(metadata=own))


@probe("a bound pod cannot be bound again, not even to the same node")
async def again(p: Probe) -> None:
    await _made(p)
    await p.do("POST", _path(p, "binding"), _binding())
    await p.see("POST", _path(p, "binding"), _binding())
    await p.see("POST", _path(p, "binding"), _binding(target={"kind": "Node", "name": "n2"}))


@probe("a pod that is not there cannot be bound")
async def missing(p: Probe) -> None:
    await p.see("POST", _path(p, "binding"), _binding())
    await p.see("POST", p.path("v1", "bindings"), _binding())


@probe("a pod that is being deleted cannot be bound")
async def deleting(p: Probe) -> None:
    await _made(p, finalizers=["example.com/keep"])
    await p.do("DELETE", _path(p))
    p.cleanup.push_async_callback(
        p.ask, "PATCH", _path(p), {"metadata": {"finalizers": None}}, patch="merge"
    )
    await p.see("POST", _path(p, "binding"), _binding())


@probe("a dry-run binding changes nothing")
async def dry_run(p: Probe) -> None:
    await _made(p)
    await p.see("POST", _path(p, "binding"), _binding(), query={"dryRun": "All"})
    await p.see("GET", _path(p), pick=lambda body: [body["spec"].get("nodeName"), body["status"]])


@probe("a binding clears the nominated node")
async def nominated(p: Probe) -> None:
    await _made(p)
    nominate = {"status": {"nominatedNodeName": "n0"}}
    await p.do("PATCH", _path(p, "status"), nominate, patch="merge")
    await p.do("POST", _path(p, "binding"), _binding())
    await p.see("GET", _path(p), pick=lambda body: body["status"])


@probe("a binding replaces the condition that said unschedulable")
async def condition(p: Probe) -> None:
    await _made(p)
    unschedulable = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "no nodes",
        "lastTransitionTime": "2020-01-01T00:00:00Z",
    }
    patch = {"status": {"conditions": [unschedulable]}}
    await p.do("PATCH", _path(p, "status"), patch, patch="strategic")
    await p.do("POST", _path(p, "binding"), _binding())
    await p.see("GET", _path(p), pick=lambda body: body["status"])


def _refused(title: str, **changes: Any) -> None:
    @probe(title)
    async def refused(p: Probe) -> None:
        await _made(p)
        await p.see("POST", _path(p, "binding"), _binding(**changes))
        await p.see("GET", _path(p), pick=lambda body: body["spec"].get("nodeName"))


_CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("a binding without a target is refused", {"target": None}),
    ("a binding to a node without a name is refused", {"target": {"kind": "Node"}}),
    ("a binding to what is not a node is refused", {"target": {"kind": "Pod", "name": "n1"}}),
    ("a binding's target may leave its kind out", {"target": {"name": "n1"}}),
    ("a binding to a bad name is accepted", {"target": {"kind": "Node", "name": "Not A Name"}}),
    ("a binding in the name of another pod is refused", {"metadata": {"name": "b"}}),
    ("a binding without a name is refused", {"metadata": {}}),
    (
        "a binding in another namespace is refused",
        {"metadata": {"name": "a", "namespace": "other"}},
    ),
    ("a binding of another kind is refused", {"kind": "Pod"}),
]
for _title, _changes in _CHANGES:
    _refused(_title, **_changes)


@probe("a binding to a node that is not there is accepted")
async def missing_node(p: Probe) -> None:
    await _made(p)
    target = {"kind": "Node", "name": f"none-{p.id}"}
    await p.see("POST", _path(p, "binding"), _binding(target=target))


@probe("the binding of a pod can only be created")
async def only_created(p: Probe) -> None:
    await _made(p)
    for method in ("GET", "PUT", "DELETE"):
        body = _binding() if method == "PUT" else None
        await p.see(method, _path(p, "binding"), body)
