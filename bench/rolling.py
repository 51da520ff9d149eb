# SPDX-License-Identifier: Apache-2.0
"""Rolling updates on the lab: what the operator writes from a template change until it is rolled
out, by verb and kind, and how often it tells of it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.audit import counted, log_end, most_a_second, operator_writes
from bench.ground import SETTLING_SECONDS, grounded, new_namespace, until
from bench.sets import a_clique, a_set, cached, watched
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.meta import Key
from trellis.kube.verbs import json_patch

if TYPE_CHECKING:
    from bench.ground import Ground
    from trellis.runtime.cache import Cache

Json = dict[str, Any]

PODS = 200
_ENV = "/spec/template/cliques/0/spec/podSpec/containers/0/env"
_CHANGE = [{"op": "add", "path": _ENV, "value": [{"name": "VERSION", "value": "2"}]}]


@dataclass(frozen=True, slots=True)
class Case:
    """`most` is how many writes a pod may cost."""

    title: str
    body: Json
    most: float

    @property
    def name(self) -> str:
        found: str = self.body["metadata"]["name"]
        return found


def cases() -> list[Case]:
    group = {"name": "g", "cliqueNames": ["w"], "replicas": 10, "minAvailable": 1}
    return [
        Case("200 pods in one clique", a_set("one", 1, [a_clique("w", PODS)]), 4.5),
        Case("10 x 20 pods in a group", a_set("ten", 1, [a_clique("w", 20)], [group]), 2.0),
    ]


async def measure() -> None:
    async with grounded("Rolling updates") as ground, ground.operator() as operator:
        await operator.ready()
        for case in cases():
            await _one(ground, case)


async def _one(ground: Ground, case: Case) -> None:
    key = Key(f"rolling-{case.name}", case.name)
    namespace = key.namespace
    await new_namespace(ground.client, namespace)
    sets = ground.client.of(PodCliqueSet.resource, PodCliqueSet, namespace)
    async with (
        watched(ground.client, namespace) as pods,
        cached(ground.client, PodCliqueSet, namespace) as told,
    ):
        await sets.create(case.body)
        await until(lambda: len(pods.ready) >= PODS, f"{PODS} ready pods in {namespace}")
        await until(lambda: _is_done(told, key, 1), "a set that is ready")
        await asyncio.sleep(SETTLING_SECONDS)
        start, began = log_end(ground.lab), time.perf_counter()
        generation = (await sets.patch(case.name, json_patch(_CHANGE))).metadata.generation
        await until(lambda: _is_done(told, key, generation), f"the end of {case.name}")
        seconds, end = time.perf_counter() - began, log_end(ground.lab)
        _report(ground, case, seconds, (start, end))
        await sets.delete(case.name)
        await until(lambda: len(pods.cache) == 0, f"{namespace} to be empty")


def _is_done(told: Cache[PodCliqueSet], key: Key, generation: int) -> bool:
    """Whether every replica of it has that generation, and says so."""
    found = told.get(key)
    if found is None or (found.status.observed_generation or 0) < generation:
        return False
    progress = found.status.update_progress
    is_open = progress is not None and progress.update_ended_at is None
    return not is_open and found.status.updated_replicas == found.spec.replicas


def _report(ground: Ground, case: Case, seconds: float, span: tuple[int, int]) -> None:
    writes = operator_writes(ground.lab, *span)
    each = len(writes) / PODS
    verdict = "as asked" if each <= case.most else "TOO MANY"
    print(f"{case.title}: rolled in {seconds:.1f} s")
    print(f"    {each:.2f} writes a pod, at most {case.most} were asked: {verdict}")
    for what, count in counted(writes).most_common():
        print(f"      {count:6} {what}")
    for kind, most in sorted(most_a_second(writes).items()):
        print(f"    {kind} of one object: {most} a second at most")
