# SPDX-License-Identifier: Apache-2.0
"""The sets in `manifests/` on the lab, from apply until all their pods are ready, beside a bare
client's same pods.

The lab's audit log counts what the operator wrote. Everything shares this machine: compare figures
of one run only.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.audit import counted, log_end, operator_writes, seconds_behind
from bench.ground import (
    NAMESPACES,
    SETTLING_SECONDS,
    Ground,
    cpu_seconds,
    grounded,
    new_namespace,
    peak_megabytes,
    until,
)
from bench.sets import POD_SPEC, manifest, watched
from trellis.api.annotation import PLACEMENT
from trellis.api.core.node import Node
from trellis.api.core.pod import Pod
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.labels import SCALING_GROUP_REPLICA_INDEX, SET_REPLICA_INDEX
from trellis.api.meta import Resource
from trellis.api.scheduler.podgang import PodGang
from trellis.lab.components import API_SERVER
from trellis.runtime.parallel import in_parallel

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import AsyncIterator, Callable

    from trellis.app.local.operating import Companion
    from trellis.kube.client import Client
    from trellis.kube.collection import Collection

Json = dict[str, Any]

# The machine is faster at one moment than at the next, so that one comparison says little.
ROUNDS = 3
SETTLED_SECONDS = 10.0
RESTARTED_SECONDS = 20.0
# The server reads its policies anew every second or so.
POLICIES_READ_SECONDS = 3.0
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
# Of a pod's spec, what nobody asks for or what would hold it back.
BY_SERVER = ("nodeName", "schedulingGates", "serviceAccount", "serviceAccountName", "volumes")


async def measure() -> None:
    async with grounded("PodCliqueSets") as ground, ground.operator() as operator:
        await operator.ready()
        bench = Bench(ground, operator)
        await bench.one("4 pods", [manifest("tiny")], 4)
        rounds = [
            await bench.beside(f"(a) 1,000 pods, round {n}", [manifest("a", f"a-{n}")], 1000)
            for n in range(1, ROUNDS + 1)
        ]
        ratio = sum(ours for ours, _ in rounds) / sum(bare for _, bare in rounds)
        print(f"(a) bound after {ratio:.2f} times what the bare client took, of {ROUNDS} rounds")
        await bench.one("(b) 500 x 2 pods", [manifest("b")], 1000)
        async with _verdicts(ground.client):
            await bench.beside("(a) born pinned", [manifest("a", "pinned")], 1000)
        if "--ten" in sys.argv:
            ten = [manifest("a", f"t{n}") for n in range(10)]
            await bench.beside("10,000 pods, a namespace for each set", ten, 10_000, apart=True)
            await bench.one("10,000 pods in one namespace", ten, 10_000, restarts=True)


@dataclass
class Bench:
    ground: Ground
    operator: Companion

    async def beside(
        self, name: str, sets: list[Json], pods: int, *, apart: bool = False
    ) -> tuple[float, float]:
        """And then the same pods from a bare client: with the labels and variables that these have,
        and with as little in them as a pod can have. Returns after how many seconds all were bound,
        and all of the bare client's same ones."""
        bound, bodies = await self.one(name, sets, pods, apart=apart)
        same = await _bare(self.ground.client, bodies, "the same pod")
        small = await _bare(self.ground.client, _small(pods), "a pod with nothing in it")
        print(
            f"    bound after {bound / same:.2f} times what the bare client took for the same pods"
        )
        print(
            f"    bound after {bound / small:.2f} times what it took for pods with nothing in them"
        )
        return bound, same

    async def one(
        self,
        name: str,
        sets: list[Json],
        pods: int,
        *,
        apart: bool = False,
        restarts: bool = False,
    ) -> tuple[float, list[Json]]:
        """Returns after how many seconds all were bound, and what a bare client would create.

        `apart`: each set in a namespace of its own. In one, Kubernetes itself takes longer with
        every pod there: its controllers of endpoints look at all of them for each Service.
        """
        namespace = "bench-" + "".join(each for each in name.lower() if each.isalnum())
        places = [f"{namespace}-{n}" if apart else namespace for n in range(len(sets))]
        for place in dict.fromkeys(places):
            await new_namespace(self.ground.client, place)
        before, offset = self._cpu(), log_end(self.ground.lab)
        everywhere = "" if apart else namespace
        async with watched(self.ground.client, everywhere) as seen:
            for place, body in zip(places, sets, strict=True):
                await self._sets(place).create(body)
            await until(lambda: len(seen.ready) >= pods, f"{pods} ready pods in {namespace}")
            after, ready = self._cpu(), log_end(self.ground.lab)
            print(f"{name}: {seen}")
            for what in before:
                print(f"    CPU of {what}: {after[what] - before[what]:.1f} s")
            print(f"    memory of the operator: {peak_megabytes(self.operator.pid)} MB at most")
            await asyncio.sleep(SETTLING_SECONDS)
            quiet = log_end(self.ground.lab)
            until_ready = len(operator_writes(self.ground.lab, offset, ready))
            print(f"    {until_ready / pods:.2f} writes a pod until all are ready")
            self._report(counted(operator_writes(self.ground.lab, offset, quiet)), pods)
            behind = seconds_behind(self.ground.lab, offset, quiet)
            print(f"    last status {behind:.2f} s after the last that happened to a pod")
            await asyncio.sleep(SETTLED_SECONDS)
            settled = counted(operator_writes(self.ground.lab, quiet, log_end(self.ground.lab)))
            told = "".join(f", {count} {what}" for what, count in settled.most_common())
            print(f"    {settled.total()} writes in {SETTLED_SECONDS:.0f} settled seconds{told}")
            bodies = await _bodies(self.ground.client, everywhere)
            async with self._restarted() if restarts else nullcontext():
                began = time.perf_counter()
                for place, body in zip(places, sets, strict=True):
                    await self._sets(place).delete(body["metadata"]["name"])
                await until(lambda: len(seen.cache) == 0, f"{namespace} to be empty")
                print(f"    deleted in {time.perf_counter() - began:.2f} s")
            return seen.times["bound"], bodies

    @asynccontextmanager
    async def _restarted(self) -> AsyncIterator[None]:
        """Another operator finds all as it is to be."""
        await self.operator.stop()
        offset = log_end(self.ground.lab)
        async with self.ground.operator() as operator:
            await operator.ready()
            await asyncio.sleep(RESTARTED_SECONDS)
            written = len(operator_writes(self.ground.lab, offset, log_end(self.ground.lab)))
            cpu, memory = cpu_seconds(operator.pid), peak_megabytes(operator.pid)
            print(f"    after a restart: {written} writes, {cpu:.1f} s CPU, {memory} MB at most")
            yield

    def _sets(self, namespace: str) -> Collection[bytes]:
        return self.ground.client.of(PodCliqueSet.resource, bytes, namespace)

    def _report(self, writes: Counter[str], pods: int) -> None:
        print(f"    {writes.total() / pods:.2f} writes a pod with all that is told afterwards:")
        for what, count in writes.most_common():
            print(f"      {count:6} {what}")

    def _cpu(self) -> dict[str, float]:
        pids = {
            "the operator": self.operator.pid,
            "the API server": self.ground.lab.pid(API_SERVER),
        }
        return {name: cpu_seconds(pid) for name, pid in pids.items()}


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
    await asyncio.sleep(POLICIES_READ_SECONDS)
    try:
        yield
    finally:
        await client.of(BINDINGS, bytes).delete("verdicts")
        await client.of(POLICIES, bytes).delete("verdicts")
        await asyncio.sleep(POLICIES_READ_SECONDS)


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
    await new_namespace(client, namespace)
    pods = client.of(Pod.resource, bytes, namespace)

    def create(body: Json) -> Callable[[], Any]:
        return lambda: pods.create(body)

    async with watched(client, namespace) as seen:
        await in_parallel([create(body) for body in bodies], 32, goes_on=lambda _: False)
        await until(lambda: len(seen.ready) >= len(bodies), "bare pods")
        print(f"a bare client, {len(bodies)} times {what}: {seen}")
        await client.of(NAMESPACES, bytes).delete(namespace)
        await until(lambda: len(seen.cache) == 0, "bare pods to be gone")
        return seen.times["bound"]
