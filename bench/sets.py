# SPDX-License-Identifier: Apache-2.0
"""The sets that are measured, and their pods counted as they come."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

from trellis.api.core.pod import READY, Pod
from trellis.api.meta import Object
from trellis.instruments.metrics import Meter
from trellis.runtime.cache import Cache, Scope
from trellis.runtime.informer import Informer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trellis.kube.client import Client

Json = dict[str, Any]
T = TypeVar("T", bound=Object)

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


_MANIFESTS = Path(__file__).with_name("manifests")


def manifest(file: str, name: str | None = None) -> Json:
    """The set in that file, under that name."""
    body: Json = yaml.safe_load((_MANIFESTS / f"{file}.yaml").read_text())
    return body | {"metadata": {"name": name or body["metadata"]["name"]}}


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


@asynccontextmanager
async def watched(client: Client, namespace: str) -> AsyncIterator[Watched]:
    async with cached(client, Pod, namespace) as cache:
        yield Watched(cache)


@asynccontextmanager
async def cached(client: Client, kind: type[T], namespace: str) -> AsyncIterator[Cache[T]]:
    """All objects of a kind in a namespace, for the length of a block."""
    cache = Cache(kind.resource, kind, scope=Scope(namespace=namespace))
    following = asyncio.create_task(Informer(cache, client, Meter()).run())
    try:
        await cache.until_synced()
        yield cache
    finally:
        following.cancel()
