# SPDX-License-Identifier: Apache-2.0
"""Scheduling gates of pods: what a gate keeps open, what lifting it allows, what stays closed."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import IMAGE, pod
from tests.conformance.probe import Probe, probe

GATE = {"name": "example.com/gate"}
OTHER = {"name": "example.com/other"}
PODS = "pods"
PATCHES = ("json", "merge", "strategic")
TOLERATION = {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}
FLAG = {"key": "zone", "operator": "In", "values": ["a", "b"]}
NARROW = {"key": "disk", "operator": "In", "values": ["ssd"]}


def _gist(body: dict[str, Any]) -> dict[str, Any]:
    """What of a pod a gate is about."""
    spec, metadata = body["spec"], body["metadata"]
    names = ("schedulingGates", "nodeSelector", "affinity", "tolerations", "nodeName")
    shown = {name: spec[name] for name in names if name in spec}
    head = {name: metadata[name] for name in ("generation", "resourceVersion") if name in metadata}
    return {**head, "spec": shown, "status": body["status"]}


def _node_affinity(*terms: list[dict[str, Any]]) -> dict[str, Any]:
    """Required node affinity with a term for each list of expressions."""
    selector = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}


def _preferred(weight: int) -> dict[str, Any]:
    term = {"weight": weight, "preference": {"matchExpressions": [FLAG]}}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}


async def _gated(p: Probe, spec: dict[str, Any] | None = None, *gates: dict[str, Any]) -> str:
    whole = {"schedulingGates": list(gates or (GATE,)), **(spec or {})}
    await p.do("POST", p.path("v1", PODS), pod("a", whole))
    return p.path("v1", PODS, "a")


def _lift(kind: str, **spec: Any) -> Any:
    """A patch of the given type that removes all gates and sets what else is given."""
    if kind == "json":
        values = [{"op": "add", "path": f"/spec/{name}", "value": spec[name]} for name in spec]
        return [{"op": "remove", "path": "/spec/schedulingGates"}, *values]
    if kind == "strategic":
        gone = [{"$patch": "delete", **GATE}]
        return {"spec": {"schedulingGates": gone, **spec}}
    return {"spec": {"schedulingGates": None, **spec}}


@probe("a gated pod is created pending, with PodScheduled False for SchedulingGated")
async def created(p: Probe) -> None:
    await p.see("POST", p.path("v1", PODS), pod("a", {"schedulingGates": [GATE, OTHER]}))


@probe("lifting a gate leaves the condition as it is and counts a generation")
async def lifted(p: Probe) -> None:
    path = await _gated(p, None, GATE, OTHER)
    one = {"spec": {"schedulingGates": [OTHER]}}
    await p.see("PATCH", path, one, patch="merge", note="one of two", pick=_gist)
    await p.see("PATCH", path, _lift("merge"), patch="merge", note="the last", pick=_gist)


@probe("a gate is lifted by a JSON, merge, strategic and apply patch and by PUT")
async def lifted_by_each(p: Probe) -> None:
    path = p.path("v1", PODS)
    for kind in PATCHES:
        await p.do("POST", path, pod(kind, {"schedulingGates": [GATE]}))
        await p.see("PATCH", f"{path}/{kind}", _lift(kind), patch=kind, pick=_gist)
    how: dict[str, Any] = {"patch": "apply", "query": {"fieldManager": "me"}}
    await p.do("PATCH", f"{path}/apply", pod("apply", {"schedulingGates": [GATE]}), **how)
    await p.see("PATCH", f"{path}/apply", pod("apply"), **how, pick=_gist)
    made = await p.do("POST", path, pod("put", {"schedulingGates": [GATE]}))
    del made["spec"]["schedulingGates"]
    await p.see("PUT", f"{path}/put", made, pick=_gist)


def _with_lift(title: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    """A probe that lifts the gate and changes more in one patch, by each type of patch."""

    @probe(title)
    async def together(p: Probe) -> None:
        path = p.path("v1", PODS)
        for kind in PATCHES:
            await p.do("POST", path, pod(kind, {"schedulingGates": [GATE], **before}))
            patch = _lift(kind, **after)
            await p.see("PATCH", f"{path}/{kind}", patch, patch=kind, pick=_gist)


_CONTAINER = {"name": "app", "image": IMAGE}
_WITH_LIFT: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("a nodeSelector may be added with the lift", {}, {"nodeSelector": {"host": "n1"}}),
    (
        "a key may be added to the nodeSelector with the lift",
        {"nodeSelector": {"a": "b"}},
        {"nodeSelector": {"a": "b", "host": "n1"}},
    ),
    (
        "a nodeSelector's value cannot change with the lift",
        {"nodeSelector": {"a": "b"}},
        {"nodeSelector": {"a": "c"}},
    ),
    (
        "a required node affinity may be added with the lift",
        {},
        {"affinity": _node_affinity([FLAG])},
    ),
    (
        "a node affinity cannot be widened by another term with the lift",
        {"affinity": _node_affinity([FLAG])},
        {"affinity": _node_affinity([FLAG], [NARROW])},
    ),
    (
        "a container's resources cannot change with the lift",
        {},
        {"containers": [{**_CONTAINER, "resources": {"requests": {"cpu": "1"}}}]},
    ),
]
for _title, _before, _after in _WITH_LIFT:
    _with_lift(_title, _before, _after)


@probe("a toleration may be added with the lift")
async def toleration_with_lift(p: Probe) -> None:
    path = p.path("v1", PODS)
    for kind in PATCHES:
        made = await p.do("POST", path, pod(kind, {"schedulingGates": [GATE]}))
        patch = _lift(kind, tolerations=[*made["spec"]["tolerations"], TOLERATION])
        await p.see("PATCH", f"{path}/{kind}", patch, patch=kind, pick=_gist)


def _while_gated(title: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    """A probe that changes a pod under its gate and, for comparison, one that never had one."""

    @probe(title)
    async def changed(p: Probe) -> None:
        path = p.path("v1", PODS)
        await p.do("POST", path, pod("gated", {"schedulingGates": [GATE], **before}))
        await p.do("POST", path, pod("free", before))
        for name in ("gated", "free"):
            await p.see("PATCH", f"{path}/{name}", {"spec": after}, patch="merge", pick=_gist)


_WHILE_GATED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "a nodeSelector may be set while gated, and not without a gate",
        {},
        {"nodeSelector": {"host": "n1"}},
    ),
    (
        "a key may be added to a nodeSelector while gated, and not without a gate",
        {"nodeSelector": {"a": "b"}},
        {"nodeSelector": {"host": "n1"}},
    ),
    (
        "a nodeSelector's value cannot change while gated",
        {"nodeSelector": {"a": "b"}},
        {"nodeSelector": {"a": "c"}},
    ),
    (
        "a nodeSelector's key cannot be removed while gated",
        {"nodeSelector": {"a": "b", "c": "d"}},
        {"nodeSelector": {"a": None}},
    ),
    (
        "a required node affinity may be set while gated, and not without a gate",
        {},
        {"affinity": _node_affinity([FLAG])},
    ),
    (
        "a node affinity's term may be narrowed by an expression while gated",
        {"affinity": _node_affinity([FLAG])},
        {"affinity": _node_affinity([FLAG, NARROW])},
    ),
    (
        "a node affinity cannot be widened by another term while gated",
        {"affinity": _node_affinity([FLAG])},
        {"affinity": _node_affinity([FLAG], [NARROW])},
    ),
    (
        "a node affinity's expression cannot change while gated",
        {"affinity": _node_affinity([FLAG])},
        {"affinity": _node_affinity([{**FLAG, "values": ["a"]}])},
    ),
    (
        "a required node affinity cannot be removed while gated",
        {"affinity": _node_affinity([FLAG])},
        {"affinity": None},
    ),
    (
        "a preferred node affinity may change while gated, and not without a gate",
        {"affinity": _preferred(1)},
        {"affinity": _preferred(9)},
    ),
    (
        "pod affinity cannot be set while gated",
        {},
        {
            "affinity": {
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}
                    ]
                }
            }
        },
    ),
    ("priority cannot change while gated", {}, {"priority": 5}),
    ("the node cannot be set by a patch, gated or not", {}, {"nodeName": "n1"}),
    ("the scheduler's name cannot change while gated", {}, {"schedulerName": "other"}),
]
for _title, _before, _after in _WHILE_GATED:
    _while_gated(_title, _before, _after)


@probe("a toleration may be added with and without a gate, and not removed")
async def tolerations(p: Probe) -> None:
    path = p.path("v1", PODS)
    for name, spec in (("gated", {"schedulingGates": [GATE]}), ("free", {})):
        made = await p.do("POST", path, pod(name, {**spec, "tolerations": [TOLERATION]}))
        more = [*made["spec"]["tolerations"], {**TOLERATION, "key": "other"}]
        patch = {"spec": {"tolerations": more}}
        await p.see("PATCH", f"{path}/{name}", patch, patch="merge", pick=_gist)
        patch = {"spec": {"tolerations": more[1:]}}
        await p.see("PATCH", f"{path}/{name}", patch, patch="merge")


@probe("after the lift a nodeSelector and an affinity cannot be set")
async def after_lift(p: Probe) -> None:
    path = await _gated(p)
    await p.do("PATCH", path, _lift("merge"), patch="merge")
    for spec in ({"nodeSelector": {"host": "n1"}}, {"affinity": _node_affinity([FLAG])}):
        await p.see("PATCH", path, {"spec": spec}, patch="merge")


@probe("a gate cannot be added, replaced or put back later")
async def never_added(p: Probe) -> None:
    await p.do("POST", p.path("v1", PODS), pod("free"))
    path = await _gated(p)
    add = {"spec": {"schedulingGates": [GATE]}}
    await p.see("PATCH", p.path("v1", PODS, "free"), add, patch="merge")
    other = {"spec": {"schedulingGates": [OTHER]}}
    await p.see("PATCH", path, other, patch="merge", note="replace")
    both = {"spec": {"schedulingGates": [GATE, OTHER]}}
    await p.see("PATCH", path, both, patch="merge", note="add to one")
    await p.do("PATCH", path, _lift("merge"), patch="merge")
    await p.see("PATCH", path, add, patch="merge", note="put back")


@probe("the status of a gated pod can change while its gate cannot by that way")
async def status(p: Probe) -> None:
    path = await _gated(p)
    patch = {"spec": {"schedulingGates": None}, "status": {"message": "waiting"}}
    await p.see("PATCH", f"{path}/status", patch, patch="merge", pick=_gist)


@probe("a gated pod with a node is refused")
async def with_node(p: Probe) -> None:
    spec = {"schedulingGates": [GATE], "nodeName": "n1"}
    await p.see("POST", p.path("v1", PODS), pod("a", spec))


@probe("gates with a bad or repeated name are refused")
async def bad_names(p: Probe) -> None:
    for gates in ([{"name": "not a name"}], [{"name": ""}], [GATE, GATE]):
        await p.see("POST", p.path("v1", PODS), pod("a", {"schedulingGates": gates}))


@probe("a gated pod cannot be bound until its gate is lifted")
async def bound(p: Probe) -> None:
    path = await _gated(p)
    body = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": f"node-{p.id}"}}
    await p.see("POST", f"{path}/binding", body)
    await p.do("PATCH", path, _lift("merge"), patch="merge")
    await p.see("POST", f"{path}/binding", body)
    await p.see("GET", path, pick=_gist)


@probe("a gated pod is deleted at once")
async def deleted(p: Probe) -> None:
    path = await _gated(p)
    await p.see("DELETE", path, pick=lambda body: body["metadata"])
    await p.see("GET", path)
