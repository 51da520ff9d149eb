# SPDX-License-Identifier: Apache-2.0
"""What a server serves: which groups, in which versions, with which resources.

That something is not served is an answer, never an error: features turn themselves off by it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from trellis.api.meta import Resource
from trellis.kube.codec import JSON, decode
from trellis.kube.errors import Refused, Unreadable
from trellis.kube.transport import Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trellis.kube.client import Client

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_TIMEOUT = 30.0


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """Every resource of a server, a group's versions in the server's own order of preference.

    `unreachable` names versions whose own server does not answer: nothing is known about those.
    """

    resources: tuple[Resource, ...]
    unreachable: tuple[str, ...] = ()

    def choose(self, group: str, plural: str, versions: Sequence[str] = ()) -> Resource | None:
        """In the first of these versions that has it; none given: in the server's favourite.

        None: it is not served so.
        """
        found = [
            resource
            for resource in self.resources
            if resource.group == group and resource.plural == plural
        ]
        if not versions:
            return found[0] if found else None
        served = {resource.version: resource for resource in found}
        return next((served[version] for version in versions if version in served), None)


class _Named(msgspec.Struct):
    name: str = ""


class _ResponseKind(msgspec.Struct):
    kind: str = ""


class _Discovered(msgspec.Struct, rename="camel"):
    resource: str
    scope: str
    response_kind: _ResponseKind | None = None


class _DiscoveredVersion(msgspec.Struct):
    version: str
    resources: list[_Discovered] | None = None
    freshness: str = ""


class _DiscoveredGroup(msgspec.Struct):
    metadata: _Named
    versions: list[_DiscoveredVersion] | None = None


class _Root(msgspec.Struct):
    """The answer of /api or /apis, in whichever of its three shapes."""

    kind: str
    items: list[_DiscoveredGroup] | None = None
    versions: list[str] | None = None
    groups: list[_Group] | None = None


class _GroupVersion(msgspec.Struct):
    version: str


class _Group(msgspec.Struct):
    name: str
    versions: list[_GroupVersion]


class _Listed(msgspec.Struct):
    name: str
    kind: str
    namespaced: bool


class _ResourceList(msgspec.Struct):
    resources: list[_Listed] | None = None


async def discover(client: Client) -> Served:
    """Asks anew each time."""
    roots = await asyncio.gather(_root(client, "/api"), _root(client, "/apis"))
    if all(root.kind == "APIGroupDiscoveryList" for root in roots):
        return _aggregated(group for root in roots for group in root.items or [])
    return await _one_by_one(client, roots)


async def _root(client: Client, path: str) -> _Root:
    return decode(await _get(client, path, f"{_AGGREGATED},{JSON}"), _Root, f"GET {path}")


async def _get(client: Client, path: str, accept: str) -> bytes:
    others = tuple(header for header in client.headers if header[0] != "Accept")
    request = Request(
        method="GET", path=path, headers=(*others, ("Accept", accept)), timeout=_TIMEOUT
    )
    return (await client.send(request)).body


def _aggregated(groups: Iterable[_DiscoveredGroup]) -> Served:
    resources: list[Resource] = []
    unreachable: list[str] = []
    for group in groups:
        for version in group.versions or []:
            if version.freshness == "Stale":
                unreachable.append(f"{group.metadata.name}/{version.version}")
            resources += (
                Resource(
                    group.metadata.name,
                    version.version,
                    found.response_kind.kind if found.response_kind else "",
                    found.resource,
                    found.scope == "Namespaced",
                )
                for found in version.resources or []
            )
    return Served(resources=tuple(resources), unreachable=tuple(unreachable))


async def _one_by_one(client: Client, roots: Iterable[_Root]) -> Served:
    """As servers answer that do not know the aggregated form."""
    core = [("", version) for root in roots for version in root.versions or []]
    others = [
        (group.name, entry.version)
        for root in roots
        for group in root.groups or []
        for entry in group.versions
    ]
    answers = await asyncio.gather(*(_version(client, *each) for each in (*core, *others)))
    resources = (resource for answer in answers if isinstance(answer, list) for resource in answer)
    return Served(
        resources=tuple(resources),
        unreachable=tuple(answer for answer in answers if isinstance(answer, str)),
    )


async def _version(client: Client, group: str, version: str) -> list[Resource] | str:
    """Its resources; or its name, if it has a server of its own that does not answer."""
    path = f"/apis/{group}/{version}" if group else f"/api/{version}"
    try:
        listed = decode(await _get(client, path, JSON), _ResourceList, f"GET {path}")
    except (Refused, Unreadable):
        return f"{group}/{version}"
    return [
        Resource(group, version, entry.kind, entry.name, entry.namespaced)
        for entry in listed.resources or []
        if "/" not in entry.name
    ]
