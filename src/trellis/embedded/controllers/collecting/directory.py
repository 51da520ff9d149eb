# SPDX-License-Identifier: Apache-2.0
"""Which kinds there are: the built-in ones by discovery, once; custom ones as they come and go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from trellis.api.meta import Resource
from trellis.kube.codec import decode
from trellis.kube.transport import Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trellis.kube.client import Client

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_TIMEOUT = 30.0
_NEEDED = frozenset({"list", "watch", "delete"})


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind whose objects can be listed, watched and deleted. `swept`: a collection at once."""

    resource: Resource
    swept: bool = True


class Directory:
    """Every kind once, whatever versions it is served in."""

    def __init__(self, natives: Iterable[Kind] = ()) -> None:
        self._kinds = {kind.resource.full_name: kind for kind in natives}
        self._by_kind = {_coordinates(kind.resource): kind for kind in self._kinds.values()}

    def __iter__(self) -> Iterator[Kind]:
        return iter(tuple(self._kinds.values()))

    def add(self, resource: Resource) -> None:
        kind = self._kinds[resource.full_name] = Kind(resource)
        self._by_kind[_coordinates(resource)] = kind

    def remove(self, resource: Resource) -> None:
        self._kinds.pop(resource.full_name, None)
        self._by_kind.pop(_coordinates(resource), None)

    def find(self, api_version: str, kind: str) -> Resource | None:
        """By what an owner reference says; of its version only the group counts."""
        found = self._by_kind.get((api_version.rpartition("/")[0], kind))
        return found.resource if found else None


def _coordinates(resource: Resource) -> tuple[str, str]:
    return resource.group, resource.kind


class _Named(msgspec.Struct, frozen=True):
    name: str = ""


class _ResponseKind(msgspec.Struct, frozen=True):
    kind: str = ""


class _Discovered(msgspec.Struct, rename="camel"):
    resource: str
    scope: str
    verbs: list[str]
    response_kind: _ResponseKind = _ResponseKind()


class _Version(msgspec.Struct):
    version: str
    resources: list[_Discovered] = []


class _Group(msgspec.Struct):
    metadata: _Named = _Named()
    versions: list[_Version] = []


class _Groups(msgspec.Struct):
    items: list[_Group] = []


async def discover(client: Client) -> Directory:
    """Every kind that is served now, in the version that the server likes best."""
    found: dict[str, Kind] = {}
    for path in ("/api", "/apis"):
        for kind in _kinds(await _groups(client, path)):
            found.setdefault(kind.resource.full_name, kind)
    return Directory(found.values())


async def _groups(client: Client, path: str) -> list[_Group]:
    others = tuple(header for header in client.headers if header[0] != "Accept")
    headers = (*others, ("Accept", _AGGREGATED))
    request = Request(method="GET", path=path, headers=headers, timeout=_TIMEOUT)
    return decode((await client.send(request)).body, _Groups, f"GET {path}").items


def _kinds(groups: Iterable[_Group]) -> Iterator[Kind]:
    for group in groups:
        for version in group.versions:
            for found in version.resources:
                if not _NEEDED.issubset(found.verbs):
                    continue
                resource = Resource(
                    group.metadata.name,
                    version.version,
                    found.response_kind.kind,
                    found.resource,
                    found.scope == "Namespaced",
                )
                yield Kind(resource, swept="deletecollection" in found.verbs)
