# SPDX-License-Identifier: Apache-2.0
"""What is served, told in both forms: aggregated in one document, and group by group.

Pure: from what the registry serves now. Whoever asks keeps the answers until that changes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.embedded.wire.resources import group_versions, storage_hashes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trellis.embedded.served import Served

Object = dict[str, Any]

_VERSION = re.compile(r"v([0-9]+)(?:(alpha|beta)([0-9]+))?", re.ASCII)
_RANKS = {"alpha": 0, "beta": 1, None: 2}
# Discovery of custom kinds lists verbs in the order in which the server's code has them.
_CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_CUSTOM_SUBRESOURCE_VERBS = ("get", "patch", "update")


class Catalogue:
    """Everything that discovery says, for one state of the registry."""

    def __init__(self, served: Iterable[Served], server: str) -> None:
        self._server = server
        self._groups: dict[str, dict[str, list[Served]]] = {}
        for group, version in group_versions():
            self._groups.setdefault(group, {})[version] = []
        customs: list[Served] = []
        for each in served:
            if each.custom:
                customs.append(each)
            else:
                self._groups.setdefault(each.group, {}).setdefault(each.version, []).append(each)
        for each in sorted(customs, key=lambda one: (one.group, one.plural)):
            self._groups.setdefault(each.group, {}).setdefault(each.version, []).append(each)
        self._native = {group for group, _ in group_versions()}
        self._aggregated: dict[bool, tuple[bytes, str]] = {}

    def core_versions(self) -> Object:
        """GET /api."""
        address = {"clientCIDR": "0.0.0.0/0", "serverAddress": self._server}
        return {
            "kind": "APIVersions",
            "versions": list(self._groups[""]),
            "serverAddressByClientCIDRs": [address],
        }

    def groups(self) -> Object:
        """GET /apis."""
        listed = [self._group(name) for name in self._groups if name]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}

    def group(self, name: str) -> Object | None:
        """GET /apis/GROUP, None if nothing of that group is served."""
        if not name or name not in self._groups:
            return None
        return {"kind": "APIGroup", "apiVersion": "v1", **self._group(name)}

    def resources(self, group: str, version: str) -> Object | None:
        """GET /apis/GROUP/VERSION and /api/v1, None if there is no such version."""
        served = self._groups.get(group, {}).get(version)
        if served is None:
            return None
        listed = [entry for each in served for entry in _entries(each)]
        name = f"{group}/{version}" if group else version
        start = {"kind": "APIResourceList", **({"apiVersion": "v1"} if group else {})}
        return {**start, "groupVersion": name, "resources": listed}

    def aggregated(self, *, core: bool) -> tuple[bytes, str]:
        """The one document of /api or /apis, and its ETag."""
        if core not in self._aggregated:
            items = [self._item(name) for name in self._groups if (name == "") is core]
            start = {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2"}
            data = msgspec.json.encode({**start, "metadata": {}, "items": items}) + b"\n"
            self._aggregated[core] = data, f'"{hashlib.sha512(data).hexdigest().upper()}"'
        return self._aggregated[core]

    def is_native(self, group: str) -> bool:
        return group in self._native

    def _versions(self, group: str) -> list[str]:
        versions = list(self._groups[group])
        return versions if group in self._native else sorted(versions, key=precedence)

    def _group(self, name: str) -> Object:
        listed = [
            {"groupVersion": f"{name}/{version}", "version": version}
            for version in self._versions(name)
        ]
        return {"name": name, "versions": listed, "preferredVersion": listed[0]}

    def _item(self, name: str) -> Object:
        versions = [
            {
                "version": version,
                "resources": [_aggregated(each) for each in self._groups[name][version]],
                "freshness": "Current",
            }
            for version in self._versions(name)
        ]
        return {"metadata": {"name": name} if name else {}, "versions": versions}


def precedence(version: str) -> tuple[int, int, int, str]:
    """Sorts versions as discovery has them: stable before beta before alpha, the highest first."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return (1, 0, 0, version)
    major, rank, minor = int(found[1]), _RANKS[found[2]], int(found[3] or 0)
    return (-rank, -major, -minor, "")


def _entries(served: Served) -> Iterator[Object]:
    """The resource, then its subresources, as the old form lists them."""
    entry: Object = {
        "name": served.plural,
        "singularName": served.singular,
        "namespaced": served.namespaced,
        "kind": served.kind,
        "verbs": _verbs(served),
        "shortNames": list(served.short_names),
        "categories": list(served.categories),
        "storageVersionHash": _storage_hash(served),
    }
    yield {name: value for name, value in entry.items() if value or name not in _OMITTED}
    for name, about in served.subresources.items():
        yield {
            "name": f"{served.plural}/{name}",
            "singularName": "",
            "namespaced": served.namespaced,
            **_subresource_kind(served, name, about),
            "verbs": list(about.get("verbs", _CUSTOM_SUBRESOURCE_VERBS)),
        }


_OMITTED = frozenset({"shortNames", "categories", "storageVersionHash"})


def _subresource_kind(served: Served, name: str, about: Any) -> Object:
    if served.custom and name == "scale":
        return {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    found = {field: about[field] for field in ("group", "version") if field in about}
    return {**found, "kind": about.get("kind", served.kind)}


def _verbs(served: Served) -> list[str]:
    return list(_CUSTOM_VERBS if served.custom else served.verbs)


def _storage_hash(served: Served) -> str:
    if not served.custom:
        return storage_hashes().get((served.group, served.version, served.plural), "")
    stored = f"{served.group}/{served.storage_version or served.version}/{served.kind}"
    return base64.b64encode(hashlib.sha256(stored.encode()).digest()[:8]).decode()


def _aggregated(served: Served) -> Object:
    entry: Object = {
        "resource": served.plural,
        "responseKind": _response_kind(served, served.kind, {}),
        "scope": "Namespaced" if served.namespaced else "Cluster",
        "singularResource": served.singular,
        "verbs": _verbs(served),
        "shortNames": list(served.short_names),
        "categories": list(served.categories),
        "subresources": [
            {
                "subresource": name,
                "responseKind": _response_kind(served, kind.pop("kind"), kind),
                "verbs": list(about.get("verbs", _CUSTOM_SUBRESOURCE_VERBS)),
            }
            for name, about in _in_order(served)
            for kind in (_subresource_kind(served, name, about),)
        ],
    }
    return {name: value for name, value in entry.items() if value}


def _in_order(served: Served) -> list[tuple[str, Any]]:
    """Of custom kinds the status comes first, whatever the other form does."""
    listed = list(served.subresources.items())
    return sorted(listed, key=lambda one: one[0] != "status") if served.custom else listed


def _response_kind(served: Served, kind: str, other: Object) -> Object:
    """Custom kinds say their group and version; the server's own leave both empty."""
    home = (served.group, served.version) if served.custom else ("", "")
    group, version = (other["group"], other["version"]) if "group" in other else home
    return {"group": group, "version": version, "kind": kind}
