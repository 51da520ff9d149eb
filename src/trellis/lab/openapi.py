# SPDX-License-Identifier: Apache-2.0
"""Refreshes `openapi.json.xz` of `trellis/embedded/wire`: `make gen`.

The file holds the OpenAPI v3 documents of all built-in groups as the server writes them, and one
of a made-up custom group, from which those of real ones are made.
"""

from __future__ import annotations

import asyncio
import lzma
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.lab.harvest import refresh

if TYPE_CHECKING:
    from trellis.lab.harvest import Asker

INDEX = "/openapi/v3"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# Names that occur nowhere else, so that they can be replaced in the text.
GROUP, VERSION = "zzgroup.example.com", "vzz"
CUSTOM = f"apis/{GROUP}/{VERSION}"
SCOPES = {"Zzinside": "Namespaced", "Zzoutside": "Cluster"}
PATIENCE_SECONDS = 60.0


def definition(kind: str, scope: str) -> dict[str, Any]:
    """A kind with every subresource that a definition may ask for."""
    plural = f"{kind.lower()}s"
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object"}},
        "subresources": {"status": {}, "scale": paths},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": scope,
            "names": {"plural": plural, "kind": kind},
            "versions": [version],
        },
    }


async def documents(server: Asker) -> bytes:
    found = {path: await server.fetch(f"{INDEX}/{path}") for path in sorted(await _index(server))}
    for kind, scope in SCOPES.items():
        await server.create(DEFINITIONS, definition(kind, scope))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await _complete(server):
            await asyncio.sleep(0.2)
    found[CUSTOM] = await server.fetch(f"{INDEX}/{CUSTOM}")
    return written(found)


async def _index(server: Asker) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(await server.fetch(INDEX))["paths"]
    return found


async def _complete(server: Asker) -> bool:
    """Documents follow definitions after a while, one kind after the other."""
    if CUSTOM not in await _index(server):
        return False
    text = await server.fetch(f"{INDEX}/{CUSTOM}")
    return all(f".{kind}".encode() in text for kind in SCOPES)


def written(found: dict[str, bytes]) -> bytes:
    raw = {path: msgspec.Raw(document.strip()) for path, document in found.items()}
    return lzma.compress(msgspec.json.encode(raw), preset=9 | lzma.PRESET_EXTREME)


if __name__ == "__main__":
    refresh({"openapi.json.xz": documents})
