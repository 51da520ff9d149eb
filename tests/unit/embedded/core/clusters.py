# SPDX-License-Identifier: Apache-2.0
"""An API server in the test's own process, on virtual time, and an admin who asks it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.support.virtual import VirtualClock, dice
from trellis.embedded.core.cluster import ADMIN, Cluster, Settings
from trellis.embedded.exchange import Answer, Ask, Feed

TOKEN = "admin"
PATCH = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


@dataclass(frozen=True, slots=True)
class Admin:
    cluster: Cluster

    async def ask(self, method: str, path: str, body: Any = None, **more: str) -> Answer:
        """`patch` names the kind of a patch; anything else is a query."""
        headers = {"authorization": f"Bearer {TOKEN}", "user-agent": "tests/1"}
        patch = more.pop("patch", "")
        if body is not None:
            headers["content-type"] = PATCH.get(patch, "application/json")
        return await self.cluster.handle(
            Ask(
                method=method,
                path=path,
                query=tuple(more.items()),
                headers=headers,
                body=b"" if body is None else json.dumps(body).encode(),
            )
        )

    async def do(self, method: str, path: str, body: Any = None, **more: str) -> Any:
        """What must succeed; returns the decoded answer."""
        answer = await self.ask(method, path, body, **more)
        assert isinstance(answer.body, bytes)
        assert answer.status < 300, answer.body
        return json.loads(answer.body)

    async def feed(self, path: str, **query: str) -> Feed:
        answer = await self.ask("GET", path, watch="1", **query)
        assert answer.status == 200
        assert not isinstance(answer.body, bytes)
        return answer.body


async def fresh_cluster(seed: int = 1) -> Admin:
    settings = Settings(clock=VirtualClock(), rng=dice(seed), tokens={TOKEN: ADMIN})
    cluster = Cluster(settings)
    await cluster.start()
    return Admin(cluster)


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": data or {"a": "1"}}
