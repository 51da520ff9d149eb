# SPDX-License-Identifier: Apache-2.0
"""What a definition serves: a resource at each of its versions, the best version first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from trellis.embedded.definitions.strategy import CustomStrategy
from trellis.embedded.schema.decode import OTHER_VERSIONS
from trellis.embedded.schema.node import resource, structural
from trellis.embedded.served import Manners, Served

if TYPE_CHECKING:
    from trellis.embedded.asking import Object

_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_VERSION = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_STAGES = {"alpha": 1, "beta": 2, None: 3}


def served_versions(crd: Object) -> list[Served]:
    """None before the names were accepted. A version that is not served is not among them."""
    if not is_true(crd, "Established"):
        return []
    spec = crd["spec"]
    found = [_served(crd, version) for version in spec["versions"] if version["served"]]
    nodes = {served.version: served.schema for served in found}
    for node in nodes.values():
        node.plans[OTHER_VERSIONS] = nodes
    return sorted(found, key=lambda served: rank(served.version))


def is_true(crd: Object, condition: str) -> bool:
    conditions = (crd.get("status") or {}).get("conditions") or ()
    return any(c["type"] == condition and c["status"] == "True" for c in conditions)


def rank(version: str) -> tuple[Any, ...]:
    """Sorts the best version first: stable ones by number, then beta, alpha, then any others."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return (1, version)
    major, stage, minor = found.groups()
    return (0, -_STAGES[stage], -int(major), -int(minor or 0))


def schema_of(version: Object) -> Object:
    return (version.get("schema") or {}).get("openAPIV3Schema") or {}


def _served(crd: Object, version: Object) -> Served:
    spec, names = crd["spec"], crd["status"]["acceptedNames"]
    schema = schema_of(version)
    subresources = version.get("subresources") or {}
    scale = subresources.get("scale")
    strategy = CustomStrategy(
        group=spec["group"],
        version=version["name"],
        kind=names["kind"],
        namespaced=spec["scope"] == "Namespaced",
        node=structural(schema),
        has_status="status" in subresources,
        scale=scale,
        plural=names["plural"],
        terminating=is_true(crd, "Terminating"),
    )
    return Served(
        group=spec["group"],
        version=version["name"],
        kind=names["kind"],
        plural=names["plural"],
        singular=names.get("singular", ""),
        list_kind=names.get("listKind", ""),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        namespaced=strategy.namespaced,
        schema=resource(schema),
        strategy=strategy,
        verbs=_VERBS,
        subresources=_subresources(names["kind"], subresources),
        custom=True,
        columns=tuple(version.get("additionalPrinterColumns") or ()),
        selectable=tuple(
            each["jsonPath"].removeprefix(".") for each in version.get("selectableFields") or ()
        ),
        storage_version=next(each["name"] for each in spec["versions"] if each["storage"]),
        deprecation=_deprecation(spec["group"], names["kind"], version),
        manners=Manners(unconditional=False),
    )


def _deprecation(group: str, kind: str, version: Object) -> str:
    if not version.get("deprecated"):
        return ""
    said: str | None = version.get("deprecationWarning")
    return f"{group}/{version['name']} {kind} is deprecated" if said is None else said


def _subresources(kind: str, given: Object) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    if "status" in given:
        found["status"] = {"kind": kind, "verbs": ["get", "patch", "update"]}
    if "scale" in given:
        found["scale"] = {
            "kind": "Scale",
            "group": "autoscaling",
            "version": "v1",
            "verbs": ["get", "patch", "update"],
            "paths": dict(given["scale"]),
        }
    return found
