# SPDX-License-Identifier: Apache-2.0
"""One object that managers write to in turn, a second apart: what fields are tested on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conformance.kinds import shared
from trellis.embedded.copying import copied
from trellis.embedded.fields import Manager, applied, updated
from trellis.embedded.schema.node import UNSET, Node, native_of, resource
from trellis.embedded.served import Served

GOLDENS = Path(__file__).parents[3] / "conformance" / "goldens" / "1.36"
Object = dict[str, Any]


class _NoStrategy:
    """Nothing here defaults or validates by kind."""


def _served(group: str, kind: str, plural: str, schema: Node, **more: Any) -> Served:
    return Served(
        group=group,
        version="v1",
        kind=kind,
        plural=plural,
        singular=kind.lower(),
        namespaced=True,
        schema=schema,
        strategy=_NoStrategy(),  # type: ignore[arg-type]
        list_kind=f"{kind}List",
        **more,
    )


def native(group: str, kind: str, *subresources: str) -> Served:
    told: dict[str, Any] = {name: {} for name in subresources}
    schema = native_of(group, "v1", kind)
    return _served(group, kind, f"{kind.lower()}s", schema, subresources=told)


def custom(spec: Object, *subresources: str, status: Object | None = None) -> Served:
    """A kind Thing of the group example.com."""
    properties = {"spec": spec, "status": status or {"type": "object"}}
    schema = resource({"type": "object", "properties": properties})
    told: dict[str, Any] = {name: {} for name in subresources}
    return _served("example.com", "Thing", "things", schema, custom=True, subresources=told)


def widgets() -> Served:
    """The widgets that the goldens were recorded with."""
    definition = shared()[0]["spec"]
    schema = resource(definition["versions"][0]["schema"]["openAPIV3Schema"])
    return _served(
        definition["group"], "Widget", "widgets", schema, custom=True, subresources={"status": {}}
    )


CONFIG_MAPS = native("", "ConfigMap")
PODS = native("", "Pod", "status")


def golden(area: str, title: str) -> list[Object]:
    found: list[Object] = json.loads((GOLDENS / f"{area}.json").read_text())[title]
    return found


class Desk:
    """`tick` off: all is written in the same second, as probes mostly are."""

    def __init__(self, served: Served, tick: bool = True) -> None:
        self.served = served
        self.live: Object | None = None
        self.now = 0
        self.tick = tick

    def manager(self, name: str, operation: str, subresource: str = "") -> Manager:
        self.now += self.tick
        return Manager(
            name=name,
            operation=operation,
            api_version=self.served.api_version,
            time=f"2026-01-01T00:00:{self.now:02}Z",
            subresource=subresource,
        )

    def write(self, new: Object, who: str, subresource: str = "") -> Object:
        """A creation, or an update if there is something already."""
        new = _filled(self.served.schema, copied(new))
        updated(new, self.live, self.served, self.manager(who, "Update", subresource))
        new["metadata"]["uid"] = "1"
        self.live = new
        return new

    def apply(
        self, configuration: Object, who: str, force: bool = False, subresource: str = ""
    ) -> Object:
        manager = self.manager(who, "Apply", subresource)
        new = applied(self.live, configuration, self.served, manager, force)
        new = _filled(self.served.schema, new)
        new["metadata"]["uid"] = "1"
        self.live = new
        return new

    @property
    def entries(self) -> list[Object]:
        assert self.live is not None
        found: list[Object] = self.live["metadata"].get("managedFields", [])
        return found

    @property
    def owners(self) -> dict[str, Any]:
        """`m1` for an updater, `m1!` for an applier, `m1/status` for a subresource."""
        return {_label(entry): entry["fieldsV1"] for entry in self.entries}


def _label(entry: Object) -> str:
    label: str = entry["manager"]
    if "subresource" in entry:
        label += f"/{entry['subresource']}"
    return f"{label}!" if entry["operation"] == "Apply" else label


def _filled(node: Node, value: Object) -> Object:
    _fill(node, value)
    return value


def _fill(node: Node, value: Any) -> None:
    """As a custom kind is read from the store: with defaults, without nulls it does not take."""
    if isinstance(value, dict):
        for name, below in node.properties.items():
            _fill_field(value, name, below, node.name)
    elif isinstance(value, list) and node.items is not None:
        for item in value:
            _fill(node.items, item)


def _fill_field(value: Object, name: str, below: Node, struct: str) -> None:
    if value.get(name, UNSET) is None and not below.nullable and not below.name:
        del value[name]
    if name not in value and below.default is not UNSET and not struct:
        value[name] = copied(below.default)
    if name in value:
        _fill(below, value[name])
