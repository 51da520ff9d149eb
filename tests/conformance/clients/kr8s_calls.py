# SPDX-License-Identifier: Apache-2.0
"""python kr8s_calls.py KUBECONFIG NAMESPACE: calls of kr8s, unmodified.

A program: it prints what each call gave, as JSON. Never imported.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

kr8s: Any = importlib.import_module("kr8s.asyncio")
objects: Any = importlib.import_module("kr8s.asyncio.objects")
errors: Any = importlib.import_module("kr8s")

NAMES = "metadata.name!=kube-root-ca.crt"
TWO = "metadata.name=two"
CONTAINERS = {"containers": [{"name": "main", "image": "registry.example/a:1"}]}


async def main(kubeconfig: str, namespace: str) -> None:
    calls = Calls(await kr8s.api(kubeconfig=kubeconfig, namespace=namespace), namespace)
    names = [name for name in vars(Calls) if not name.startswith("_")]
    print(json.dumps({name: await _said(getattr(calls, name)) for name in names}))


class Calls:
    """In the order in which they are made: later ones see what earlier ones did."""

    def __init__(self, api: Any, namespace: str) -> None:
        self._api = api
        self._where = {"namespace": namespace, "api": api}
        self._namespace = namespace

    async def version(self) -> Any:
        return (await self._api.version())["gitVersion"]

    async def resources(self) -> Any:
        return {"pods", "jobs"} <= {one["name"] for one in await self._api.api_resources()}

    async def whoami(self) -> Any:
        return await self._api.whoami()

    async def create(self) -> Any:
        made = await self._config_map("one")
        await made.create()
        return made.raw["data"]

    async def create_again(self) -> Any:
        await (await self._config_map("one")).create()

    async def get(self) -> Any:
        return [found.name async for found in self._api.get("configmaps", field_selector=NAMES)]

    async def get_one(self) -> Any:
        return (await objects.ConfigMap.get("one", **self._where)).raw["data"]

    async def get_none(self) -> Any:
        await objects.ConfigMap.get("none", **self._where, timeout=1)

    async def patch(self) -> Any:
        found = await objects.ConfigMap.get("one", **self._where)
        await found.patch({"data": {"k": "w"}})
        return found.raw["data"]

    async def label(self) -> Any:
        found = await objects.ConfigMap.get("one", **self._where)
        await found.label({"a": "b"})
        await found.annotate({"c": "d"})
        return dict(found.labels), dict(found.annotations)

    async def watch(self) -> Any:
        following = asyncio.create_task(self._follow())
        await asyncio.sleep(0.5)
        await (await self._config_map("two")).create()
        return await asyncio.wait_for(following, 20)

    async def pod(self) -> Any:
        made = await self._made(objects.Pod, "pod", {"schedulerName": "nobody", **CONTAINERS})
        await made.create()
        await made.refresh()
        return [await made.ready(), made.status.phase]

    async def wait(self) -> Any:
        made = await objects.Pod.get("pod", **self._where)
        await made.wait("jsonpath='{.status.phase}'=Pending", timeout=10)
        return made.status.phase

    async def deployment(self) -> Any:
        template = {"metadata": {"labels": {"app": "web"}}, "spec": CONTAINERS}
        spec = {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": template}
        made = await self._made(objects.Deployment, "web", spec)
        await made.create()
        await made.patch({"spec": {"paused": True}})
        return made.spec["paused"], made.replicas

    async def scale(self) -> Any:
        found = await objects.Deployment.get("web", **self._where)
        await found.scale(1)
        await found.scale(0)
        return found.replicas

    async def patch_by_operations(self) -> Any:
        found = await objects.ConfigMap.get("one", **self._where)
        await found.patch([{"op": "add", "path": "/data/l", "value": "3"}], type="json")
        return found.raw["data"]

    async def get_by_label(self) -> Any:
        return [
            found.name async for found in self._api.get("configmaps", label_selector={"a": "b"})
        ]

    async def remove_label(self) -> Any:
        found = await objects.ConfigMap.get("one", **self._where)
        await found.remove_label("a")
        return dict(found.labels)

    async def refused(self) -> Any:
        made = await self._made(objects.Pod, "Bad_Name", CONTAINERS)
        await made.create()

    async def unknown(self) -> Any:
        return [found async for found in self._api.get("nothings")]

    async def exists(self) -> Any:
        return [await (await self._config_map(name)).exists() for name in ("one", "none")]

    async def delete(self) -> Any:
        made = await objects.Pod.get("pod", **self._where)
        await made.delete()
        await made.wait("delete", timeout=20)
        return await made.exists()

    async def adopt(self) -> Any:
        owner = await objects.ConfigMap.get("one", **self._where)
        child = await objects.ConfigMap.get("two", **self._where)
        await owner.adopt(child)
        await child.refresh()
        return [reference["name"] for reference in child.metadata["ownerReferences"]]

    async def owner_gone(self) -> Any:
        child = await objects.ConfigMap.get("two", **self._where)
        await (await objects.ConfigMap.get("one", **self._where)).delete()
        await child.wait("delete", timeout=30)
        return await child.exists()

    async def _follow(self) -> Any:
        async for kind, found in self._api.watch("configmaps", field_selector=TWO):
            return [kind, found.name]
        return None

    async def _config_map(self, name: str) -> Any:
        metadata = {"name": name, "namespace": self._namespace}
        return await objects.ConfigMap({"metadata": metadata, "data": {"k": "v"}}, api=self._api)

    async def _made(self, kind: Any, name: str, spec: dict[str, Any]) -> Any:
        metadata = {"name": name, "namespace": self._namespace}
        return await kind({"metadata": metadata, "spec": spec}, api=self._api)


async def _said(call: Callable[[], Awaitable[Any]]) -> Any:
    try:
        return await call()
    except (
        errors.NotFoundError,
        errors.ServerError,
        errors.APITimeoutError,
        ValueError,
    ) as refusal:
        return {"refused": type(refusal).__name__, "said": str(refusal)}


asyncio.run(main(*sys.argv[1:]))
