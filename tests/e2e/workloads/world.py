# SPDX-License-Identifier: Apache-2.0
"""What a user sees of workloads and does to them, through the public API alone."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.support.api import Request
from tests.support.nodes import NODES
from tests.support.waiting import eventually
from trellis.embedded.nodes.loading import load

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from tests.support.api import Answer, Api
    from tests.support.cluster import Cluster

Json = dict[str, Any]

FLEET = load("""
groups:
- {name: field, shape: plain, racks: 2, nodes: 4}
shapes:
- {name: plain, cpu: "64", memory: 256Gi, pods: 250}
""")
PATIENCE_SECONDS = 60.0

SETS = "podcliquesets"
CLIQUES = "podcliques"
GROUPS = "podcliquescalinggroups"
GANGS = "podgangs"
POD_GROUPS = "podgroups"
PODS = "pods"
SERVICES = "services"
CLAIMS = "resourceclaims"
PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"
_PREFIXES = {
    SETS: "/apis/grove.io/v1alpha1",
    CLIQUES: "/apis/grove.io/v1alpha1",
    GROUPS: "/apis/grove.io/v1alpha1",
    GANGS: "/apis/scheduler.grove.io/v1alpha1",
    POD_GROUPS: "/apis/scheduling.run.ai/v2alpha2",
    "horizontalpodautoscalers": "/apis/autoscaling/v2",
    "roles": "/apis/rbac.authorization.k8s.io/v1",
    "rolebindings": "/apis/rbac.authorization.k8s.io/v1",
    CLAIMS: "/apis/resource.k8s.io/v1",
    "endpointslices": "/apis/discovery.k8s.io/v1",
    "resourceclaimtemplates": "/apis/resource.k8s.io/v1",
}
# Everything that is made for a set.
CHILDREN = (
    CLIQUES,
    GROUPS,
    GANGS,
    PODS,
    SERVICES,
    "horizontalpodautoscalers",
    "roles",
    "rolebindings",
    CLAIMS,
    "serviceaccounts",
    "secrets",
)
_OURS = "app.kubernetes.io/managed-by=grove-operator"
CLIQUE_LABEL = "grove.io/podclique"


def name_of(found: Json) -> str:
    return str(found["metadata"]["name"])


def uid_of(found: Json) -> str:
    return str(found["metadata"]["uid"])


def condition(found: Json, kind: str) -> Json:
    """Empty if it has none of that type."""
    conditions = found.get("status", {}).get("conditions", [])
    return next((one for one in conditions if one["type"] == kind), {})


def is_true(found: Json, kind: str) -> bool:
    return condition(found, kind).get("status") == "True"


def is_live(pod: Json) -> bool:
    return "deletionTimestamp" not in pod["metadata"] and pod["status"].get("phase") not in (
        "Failed",
        "Succeeded",
    )


def is_ready(pod: Json) -> bool:
    return is_live(pod) and is_true(pod, "Ready")


def clique_of(pod: Json) -> str:
    return str(pod["metadata"]["labels"][CLIQUE_LABEL])


def _has_been_up(clique: Json) -> bool:
    return bool(clique.get("status", {}).get("firstAvailableTime"))


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One namespace of a cluster that runs the operator."""

    cluster: Cluster
    namespace: str

    @property
    def api(self) -> Api:
        return self.cluster.api

    def path(self, kind: str, name: str = "", part: str = "") -> str:
        root = f"{_PREFIXES.get(kind, '/api/v1')}/namespaces/{self.namespace}/{kind}"
        return "/".join(one for one in (root, name, part) if one)

    async def make(self, kind: str, body: Json) -> Json:
        made: Json = await self.api.do("POST", self.path(kind), body)
        return made

    async def refused(self, kind: str, body: Json) -> Answer:
        """The refusal of what must not be made."""
        answer = await self.api.send(Request(method="POST", path=self.path(kind), body=body))
        assert 400 <= answer.status < 500, f"{answer.status} {answer.content[:300]!r}"
        return answer

    async def get(self, kind: str, name: str) -> Json:
        found: Json = await self.api.do("GET", self.path(kind, name))
        return found

    async def exists(self, kind: str, name: str) -> bool:
        return await self.api.exists(self.path(kind, name))

    async def all(self, kind: str, selector: str = "") -> list[Json]:
        query = f"?labelSelector={selector}" if selector else ""
        items: list[Json] = (await self.api.do("GET", f"{self.path(kind)}{query}"))["items"]
        return items

    async def ours(self, kind: str) -> list[Json]:
        """What the operator made."""
        return await self.all(kind, _OURS)

    async def names(self, kind: str) -> set[str]:
        return {name_of(one) for one in await self.ours(kind)}

    async def patch(self, kind: str, name: str, patch: Json, part: str = "") -> Json:
        path = self.path(kind, name, part)
        found: Json = await self.api.do("PATCH", path, patch, patch="merge")
        return found

    async def scale(self, kind: str, name: str, replicas: int) -> None:
        await self.patch(kind, name, {"spec": {"replicas": replicas}}, "scale")

    async def delete(self, kind: str, name: str) -> None:
        await self.api.do("DELETE", self.path(kind, name))

    async def pods(self, clique: str = "") -> list[Json]:
        """Those that are live, of one PodClique if it is named."""
        found = await self.all(PODS, f"{CLIQUE_LABEL}={clique}" if clique else _OURS)
        return [pod for pod in found if is_live(pod)]

    async def kill(self, pods: Iterable[Json]) -> None:
        for pod in pods:
            await self.delete(PODS, name_of(pod))

    @asynccontextmanager
    async def priority_class(self, name: str) -> AsyncIterator[None]:
        """Which all namespaces share, so it is there for the length of a block."""
        await self.api.do("POST", PRIORITIES, {"metadata": {"name": name}, "value": 1000})
        try:
            yield
        finally:
            await self.api.do("DELETE", f"{PRIORITIES}/{name}")

    async def cordon(self, *, but: int = 0) -> None:
        """No pod can go anywhere any more, but for so many nodes."""
        await self._unschedulable(True, but)

    async def uncordon(self) -> None:
        await self._unschedulable(None)

    async def _unschedulable(self, value: bool | None, but: int = 0) -> None:
        for node in (await self.api.do("GET", NODES))["items"][but:]:
            path = f"{NODES}/{name_of(node)}"
            await self.api.do("PATCH", path, {"spec": {"unschedulable": value}}, patch="merge")

    async def until_ready(self, count: int) -> list[Json]:
        """Waits until there are exactly so many live pods, all of them ready."""
        found: list[Json] = []

        async def look() -> bool:
            found[:] = await self.pods()
            return len(found) == count and all(map(is_ready, found))

        await eventually(look, f"{count} pods to be ready", PATIENCE_SECONDS)
        return found

    async def until_up(self, name: str) -> None:
        """Waits until a set and all its PodCliques say themselves that they are."""
        await self.until(SETS, name, partial(is_true, kind="Ready"), "to be ready")
        for clique in await self.all(CLIQUES, f"app.kubernetes.io/part-of={name}"):
            await self.until(CLIQUES, name_of(clique), _has_been_up, "to have been up")

    async def until_count(self, kind: str, count: int) -> None:
        async def look() -> bool:
            return len(await self.ours(kind)) == count

        await eventually(look, f"{count} {kind}", PATIENCE_SECONDS)

    async def until(self, kind: str, name: str, holds: Callable[[Json], object], what: str) -> Json:
        """Waits until an object is there and that holds of it. A field may yet be missing."""

        last: Json = {}

        async def look() -> Json:
            nonlocal last
            answer = await self.api.send(Request(method="GET", path=self.path(kind, name)))
            last = answer.body
            with suppress(KeyError):
                return last if answer.status == 200 and holds(last) else {}
            return {}

        try:
            return await eventually(look, f"{kind} {name}: {what}", PATIENCE_SECONDS)
        except AssertionError as error:
            error.add_note(f"its status: {json.dumps(last.get('status'))}")
            raise

    async def until_gone(self, pods: Iterable[Json]) -> None:
        """Waits until none of these pods is left; others may be in their place."""
        gone = {uid_of(pod) for pod in pods}

        async def look() -> bool:
            return gone.isdisjoint({uid_of(pod) for pod in await self.all(PODS)})

        await eventually(look, f"the end of {len(gone)} pods", PATIENCE_SECONDS)

    async def uids(self) -> set[str]:
        return {uid_of(pod) for pod in await self.pods()}

    async def remove_sets(self) -> None:
        """So that the next test finds nodes that are free."""
        for found in await self.all(SETS):
            await self.delete(SETS, name_of(found))
        for kind in (SETS, PODS):
            await eventually(partial(self._is_empty, kind), f"no {kind} left", PATIENCE_SECONDS)

    async def _is_empty(self, kind: str) -> bool:
        return not await self.all(kind)
