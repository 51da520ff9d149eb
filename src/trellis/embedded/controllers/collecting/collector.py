# SPDX-License-Identifier: Apache-2.0
"""The garbage collector: does what was decided, and looks again when something was in the way."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.embedded.controllers.collecting.deciding import (
    Ask,
    Delete,
    Disown,
    Findings,
    LookAt,
    Release,
    decide,
)
from trellis.embedded.controllers.collecting.graph import Thing
from trellis.instruments.logs import logger
from trellis.kube.errors import KubeError, NotFound
from trellis.kube.verbs import Deletion, merge_patch
from trellis.runtime.queue import WorkQueue

if TYPE_CHECKING:
    from trellis.embedded.controllers.collecting.census import Census
    from trellis.embedded.controllers.collecting.deciding import Action
    from trellis.embedded.controllers.collecting.graph import Node
    from trellis.kube.client import Client
    from trellis.kube.collection import Collection
    from trellis.runtime.env import Env

_WORKERS = 8

_log = logger(__name__)


class Collector:
    def __init__(self, client: Client, census: Census, env: Env) -> None:
        self._client = client
        self._census = census
        self._queue: WorkQueue[str] = WorkQueue(env.clock, env.rng)
        census.on_look(self._queue.add)

    async def run(self) -> None:
        await self._census.until_read()
        async with asyncio.TaskGroup() as group:
            for number in range(_WORKERS):
                group.create_task(self._work(), name=f"garbage collector {number}")

    async def _work(self) -> None:
        while (uid := await self._queue.take()) is not None:
            try:
                await self._settle(uid)
            except KubeError as error:
                after = self._queue.fail(uid)
                _log.debug("not collected", uid=uid, error=str(error), again_after=after)
            else:
                self._queue.succeed(uid)

    async def _settle(self, uid: str) -> None:
        actions = self._decided(uid, Findings())
        asked = [action for action in actions if isinstance(action, Ask)]
        if asked:
            there = [one.uid for one in asked if await self._is_there(one)]
            gone = frozenset(one.uid for one in asked) - set(there)
            actions = self._decided(uid, Findings(frozenset(there), gone))
        for action in actions:
            await self._do(action)

    def _decided(self, uid: str, findings: Findings) -> tuple[Action, ...]:
        return decide(self._census.graph, self._census.directory, uid, findings)

    async def _is_there(self, asked: Ask) -> bool:
        try:
            found = await self._client.of(asked.resource, Thing, asked.namespace).get(asked.name)
        except NotFound:
            return False
        return found.metadata.uid == asked.uid

    async def _do(self, action: Action) -> None:
        try:
            match action:
                case Delete():
                    await self._delete(action)
                case Disown():
                    await self._disown(action)
                case Release():
                    rest = [one for one in action.node.head.finalizers if one != action.finalizer]
                    await self._patch(action.node, {"finalizers": rest})
                case LookAt():
                    for uid in action.uids:
                        self._queue.add(uid)
        except NotFound:
            # Somebody was faster; the watch will tell.
            return

    async def _delete(self, action: Delete) -> None:
        head = action.node.head
        # By its version too: somebody may have given it an owner since.
        deletion = Deletion(
            uid=head.uid, resource_version=head.resource_version, propagation=action.policy
        )
        await self._of(action.node).delete(head.name, deletion)

    async def _disown(self, action: Disown) -> None:
        references: list[dict[str, Any]] = []
        for one in action.node.head.owner_references:
            written: dict[str, Any] = msgspec.to_builtins(one)
            if one.uid not in action.owners:
                references.append(written)
            elif action.unblock:
                references.append({**written, "blockOwnerDeletion": False})
        await self._patch(action.node, {"ownerReferences": references or None})

    async def _patch(self, node: Node, metadata: dict[str, Any]) -> None:
        head = node.head
        guard = {"uid": head.uid, "resourceVersion": head.resource_version}
        await self._of(node).patch(head.name, merge_patch({"metadata": {**metadata, **guard}}))

    def _of(self, node: Node) -> Collection[bytes]:
        return self._client.of(node.resource, bytes, node.head.namespace)
