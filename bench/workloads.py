# SPDX-License-Identifier: Apache-2.0
"""PodCliqueSets on the lab, from apply until all pods are ready, beside a bare client's same pods.

The lab's audit log counts what the operator wrote, by its identity and without leases. Everything
shares this machine: compare figures of one run only.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trellis.api.annotation import PLACEMENT
from trellis.api.config.types import OperatorConfiguration
from trellis.api.core.node import Node
from trellis.api.core.pod import READY, Pod
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.labels import SCALING_GROUP_REPLICA_INDEX, SET_REPLICA_INDEX
from trellis.api.meta import Resource
from trellis.api.scheduler.podgang import PodGang
from trellis.app.local.operating import Beside, draw_ports, operating
from trellis.instruments.clock import SystemClock
from trellis.instruments.metrics import Meter
from trellis.kube.access import Surroundings
from trellis.kube.connect import connected, find_access
from trellis.lab.build import built
from trellis.lab.cluster import Place, running
from trellis.lab.components import API_SERVER, Settings
from trellis.lab.source import source
from trellis.runtime.cache import Cache, Scope
from trellis.runtime.informer import Informer
from trellis.runtime.parallel import in_parallel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractAsyncContextManager

    from trellis.app.local.operating import Companion
    from trellis.kube.client import Client
    from trellis.lab.cluster import Lab

Json = dict[str, Any]

NODES = 120
OPERATOR = "system:serviceaccount:grove-system:grove-operator"
WRITES = ("create", "update", "patch", "delete", "deletecollection")
SETTLING_SECONDS = 6.0
SETTLED_SECONDS = 10.0
RESTARTED_SECONDS = 20.0
PATIENCE_SECONDS = 900.0
_ADMISSION = ("admissionregistration.k8s.io", "v1")
POLICIES = Resource(
    *_ADMISSION, "MutatingAdmissionPolicy", "mutatingadmissionpolicies", namespaced=False
)
BINDINGS = Resource(
    *_ADMISSION,
    "MutatingAdmissionPolicyBinding",
    "mutatingadmissionpolicybindings",
    namespaced=False,
)
NAMESPACES = Resource("", "v1", "Namespace", "namespaces", namespaced=False)
# Of a pod's spec, what nobody asks for or what would hold it back.
BY_SERVER = ("nodeName", "schedulingGates", "serviceAccount", "serviceAccountName", "volumes")
POD_SPEC: Json = {
    "terminationGracePeriodSeconds": 0,
    "tolerations": [{"operator": "Exists"}],
    "containers": [
        {
            "name": "main",
            "image": "registry.example/app:1",
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
        }
    ],
}


async def measure() -> None:
    binary = built(source())
    settings = Settings(kubernetes=binary.kubernetes, audit=True)
    print(f"PodCliqueSets, Kubernetes {binary.kubernetes}, {NODES} simulated nodes")
    async with running(binary, settings, Place()) as lab, _client(lab) as client, _nodes(lab):
        configuration = OperatorConfiguration()
        beside = Beside(
            client=client, server=lab.server, authority=lab.authority, folder=lab.folder
        )

        def another() -> AbstractAsyncContextManager[Companion]:
            return operating(beside, configuration, draw_ports(client))

        async with another() as operator:
            await operator.ready()
            bench = Bench(lab, client, operator, another)
            await bench.one("4 pods", [a_set("tiny", 1, [a_clique("w", 4)])], 4)
            await bench.beside("(a) 1,000 pods", [large("a")], 1000)
            await bench.one("(b) 500 x 2 pods", [a_set("b", 500, [a_clique("w", 2)])], 1000)
            async with _verdicts(client):
                await bench.beside("(a) born pinned", [large("pinned")], 1000)
            if "--ten" in sys.argv:
                ten = [large(f"t{n}") for n in range(10)]
                await bench.one("10,000 pods", ten, 10_000, restarts=True)


def a_clique(name: str, replicas: int) -> Json:
    spec = {"roleName": name, "replicas": replicas, "podSpec": POD_SPEC}
    return {"name": name, "spec": spec}


def a_set(name: str, replicas: int, cliques: list[Json], groups: list[Json] | None = None) -> Json:
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "template": {"cliques": cliques, "podCliqueScalingGroups": groups or []},
        },
    }


def large(name: str) -> Json:
    """Ten replicas of a clique of 20 and a group of 2 x (1 + 39)."""
    group = {"name": "g", "cliqueNames": ["lead", "work"], "replicas": 2, "minAvailable": 1}
    cliques = [a_clique("alone", 20), a_clique("lead", 1), a_clique("work", 39)]
    return a_set(name, 10, cliques, [group])


@dataclass
class Watched:
    """The pods of a namespace, counted as they come."""

    cache: Cache[Pod]
    began: float = field(default_factory=time.perf_counter)
    made: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    ready: set[str] = field(default_factory=set)
    times: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cache.subscribe(self._changed)

    def __str__(self) -> str:
        return "  ".join(f"{what} {seconds:.2f} s" for what, seconds in self.times.items())

    def _changed(self, old: Pod | None, new: Pod | None, *, fresh: bool) -> None:
        del old, fresh
        if new is None:
            return
        self._note("made", self.made, new)
        if new.spec.node_name:
            self._note("bound", self.bound, new)
        if any(one.type == READY and one.status == "True" for one in new.status.conditions):
            self._note("ready", self.ready, new)

    def _note(self, what: str, names: set[str], pod: Pod) -> None:
        if pod.metadata.uid not in names:
            names.add(pod.metadata.uid)
            self.times[what] = time.perf_counter() - self.began


@dataclass
class Bench:
    lab: Lab
    client: Client
    operator: Companion
    another: Callable[[], AbstractAsyncContextManager[Companion]]

    async def beside(self, name: str, sets: list[Json], pods: int) -> None:
        """And then the same pods from a bare client: with the labels and variables that these have,
        and with as little in them as a pod can have."""
        bound, bodies = await self.one(name, sets, pods)
        same = await _bare(self.client, bodies, "the same pod")
        small = await _bare(self.client, _small(pods), "a pod with nothing in it")
        print(
            f"    bound after {bound / same:.2f} times what the bare client took for the same pods"
        )
        print(
            f"    bound after {bound / small:.2f} times what it took for pods with nothing in them"
        )

    async def one(
        self, name: str, sets: list[Json], pods: int, *, restarts: bool = False
    ) -> tuple[float, list[Json]]:
        """Returns after how many seconds all were bound, and what a bare client would create."""
        namespace = "bench-" + "".join(each for each in name.lower() if each.isalnum())
        await _namespace(self.client, namespace)
        before, offset = self._cpu(), self._log_end()
        async with _watched(self.client, namespace) as seen:
            for body in sets:
                await self.client.of(PodCliqueSet.resource, bytes, namespace).create(body)
            await _until(lambda: len(seen.ready) >= pods, f"{pods} ready pods in {namespace}")
            after, ready = self._cpu(), self._log_end()
            print(f"{name}: {seen}")
            for what in before:
                print(f"    CPU of {what}: {after[what] - before[what]:.1f} s")
            print(f"    memory of the operator: {_peak_megabytes(self.operator.pid)} MB at most")
            await asyncio.sleep(SETTLING_SECONDS)
            quiet = self._log_end()
            until_ready = _operator_writes(self.lab, offset, ready).total()
            print(f"    {until_ready / pods:.2f} writes a pod until all are ready")
            self._report(_operator_writes(self.lab, offset, quiet), pods)
            await asyncio.sleep(SETTLED_SECONDS)
            settled = _operator_writes(self.lab, quiet, self._log_end()).total()
            print(f"    {settled} writes in {SETTLED_SECONDS:.0f} settled seconds")
            bodies = await _bodies(self.client, namespace)
            async with self._restarted() if restarts else nullcontext():
                began = time.perf_counter()
                for body in sets:
                    found = self.client.of(PodCliqueSet.resource, bytes, namespace)
                    await found.delete(body["metadata"]["name"])
                await _until(lambda: len(seen.cache) == 0, f"{namespace} to be empty")
                print(f"    deleted in {time.perf_counter() - began:.2f} s")
            return seen.times["bound"], bodies

    @asynccontextmanager
    async def _restarted(self) -> AsyncIterator[None]:
        """Another operator finds all as it is to be."""
        await self.operator.stop()
        offset = self._log_end()
        async with self.another() as operator:
            await operator.ready()
            await asyncio.sleep(RESTARTED_SECONDS)
            written = _operator_writes(self.lab, offset, self._log_end()).total()
            cpu, memory = _cpu_seconds(operator.pid), _peak_megabytes(operator.pid)
            print(f"    after a restart: {written} writes, {cpu:.1f} s CPU, {memory} MB at most")
            yield

    def _report(self, writes: Counter[str], pods: int) -> None:
        print(f"    {writes.total() / pods:.2f} writes a pod with all that is told afterwards:")
        for what, count in writes.most_common():
            print(f"      {count:6} {what}")

    def _cpu(self) -> dict[str, float]:
        pids = {"the operator": self.operator.pid, "the API server": self.lab.pid(API_SERVER)}
        return {name: _cpu_seconds(pid) for name, pid in pids.items()}

    def _log_end(self) -> int:
        return (self.lab.folder / "audit.log").stat().st_size


def _operator_writes(lab: Lab, start: int, end: int) -> Counter[str]:
    """What the operator wrote between two places in the log."""
    found: Counter[str] = Counter()
    with (lab.folder / "audit.log").open("rb") as log:
        log.seek(start)
        while log.tell() < end:
            entry = json.loads(log.readline())
            about = entry.get("objectRef", {})
            mine = entry["user"]["username"] == OPERATOR and entry["verb"] in WRITES
            if mine and about.get("resource") != "leases":
                kind = "/".join(filter(None, (about.get("resource"), about.get("subresource"))))
                code = entry.get("responseStatus", {}).get("code", 0)
                found[f"{entry['verb']} {kind}{'' if code < 300 else f' ({code})'}"] += 1
    return found


@asynccontextmanager
async def _verdicts(client: Client) -> AsyncIterator[None]:
    """Every PodGang is born with one: all its pods on one node, by the server's own policy."""
    nodes = [one.metadata.name for one in (await client.of(Node.resource, Node).list()).objects]
    replica = f"int(object.metadata.labels['{SET_REPLICA_INDEX}'])"
    scaled = f"('{SCALING_GROUP_REPLICA_INDEX}' in object.metadata.labels ? 1 : 0)"
    slot = f"{json.dumps(nodes[:32])}[({replica} * 2 + {scaled}) % 32]"
    group = (
        f"'\"' + group.name + '\":[[\"' + {slot} + '\",' + "
        "string(group.podReferences.size()) + ']]'"
    )
    verdict = f"'{{' + object.spec.podgroups.map(group, {group}).join(',') + '}}'"
    added = f"Object.metadata{{annotations: {{'{PLACEMENT}': {verdict}}}}}"
    rule = {
        "apiGroups": [PodGang.resource.group],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": [PodGang.resource.plural],
    }
    policy = {
        "metadata": {"name": "verdicts"},
        "spec": {
            "reinvocationPolicy": "Never",
            "matchConstraints": {"resourceRules": [rule]},
            "mutations": [
                {
                    "patchType": "ApplyConfiguration",
                    "applyConfiguration": {"expression": f"Object{{metadata: {added}}}"},
                }
            ],
        },
    }
    binding = {"metadata": {"name": "verdicts"}, "spec": {"policyName": "verdicts"}}
    await client.of(POLICIES, bytes).create(policy)
    await client.of(BINDINGS, bytes).create(binding)
    # The server reads its policies anew every second or so.
    await asyncio.sleep(3.0)
    try:
        yield
    finally:
        await client.of(BINDINGS, bytes).delete("verdicts")
        await client.of(POLICIES, bytes).delete("verdicts")


async def _bodies(client: Client, namespace: str) -> list[Json]:
    """The pods there as they would be asked for by somebody without owners, gates and nodes."""
    found = (await client.of(Pod.resource, dict, namespace).list()).objects
    return [_asked(one) for one in found]


def _asked(pod: Json) -> Json:
    metadata = {key: pod["metadata"].get(key) for key in ("name", "labels", "annotations")}
    spec = {key: value for key, value in pod["spec"].items() if key not in BY_SERVER}
    spec["containers"] = [{**one, "volumeMounts": []} for one in spec["containers"]]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _small(count: int) -> list[Json]:
    return [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"bare-{n}"}, "spec": POD_SPEC}
        for n in range(count)
    ]


async def _bare(client: Client, bodies: list[Json], what: str) -> float:
    """From a client that does nothing else; after how many seconds they are bound."""
    namespace = f"bare-{random.getrandbits(32):08x}"
    await _namespace(client, namespace)
    pods = client.of(Pod.resource, bytes, namespace)

    def create(body: Json) -> Callable[[], Any]:
        return lambda: pods.create(body)

    async with _watched(client, namespace) as seen:
        await in_parallel([create(body) for body in bodies], 32, goes_on=lambda _: False)
        await _until(lambda: len(seen.ready) >= len(bodies), "bare pods")
        print(f"a bare client, {len(bodies)} times {what}: {seen}")
        await client.of(NAMESPACES, bytes).delete(namespace)
        await _until(lambda: len(seen.cache) == 0, "bare pods to be gone")
        return seen.times["bound"]


@asynccontextmanager
async def _watched(client: Client, namespace: str) -> AsyncIterator[Watched]:
    cache = Cache(Pod.resource, Pod, scope=Scope(namespace=namespace))
    following = asyncio.create_task(Informer(cache, client, Meter()).run())
    try:
        await cache.until_synced()
        yield Watched(cache)
    finally:
        following.cancel()


@asynccontextmanager
async def _client(lab: Lab) -> AsyncIterator[Client]:
    clock = SystemClock()
    access = find_access(Surroundings(clock=clock, environ=os.environ), file=lab.kubeconfig)
    dice = random.Random()  # noqa: S311  jitter, no secrets
    async with connected(access, clock, dice) as client:
        yield client


@asynccontextmanager
async def _nodes(lab: Lab) -> AsyncIterator[None]:
    """In a process of their own, as `trellis sim nodes` runs them."""
    command = ("sim", "nodes", "--fleet", "dgx-1k", "--nodes", str(NODES))
    with tempfile.TemporaryFile() as output:
        process = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name("trellis"),
            *command,
            "--kubeconfig",
            lab.kubeconfig,
            stdout=output,
            stderr=output,
        )
        try:
            async with _client(lab) as client:
                await _until_nodes(client)
            yield
        finally:
            process.kill()
            await process.wait()


async def _until_nodes(client: Client) -> None:
    for _ in _ticks():
        found = (await client.of(Node.resource, Node).list()).objects
        if len(found) == NODES and all(one.is_ready for one in found):
            return
        await asyncio.sleep(0.1)
    sys.exit("bench: the nodes are not ready")


async def _namespace(client: Client, name: str) -> None:
    await client.of(NAMESPACES, bytes).create({"metadata": {"name": name}})


async def _until(done: Callable[[], bool], what: str) -> None:
    for _ in _ticks():
        if done():
            return
        await asyncio.sleep(0.01)
    sys.exit(f"bench: waited in vain for {what}")


def _ticks() -> Iterator[float]:
    began = time.monotonic()
    while (passed := time.monotonic() - began) < PATIENCE_SECONDS:
        yield passed


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak_megabytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    peak = next(line for line in lines if line.startswith("VmHWM"))
    return int(peak.split()[1]) >> 10
