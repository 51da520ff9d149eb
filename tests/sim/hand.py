# SPDX-License-Identifier: Apache-2.0
"""How everybody but the operator asks the API server: as themselves, at once, without faults."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from tests.sim.ground import ADMIN_TOKEN
from trellis.embedded.exchange import Ask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.core.cluster import Cluster

Body = dict[str, Any]

MERGE = "application/merge-patch+json"
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks for what, while the API server carries it out."""

    who: str
    method: str = ""
    path: str = ""
    dry: bool = False

    @property
    def is_operator(self) -> bool:
        return self.who.startswith("operator")


NOBODY = Caller("nobody")
CALLER: ContextVar[Caller] = ContextVar("caller", default=NOBODY)


@contextmanager
def calling(caller: Caller) -> Iterator[None]:
    token = CALLER.set(caller)
    try:
        yield
    finally:
        CALLER.reset(token)


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: Body

    @property
    def ok(self) -> bool:
        return self.status < 300

    @property
    def message(self) -> str:
        return str(self.body.get("message", ""))


@dataclass(frozen=True, slots=True)
class Hand:
    """Asks in the name of somebody; never tries again, and never raises for a refusal."""

    cluster: Cluster
    who: str

    async def ask(self, method: str, path: str, body: Body | None = None, **query: str) -> Reply:
        # Every exchange lets others go on, as a network does.
        await asyncio.sleep(0)
        headers = {"authorization": f"Bearer {ADMIN_TOKEN}", "user-agent": f"{self.who}/1"}
        if body is not None:
            headers["content-type"] = MERGE if method == "PATCH" else JSON
        content = b"" if body is None else msgspec.json.encode(body)
        ask = Ask(
            method=method, path=path, query=tuple(query.items()), headers=headers, body=content
        )
        with calling(Caller(self.who, method, path, dry="dryRun" in query)):
            answer = await self.cluster.handle(ask)
        assert isinstance(answer.body, bytes)
        return Reply(answer.status, msgspec.json.decode(answer.body))
