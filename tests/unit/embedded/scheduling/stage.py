# SPDX-License-Identifier: Apache-2.0
"""Where stories of pods and nodes are played: on the embedded server, or on a real one."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trellis.api.meta import Resource
from trellis.kube.errors import Forbidden, NotFound
from trellis.kube.verbs import Deletion, merge_patch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from trellis.kube.client import Client
    from trellis.kube.collection import Collection

Body = dict[str, Any]

PODS = Resource("", "v1", "Pod", "pods")
NODES = Resource("", "v1", "Node", "nodes", namespaced=False)
EVENTS = Resource("events.k8s.io", "v1", "Event", "events")
PRIORITIES = Resource(
    "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", namespaced=False
)
CLAIMS = Resource("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims")
SLICES = Resource("resource.k8s.io", "v1", "ResourceSlice", "resourceslices", namespaced=False)
CLASSES = Resource("resource.k8s.io", "v1", "DeviceClass", "deviceclasses", namespaced=False)
HOSTNAME = "kubernetes.io/hostname"
ROOMY = {"cpu": "8", "memory": "32Gi", "pods": "110"}
_PATIENCE, _POLL = 60.0, 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """`scheduler`: who is to place the pods; `prefix` keeps what has no namespace apart."""

    client: Client
    namespace: str
    scheduler: str
    prefix: str

    def of(self, resource: Resource) -> Collection[Body]:
        return self.client.of(resource, dict, self.namespace if resource.namespaced else "")

    async def node(
        self,
        name: str,
        has: Body | None = None,
        *,
        labels: dict[str, str] | None = None,
        taints: list[Body] | None = None,
        unschedulable: bool = False,
    ) -> None:
        """A node of this story, which has no others."""
        full = self.prefix + name
        own = {HOSTNAME: full, **(labels or {})}
        ready = {"type": "Ready", "status": "True", "reason": "Story", "message": "none"}
        body = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": full,
                "labels": own,
                "annotations": {"trellis.dev/simulated": "true"},
            },
        }
        await self.of(NODES).create(body)
        amounts = {**ROOMY, **(has or {})}
        status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
        await self.of(NODES).patch(full, merge_patch({"status": status}), subresource="status")
        spec = {"taints": taints or None, "unschedulable": unschedulable or None}

        async def is_as_wanted() -> bool:
            # The real server's controllers put taints of their own onto nodes that are new.
            found = await self.of(NODES).patch(full, merge_patch({"spec": spec}))
            return len(found["spec"].get("taints", [])) == len(taints or [])

        await self.until(is_as_wanted, f"node {name}")

    async def priority(self, name: str, value: int, **more: Any) -> None:
        """A PriorityClass that pods may name from now on."""
        meta = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        full = self.prefix + name
        await self.of(PRIORITIES).create(meta | {"metadata": {"name": full}, "value": value} | more)

        async def is_known() -> bool:
            # The real server admits pods by what it has heard of, which lags behind what it stores.
            try:
                asking = self._pod(f"asks-for-{name}", {}, {"priorityClassName": full})
                await self.of(PODS).create(asking, dry_run=True)
            except Forbidden:
                return False
            return True

        await self.until(is_known, f"priority class {name}")

    async def pod(self, name: str, requests: Body | None = None, **spec: Any) -> Body:
        return await self.of(PODS).create(self._pod(name, requests or {}, spec))

    def _pod(self, name: str, requests: Body, spec: Body) -> Body:
        container = {
            "name": "main",
            "image": "example.com/none",
            "resources": {"requests": requests, "limits": _extended(requests)},
            **spec.pop("container", {}),
        }
        labels = spec.pop("labels", {})
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "labels": labels},
            "spec": {
                "schedulerName": self.scheduler,
                "terminationGracePeriodSeconds": 5,
                "containers": [container],
                **spec,
            },
        }

    async def get(self, name: str) -> Body | None:
        try:
            return await self.of(PODS).get(name)
        except NotFound:
            return None

    async def lift(self, name: str) -> None:
        await self.of(PODS).patch(name, merge_patch({"spec": {"schedulingGates": None}}))

    async def kill(self, name: str) -> None:
        await self.of(PODS).delete(name, Deletion(grace_seconds=0))

    async def node_of(self, name: str) -> str:
        """The node that the pod is given, sooner or later."""

        async def look() -> str:
            found = await self.get(name)
            assert found is not None, f"pod {name} is gone"
            return str(found["spec"].get("nodeName", ""))

        return str(await self.until(look, f"{name} to be bound")).removeprefix(self.prefix)

    async def why_not(self, name: str) -> str:
        """Why the pod has no node, once it is told."""

        async def look() -> str:
            found = (await self.get(name)) or {}
            conditions = found.get("status", {}).get("conditions", [])
            told = [one for one in conditions if one["type"] == "PodScheduled"]
            return told[0].get("message", "") if told and told[0]["status"] == "False" else ""

        return str(await self.until(look, f"{name} to be refused"))

    async def events(self, name: str, reason: str) -> list[Body]:
        listing = await self.of(EVENTS).list()
        return [
            one
            for one in listing.objects
            if one["regarding"].get("name") == name and one.get("reason") == reason
        ]

    async def until(self, look: Callable[[], Awaitable[Any]], what: str) -> Any:
        clock = self.client.clock
        deadline = clock.monotonic() + _PATIENCE
        while not (seen := await look()):
            assert clock.monotonic() < deadline, f"waited {_PATIENCE:.0f} s for {what}"
            await clock.sleep(_POLL)
        return seen

    async def clear(self) -> None:
        """Away with everything."""
        for pod in (await self.of(PODS).list()).objects:
            with suppress(NotFound):
                await self.kill(pod["metadata"]["name"])
        for claim in (await self.of(CLAIMS).list()).objects:
            with suppress(NotFound):
                await self._discard(claim["metadata"]["name"])
        for resource in (NODES, SLICES, CLASSES, PRIORITIES):
            for one in (await self.of(resource).list()).objects:
                if one["metadata"]["name"].startswith(self.prefix):
                    with suppress(NotFound):
                        await self.of(resource).delete(one["metadata"]["name"])

    async def _discard(self, claim: str) -> None:
        claims = self.of(CLAIMS)
        unused = {"status": {"allocation": None, "reservedFor": None}}
        await claims.patch(claim, merge_patch(unused), subresource="status")
        await claims.patch(claim, merge_patch({"metadata": {"finalizers": None}}))
        await claims.delete(claim)


def _extended(requests: Body) -> Body:
    """Extended resources are asked for as limits too."""
    return {name: amount for name, amount in requests.items() if "/" in name}
