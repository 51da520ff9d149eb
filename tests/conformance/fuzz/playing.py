# SPDX-License-Identifier: Apache-2.0
"""Plays operations on one server and keeps all that can be compared: answers, events, the end."""

from __future__ import annotations

import asyncio
import copy
import json
import re
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.conformance.normalise import Normaliser
from tests.support.api import PATCHES, Request
from tests.support.namespaces import fresh_namespace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conformance.fuzz.kinds import Kind
    from tests.conformance.fuzz.operations import Operation
    from tests.support.api import Answer, Api

EVENT_SECONDS = 20.0
LAST = "zz-the-last"
# The order of keys in a quoted object is that of what the patch and Go's types made of its bytes.
_QUOTED = re.compile(r'(?<=Invalid value: )"\{.*\}"(?=: )')

Seen = list[dict[str, Any]]


@dataclass(slots=True)
class Player:
    api: Api
    namespace: str
    seen: Seen = field(default_factory=list)

    async def play(self, operations: Sequence[Operation]) -> Seen:
        kinds = list(dict.fromkeys(operation.kind for operation in operations))
        async with AsyncExitStack() as stack:
            watches = [await self._watch(kind, stack) for kind in kinds]
            for operation in operations:
                answer = await self._do(operation)
                self.seen.append({"did": str(operation), **_shown(answer)})
            for kind in kinds:
                found = await self.api.do("GET", kind.path(self.namespace))
                self.seen.append({"at the end": kind.plural, "items": found["items"]})
            for kind, watch in zip(kinds, watches, strict=True):
                await self._finish(kind)
                events = await _events(watch)
                self.seen.append({"events of": kind.plural, "events": events})
        names = {self.namespace: "<ns>"}
        return Normaliser(names, datetime.now(UTC)).observations(self.seen)

    async def _watch(self, kind: Kind, stack: AsyncExitStack) -> Any:
        version = (await self.api.do("GET", kind.path(self.namespace)))["metadata"]
        query = {"watch": "1", "resourceVersion": version["resourceVersion"]}
        request = Request(method="GET", path=kind.path(self.namespace), query=query)
        return await stack.enter_async_context(self.api.stream(request))

    async def _finish(self, kind: Kind) -> None:
        """The last event of a watch is of this object: whatever comes before it, has come."""
        spec: dict[str, Any] = {} if kind.custom else {"containers": [{"name": "m", "image": "i"}]}
        body = {"apiVersion": kind.version, "kind": kind.name, "spec": spec}
        await self.api.do("POST", kind.path(self.namespace), {**body, "metadata": {"name": LAST}})

    async def _do(self, operation: Operation) -> Answer:
        path = operation.kind.path(self.namespace)
        one = "/".join(filter(None, (path, operation.name, operation.subresource)))
        if operation.verb == "create":
            return await self._send("POST", path, operation)
        if operation.verb == "delete":
            return await self._send("DELETE", one, operation)
        if operation.verb == "update":
            return await self._update(one, operation)
        return await self._send("PATCH", one, operation)

    async def _update(self, path: str, operation: Operation) -> Answer:
        """Reads, changes and writes; what is not there is written as it is, and refused."""
        found = await self.api.send(Request(method="GET", path=path))
        current = found.body if found.status == 200 else {"metadata": {"name": operation.name}}
        return await self._send("PUT", path, operation, _laid_over(current, operation.body))

    async def _send(self, method: str, path: str, operation: Operation, body: Any = None) -> Answer:
        headers = {"User-Agent": f"{operation.manager}/1.0"}
        query = dict(operation.query)
        if method == "PATCH":
            headers["Content-Type"] = PATCHES[operation.verb]
        if operation.verb == "apply":
            query["fieldManager"] = operation.manager
        given = operation.body if body is None else body
        request = Request(method=method, path=path, body=given, query=query, headers=headers)
        return await self.api.send(request)


async def play(api: Api, operations: Sequence[Operation]) -> Seen:
    async with fresh_namespace(api) as namespace:
        return await Player(api, namespace).play(operations)


def _shown(answer: Answer) -> dict[str, Any]:
    warnings = answer.headers.getall("Warning", [])
    return {"status": answer.status, "warnings": sorted(warnings), "body": _told(answer.body)}


def _told(value: Any) -> Any:
    """An answer with what is by chance, or matters to nobody, taken out of its messages."""
    if isinstance(value, list):
        return [_told(item) for item in value]
    if not isinstance(value, dict):
        return value
    told = {key: _told(inner) for key, inner in value.items()}
    if isinstance(value.get("message"), str):
        told["message"] = _in_order(_QUOTED.sub("<object>", value["message"]))
    return told


def _in_order(message: str) -> str:
    """Errors of a patch's types, a line each, come in the order of a Go map; the first field that
    the schema does not know ends the search, so how many come before it is by chance."""
    head, found, errors = message.partition("errors:\n")
    if "field not declared in schema" in message and "typed patch object" in message:
        return message.partition("): ")[0]
    return head + found + "\n".join(sorted(errors.split("\n"))) if found else message


def _laid_over(current: Any, change: Any) -> Any:
    """Objects are merged, anything else is replaced; the caller's own."""
    if not isinstance(current, dict) or not isinstance(change, dict):
        return copy.deepcopy(change)
    merged = {key: _laid_over(current.get(key), inner) for key, inner in change.items()}
    return {**current, **merged}


async def _events(watch: Any) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    while True:
        async with asyncio.timeout(EVENT_SECONDS):
            line = await watch.content.readline()
        if not line:
            return events
        event = json.loads(line)
        if event["object"]["metadata"].get("name") == LAST:
            return events
        events.append(event)
