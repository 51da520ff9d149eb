# SPDX-License-Identifier: Apache-2.0
"""Stories with one right ending: whoever schedules, it must come out the same.

Each returns what is to be compared, names without the stage's prefix. `endings.json` has them as
the real kube-scheduler ended them; the e2e suite plays them on both and compares.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.unit.embedded.scheduling.stage import (
    CLAIMS,
    CLASSES,
    HOSTNAME,
    PODS,
    SLICES,
)
from trellis.kube.verbs import merge_patch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.unit.embedded.scheduling.stage import Body, Stage

ENDINGS: dict[str, Any] = json.loads(Path(__file__).with_name("endings.json").read_text())
GPU = "nvidia.com/gpu"
DRIVER = "gpu.example.com"


async def a_gang_of_gated_pods(stage: Stage) -> Any:
    """Gated pods stay; lifted, they fill the nodes that have just enough for them."""
    for name in "ab":
        await stage.node(name, {GPU: "2"})
    gate = [{"name": "example.com/gang"}]
    names = [f"pod-{number}" for number in range(4)]
    for name in names:
        await stage.pod(name, {GPU: "1"}, schedulingGates=gate)
    gated = [(await stage.get(name) or {})["status"]["conditions"][0]["reason"] for name in names]
    for name in names:
        await stage.lift(name)
    return gated, sorted([await stage.node_of(name) for name in names])


async def taints_keep_pods_away(stage: Stage) -> Any:
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    await stage.node("a", taints=[taint])
    await stage.node("b", taints=[{**taint, "effect": "NoExecute"}])
    await stage.node("c", unschedulable=True)
    await stage.pod("plain")
    why = await stage.why_not("plain")
    tolerant = {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}
    await stage.pod("tolerant", tolerations=[tolerant])
    return why, await stage.node_of("tolerant"), await _told(stage, "plain", "FailedScheduling")


async def gpus_run_out_and_come_back(stage: Stage) -> Any:
    for name in "ab":
        await stage.node(name, {GPU: "4"})
    for name in ("one", "two"):
        await stage.pod(name, {GPU: "3"})
    placed = sorted([await stage.node_of(name) for name in ("one", "two")])
    await stage.pod("three", {GPU: "3"})
    why = await stage.why_not("three")
    left = await stage.node_of("one")
    await stage.kill("one")
    return placed, why, await stage.node_of("three") == left


async def affinities_choose_nodes(stage: Stage) -> Any:
    for name, gen in (("a", "5"), ("b", "7"), ("c", "9")):
        await stage.node(name, labels={"gen": gen, "rack": "r1" if name != "c" else "r2"})
    between = [
        {"key": "gen", "operator": "Gt", "values": ["5"]},
        {"key": "gen", "operator": "Lt", "values": ["9"]},
    ]
    await stage.pod("between", affinity=_on_nodes([{"matchExpressions": between}]))
    named: Body = {"key": "metadata.name", "operator": "In", "values": [f"{stage.prefix}c"]}
    await stage.pod("named", affinity=_on_nodes([{"matchFields": [named]}]))
    liked = {"key": "gen", "operator": "In", "values": ["5"]}
    preferred = [{"weight": 100, "preference": {"matchExpressions": [liked]}}]
    soft = {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
    await stage.pod("soft", affinity={"nodeAffinity": soft})
    odd = {**named, "values": [f"{stage.prefix}zzz"]}
    await stage.pod("nowhere", affinity=_on_nodes([{"matchFields": [odd]}]))
    return [
        await stage.node_of("between"),
        await stage.node_of("named"),
        await stage.node_of("soft"),
        await stage.why_not("nowhere"),
    ]


async def neighbours_are_sought_and_shunned(stage: Stage) -> Any:
    for name, rack in (("a", "r1"), ("b", "r1"), ("c", "r2")):
        await stage.node(name, labels={"rack": rack})
    leader = {"app": "leader"}
    await stage.pod("leader", labels=leader, nodeSelector={"rack": "r2"})
    at = await stage.node_of("leader")
    await stage.pod("near", affinity={"podAffinity": _required(leader, "rack")})
    away = {"podAntiAffinity": _required(leader, "rack")}
    await stage.pod("far", affinity=away, nodeSelector={"rack": "r2"})
    lone = {"app": "lone"}
    for name in ("lone-1", "lone-2"):
        await stage.pod(name, labels=lone, affinity={"podAntiAffinity": _required(lone, "rack")})
    racks = {await stage.node_of(name) in "ab" for name in ("lone-1", "lone-2")}
    await stage.pod("lone-3", labels=lone, affinity={"podAntiAffinity": _required(lone, "rack")})
    await stage.pod("shunned", labels=lone)
    await stage.pod("stray", affinity={"podAffinity": _required({"app": "none"}, "rack")})
    return [
        at,
        await stage.node_of("near"),
        len(racks),
        *[await stage.why_not(name) for name in ("far", "lone-3", "shunned", "stray")],
    ]


async def pods_are_spread(stage: Stage) -> Any:
    for name, zone in (("a", "z1"), ("b", "z1"), ("c", "z2")):
        await stage.node(name, {"pods": "2"}, labels={"zone": zone})
    await stage.node("d")
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    zones = []
    for number in range(4):
        name = f"web-{number}"
        await stage.pod(name, labels={"app": "web"}, topologySpreadConstraints=[spread])
        zones.append("z2" if await stage.node_of(name) == "c" else "z1")
    await stage.pod("web-4", labels={"app": "web"}, topologySpreadConstraints=[spread])
    last = await stage.node_of("web-4")
    await stage.pod("web-5", labels={"app": "web"}, topologySpreadConstraints=[spread])
    return sorted(zones), last in "ab", await stage.why_not("web-5")


async def ports_are_taken_once(stage: Stage) -> Any:
    await stage.node("a")
    port = {"container": {"ports": [{"containerPort": 80, "hostPort": 8080}]}}
    await stage.pod("first", **port)
    first = await stage.node_of("first")
    await stage.pod("second", container=port["container"])
    return first, await stage.why_not("second")


async def init_containers_and_sidecars_count(stage: Stage) -> Any:
    await stage.node("a", {"cpu": "4"})
    await stage.node("b", {"cpu": "6"})

    def runs(name: str, cpu: str, **more: Any) -> Body:
        requests = {"resources": {"requests": {"cpu": cpu}}}
        return {"name": name, "image": "example.com/none", **requests, **more}

    sidecar = runs("sidecar", "2", restartPolicy="Always")
    await stage.pod("big", {"cpu": "1"}, initContainers=[sidecar, runs("init", "3")])
    where = await stage.node_of("big")
    await stage.pod("small", {"cpu": "1"}, initContainers=[runs("init", "7")])
    return where, await stage.why_not("small")


async def the_important_drive_out_the_others(stage: Stage) -> Any:
    for name, value in (("low", 10), ("mid", 100), ("high", 1000)):
        await stage.priority(name, value)
    await stage.node("a", {GPU: "4"})
    await stage.node("b", {GPU: "4"})
    await stage.pod("cheap", {GPU: "4"}, priorityClassName=f"{stage.prefix}low")
    cheap = await stage.node_of("cheap")
    await stage.pod("dear", {GPU: "4"}, priorityClassName=f"{stage.prefix}mid")
    await stage.node_of("dear")
    await stage.priority("polite", 500, preemptionPolicy="Never")
    await stage.pod("polite", {GPU: "4"}, priorityClassName=f"{stage.prefix}polite")
    polite = await stage.why_not("polite")
    await stage.pod("boss", {GPU: "4"}, priorityClassName=f"{stage.prefix}high")

    async def leaves() -> Any:
        found = await stage.get("cheap")
        return found if found and "deletionTimestamp" in found["metadata"] else None

    leaving = await stage.until(leaves, "the cheap one to be told to leave")
    target = [one for one in leaving["status"]["conditions"] if one["type"] == "DisruptionTarget"]

    async def nominated() -> Any:
        found = await stage.get("boss")
        return found and found["status"].get("nominatedNodeName")

    nominee = (await stage.until(nominated, "a nomination")).removeprefix(stage.prefix)
    await stage.kill("cheap")
    boss = await stage.node_of("boss")
    told = [(one["status"], one["reason"], one["message"].partition(": ")[2]) for one in target]
    return polite, nominee == cheap, boss == cheap, told, (await stage.node_of("dear")) != cheap


async def devices_by_quantity(stage: Stage) -> Any:
    """A claim asks for a GPU with at least so much memory: only one node has one."""
    await _devices(stage, "a", "40Gi", 2)
    await _devices(stage, "b", "80Gi", 1)
    await _class(stage)
    big = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("80Gi")) >= 0'
    await _claim(stage, "big", [_exactly(stage, selectors=[{"cel": {"expression": big}}])])
    await stage.pod("user", **_uses("big"))
    where = await stage.node_of("user")
    claim = await stage.of(CLAIMS).get("big")
    await _claim(stage, "more", [_exactly(stage, selectors=[{"cel": {"expression": big}}])])
    await stage.pod("late", **_uses("more"))
    return where, _allocation(stage, claim), await stage.why_not("late")


async def two_pods_share_a_claim(stage: Stage) -> Any:
    await _devices(stage, "a", "40Gi", 1)
    await _devices(stage, "b", "40Gi", 1, taints=[{"key": "x", "effect": "NoSchedule"}])
    await _class(stage)
    await _claim(stage, "shared", [_exactly(stage)])
    for name in ("one", "two"):
        await stage.pod(name, **_uses("shared"))
    nodes = [await stage.node_of(name) for name in ("one", "two")]
    claim = await stage.of(CLAIMS).get("shared")
    reserved = sorted(one["name"] for one in claim["status"]["reservedFor"])
    return nodes, reserved, claim["metadata"]["finalizers"]


async def alternatives_constraints_and_all(stage: Stage) -> Any:
    await _devices(stage, "a", "40Gi", 4)
    await _class(stage)
    await _claim(
        stage,
        "pair",
        [_exactly(stage, count=2)],
        constraints=[{"matchAttribute": f"{DRIVER}/numa"}],
    )
    await stage.pod("pair", **_uses("pair"))
    await stage.node_of("pair")
    pair = _allocation(stage, await stage.of(CLAIMS).get("pair"))
    huge = f'device.capacity["{DRIVER}"].memory.isGreaterThan(quantity("1Ti"))'
    of_class = {"deviceClassName": f"{stage.prefix}gpu"}
    first = [
        {"name": "huge", **of_class, "selectors": [{"cel": {"expression": huge}}]},
        {"name": "any", **of_class},
    ]
    await _claim(stage, "either", [{"name": "gpu", "firstAvailable": first}])
    await stage.pod("either", **_uses("either"))
    await stage.node_of("either")
    either = _allocation(stage, await stage.of(CLAIMS).get("either"))
    await _claim(stage, "all", [_exactly(stage, allocationMode="All")])
    await stage.pod("all", **_uses("all"))
    await _claim(stage, "odd", [_exactly(stage, deviceClassName="no-such-class")])
    await stage.pod("odd", **_uses("odd"))
    return [
        len({number % 2 for number in _numbers(pair)}),
        [one["request"] for one in either["results"]],
        await stage.why_not("all"),
        await stage.why_not("odd"),
    ]


async def claims_are_waited_for(stage: Stage) -> Any:
    """A pod whose claims are not made yet is told nothing, and bound as soon as they are."""
    await _devices(stage, "a", "40Gi", 2)
    await _class(stage)
    template = {"name": "gpu", "resourceClaimTemplateName": "none"}
    pods = {"early": _uses("late-claim"), "made-for": {**_uses(""), "resourceClaims": [template]}}
    for name, spec in pods.items():
        await stage.pod(name, **spec)
    await stage.pod("plain")
    await stage.node_of("plain")
    silent = [(await stage.get(name) or {})["status"].get("conditions") for name in pods]
    await _claim(stage, "late-claim", [_exactly(stage)])
    pod = await stage.get("made-for") or {}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "made-for", "controller": True}
    await _claim(stage, "own", [_exactly(stage)], owner={**owner, "uid": pod["metadata"]["uid"]})
    status = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "own"}]}
    await stage.of(PODS).patch("made-for", merge_patch({"status": status}), subresource="status")
    return silent, [await stage.node_of(name) for name in pods]


async def scores_choose_among_nodes(stage: Stage) -> Any:
    avoided = {"key": "old", "effect": "PreferNoSchedule"}
    await stage.node("a", taints=[avoided])
    await stage.node("b")
    await stage.pod("averse", {"cpu": "2"})
    averse = await stage.node_of("averse")
    await stage.pod("indifferent", {"cpu": "1"}, tolerations=[{"operator": "Exists"}])
    emptier = await stage.node_of("indifferent")
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "x"}}}
    near = [{"weight": 100, "podAffinityTerm": term}]
    bears_all = [{"operator": "Exists"}]
    at_a = {HOSTNAME: f"{stage.prefix}a"}
    await stage.pod("x", labels={"app": "x"}, nodeSelector=at_a, tolerations=bears_all)
    await stage.node_of("x")
    liking = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": near}}
    await stage.pod("fond", {"cpu": "1"}, affinity=liking, tolerations=bears_all)
    return averse, emptier, await stage.node_of("fond")


async def pinned_pods_say_why_not(stage: Stage) -> Any:
    await stage.node("a", {GPU: "1"})
    await stage.node("b", taints=[{"key": "x", "effect": "NoSchedule"}])
    await stage.node("c")
    pin = {HOSTNAME: f"{stage.prefix}a"}
    await stage.pod("fits", {GPU: "1"}, nodeSelector=pin)
    fits = await stage.node_of("fits")
    await stage.pod("full", {GPU: "1"}, nodeSelector=pin)
    await stage.pod("huge", {GPU: "2"}, nodeSelector=pin)
    await stage.pod("lost", nodeSelector={HOSTNAME: "nowhere"})
    return fits, [await stage.why_not(name) for name in ("full", "huge", "lost")]


STORIES: tuple[Callable[[Stage], Awaitable[Any]], ...] = (
    a_gang_of_gated_pods,
    taints_keep_pods_away,
    gpus_run_out_and_come_back,
    affinities_choose_nodes,
    neighbours_are_sought_and_shunned,
    pods_are_spread,
    ports_are_taken_once,
    init_containers_and_sidecars_count,
    the_important_drive_out_the_others,
    devices_by_quantity,
    two_pods_share_a_claim,
    alternatives_constraints_and_all,
    claims_are_waited_for,
    scores_choose_among_nodes,
    pinned_pods_say_why_not,
)


async def two_devices(stage: Stage) -> None:
    """Two nodes with a device each, and a claim `mine` for one of them."""
    for name in "ab":
        await _devices(stage, name, "40Gi", 1)
    await _class(stage)
    await _claim(stage, "mine", [_exactly(stage)])


async def _told(stage: Stage, name: str, reason: str) -> Any:
    async def look() -> Any:
        return await stage.events(name, reason)

    event = (await stage.until(look, f"an event {reason}"))[0]
    return event["type"], event["action"], event["note"]


def _on_nodes(terms: list[Body]) -> Body:
    required = {"nodeSelectorTerms": terms}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def _required(labels: dict[str, str], key: str) -> Body:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": labels}}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


async def _devices(stage: Stage, node: str, memory: str, count: int, **more: Any) -> None:
    await stage.node(node, **more)
    name = stage.prefix + node
    devices = [
        {
            "name": f"gpu-{number}",
            "attributes": {"numa": {"int": number % 2}, "model": {"string": "H100"}},
            "capacity": {"memory": {"value": memory}},
        }
        for number in range(count)
    ]
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    await stage.of(SLICES).create(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": name},
            "spec": {"driver": DRIVER, "nodeName": name, "pool": pool, "devices": devices},
        }
    )


async def _class(stage: Stage) -> None:
    mine = f'device.driver == "{DRIVER}"'
    await stage.of(CLASSES).create(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": f"{stage.prefix}gpu"},
            "spec": {"selectors": [{"cel": {"expression": mine}}]},
        }
    )


def _exactly(stage: Stage, **more: Any) -> Body:
    return {"name": "gpu", "exactly": {"deviceClassName": f"{stage.prefix}gpu", **more}}


async def _claim(stage: Stage, name: str, requests: list[Body], **more: Any) -> None:
    owners = [more.pop("owner")] if "owner" in more else []
    await stage.of(CLAIMS).create(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": name, "ownerReferences": owners},
            "spec": {"devices": {"requests": requests, **more}},
        }
    )


def _uses(claim: str) -> Body:
    return {
        "resourceClaims": [{"name": "gpu", "resourceClaimName": claim}],
        "container": {"resources": {"claims": [{"name": "gpu"}]}},
    }


def _allocation(stage: Stage, claim: Body) -> Any:
    found = claim["status"]["allocation"]
    for one in found["devices"]["results"]:
        one["pool"] = one["pool"].removeprefix(stage.prefix)
    selector = found.get("nodeSelector")
    for term in selector["nodeSelectorTerms"] if selector else ():
        for field in term.get("matchFields", ()):
            field["values"] = [value.removeprefix(stage.prefix) for value in field["values"]]
    return {**found["devices"], "on": selector}


def _numbers(allocation: Body) -> list[int]:
    return [int(one["device"].removeprefix("gpu-")) for one in allocation["results"]]
