# SPDX-License-Identifier: Apache-2.0
"""The built-in resources of a real API server, from `resources.json` (`trellis.lab.resources`)."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

# What may be selected by field beside metadata.name and metadata.namespace. No document of the
# server tells; these are its conversion functions of field labels.


class ResourceInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One resource at one version, as discovery describes it."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    verbs: tuple[str, ...]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: dict[str, dict[str, Any]] = {}
    """By name: `verbs`, `kind`, and `group` and `version` where these are others."""
    storage_hash: str = ""
    """What discovery says of the stored version; empty for what is not stored."""

    @property
    def list_kind(self) -> str:
        return f"{self.kind}List"


@cache
def _data() -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(
        files(__package__).joinpath("resources.json").read_bytes()
    )
    return found


def version() -> dict[str, str]:
    """What GET /version answers."""
    found: dict[str, str] = _data()["version"]
    return found


@cache
def builtin() -> list[ResourceInfo]:
    """In the order of the real server: groups as /apis lists them, the best version first."""
    return [
        _info(each["group"], each["version"], resource, each["resources"])
        for each in _data()["served"]
        for resource in each["resources"]
        if "/" not in resource["name"]
    ]


@cache
def group_versions() -> list[tuple[str, str]]:
    """Every built-in group and version, in order; the core group comes first."""
    return [(each["group"], each["version"]) for each in _data()["served"]]


@cache
def storage_hashes() -> dict[tuple[str, str, str], str]:
    """By group, version and plural."""
    return {(each.group, each.version, each.plural): each.storage_hash for each in builtin()}


def _info(
    group: str, version: str, resource: dict[str, Any], all_of_version: list[dict[str, Any]]
) -> ResourceInfo:
    prefix = resource["name"] + "/"
    return ResourceInfo(
        group=group,
        version=version,
        kind=resource["kind"],
        plural=resource["name"],
        singular=resource["singularName"],
        namespaced=resource["namespaced"],
        verbs=tuple(resource["verbs"]),
        short_names=tuple(resource.get("shortNames", ())),
        categories=tuple(resource.get("categories", ())),
        subresources={
            other["name"].removeprefix(prefix): {
                field: other[field]
                for field in ("group", "version", "kind", "verbs")
                if field in other
            }
            for other in all_of_version
            if other["name"].startswith(prefix)
        },
        storage_hash=resource.get("storageVersionHash", ""),
    )
