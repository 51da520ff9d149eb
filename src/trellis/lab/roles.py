# SPDX-License-Identifier: Apache-2.0
"""Refreshes `trellis/embedded/access/bootstrap.json` from the lab's API server: `make gen`.

These are the roles and bindings that every real cluster is born with. What a server adds to each
object by itself (uid, times, owners of fields) is left out.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import aiohttp

import trellis
from trellis.lab.build import built
from trellis.lab.cluster import Lab, Place, running
from trellis.lab.components import Settings
from trellis.lab.errors import LabError
from trellis.lab.source import source

TARGET = Path(trellis.__path__[0]) / "embedded" / "access" / "bootstrap.json"
GROUP = "/apis/rbac.authorization.k8s.io/v1"
KINDS = {
    "clusterroles": "ClusterRole",
    "clusterrolebindings": "ClusterRoleBinding",
    "roles": "Role",
    "rolebindings": "RoleBinding",
}
BORN_WITH = ("kubernetes.io/bootstrapping", "rbac-defaults")
KEPT = ("name", "namespace", "labels", "annotations")
POLL_SECONDS = 0.1
WAIT_SECONDS = 60.0


async def harvest(lab: Lab) -> str:
    """The content of the data file, as this lab's server would have it: one object a line."""
    headers = {"Authorization": f"Bearer {lab.token}", "Accept": "application/json"}
    async with aiohttp.ClientSession(lab.server, headers=headers) as session:

        async def fetch(plural: str) -> list[dict[str, Any]]:
            path = f"{GROUP}/{plural}"
            async with session.get(path, ssl=lab.tls, raise_for_status=True) as response:
                items: list[dict[str, Any]] = (await response.json())["items"]
                return items

        async with asyncio.timeout(WAIT_SECONDS):
            # A controller of the real cluster fills the aggregated ones a moment later.
            while not _complete(await fetch("clusterroles")):
                await asyncio.sleep(POLL_SECONDS)
        found = [
            _bare(kind, item) for plural, kind in KINDS.items() for item in await fetch(plural)
        ]
    lines = [json.dumps(item, sort_keys=True, separators=(",", ":")) for item in found if item]
    return "[\n" + ",\n".join(sorted(lines)) + "\n]\n"


def _complete(roles: list[dict[str, Any]]) -> bool:
    """Whether every aggregated role holds what those that it gathers hold."""
    return all(
        rule in (role["rules"] or ())
        for role in roles
        for selector in role.get("aggregationRule", {}).get("clusterRoleSelectors", ())
        for other in roles
        if selector["matchLabels"].items() <= other["metadata"].get("labels", {}).items()
        for rule in other["rules"] or ()
    )


def _bare(kind: str, item: dict[str, Any]) -> dict[str, Any] | None:
    """An object as one would post it; None for one that a user or controller made."""
    label, value = BORN_WITH
    metadata = item.pop("metadata")
    if metadata.get("labels", {}).get(label) != value:
        return None
    kept = {name: metadata[name] for name in KEPT if name in metadata}
    return {**item, "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": kept}


async def _refresh() -> None:
    binary = built(source())
    async with running(binary, Settings(kubernetes=binary.kubernetes), Place()) as lab:
        text = await harvest(lab)
    TARGET.write_text(text)
    print(f"{TARGET.name}: {len(text)} bytes from Kubernetes {binary.kubernetes}")  # noqa: T201


if __name__ == "__main__":
    try:
        asyncio.run(_refresh())
    except LabError as error:
        sys.exit(f"make gen: {error}")
