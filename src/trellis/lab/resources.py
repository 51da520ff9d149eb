# SPDX-License-Identifier: Apache-2.0
"""Refreshes `resources.json` and `columns.json` of `trellis/embedded/wire`: `make gen`.

They say which built-in resources a real server serves by default, in its own order, and which
columns it gives each as a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from trellis.lab.harvest import refresh

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trellis.lab.harvest import Asker

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


async def resources(server: Asker) -> bytes:
    served = [
        {"group": group, "version": version, "resources": found}
        async for group, version, found in _served(server)
    ]
    version = msgspec.json.decode(await server.fetch("/version"))
    return written(server.kubernetes, served, version)


async def columns(server: Asker) -> bytes:
    found: dict[str, list[dict[str, Any]]] = {}
    async for group, version, listed in _served(server):
        for resource in listed:
            if "list" in resource["verbs"]:
                path = f"{_path(group, version)}/{resource['name']}"
                table = msgspec.json.decode(await server.fetch(f"{path}?limit=1", TABLE))
                found[path] = table["columnDefinitions"]
    return written_columns(found)


async def _served(server: Asker) -> AsyncIterator[tuple[str, str, list[dict[str, Any]]]]:
    versions = [("", "v1")]
    for group in msgspec.json.decode(await server.fetch("/apis"))["groups"]:
        versions += [(group["name"], each["version"]) for each in group["versions"]]
    for name, version in versions:
        answer = msgspec.json.decode(await server.fetch(_path(name, version)))
        yield name, version, answer["resources"]


def _path(group: str, version: str) -> str:
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def written(kubernetes: str, served: list[dict[str, Any]], version: dict[str, str]) -> bytes:
    """One line a resource, so that a change of release reads as a change of lines."""
    lines = [
        f'{{"kubernetes": {_json(kubernetes)},',
        f'"version": {_json(version)},',
        '"served": [',
    ]
    for position, each in enumerate(served):
        head = f'{{"group": {_json(each["group"])}, "version": {_json(each["version"])}'
        listed = ",\n".join(_json(resource) for resource in each["resources"])
        tail = "," if position + 1 < len(served) else ""
        lines.append(f'{head}, "resources": [\n{listed}]}}{tail}')
    return "\n".join([*lines, "]}", ""]).encode()


def written_columns(found: dict[str, list[dict[str, Any]]]) -> bytes:
    """Columns once each, a line each; resources by their places: most share most of them."""
    unique = list(dict.fromkeys(_json(column) for each in found.values() for column in each))
    places = {column: place for place, column in enumerate(unique)}
    used = {path: [places[_json(column)] for column in each] for path, each in found.items()}
    lines = ",\n".join(f"{_json(path)}: {_json(listed)}" for path, listed in used.items())
    listed = ",\n".join(unique)
    return f'{{"columns": [\n{listed}],\n"resources": {{\n{lines}}}}}\n'.encode()


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


if __name__ == "__main__":
    refresh({"resources.json": resources, "columns.json": columns})
