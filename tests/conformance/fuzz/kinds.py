# SPDX-License-Identifier: Apache-2.0
"""The kinds that are fuzzed: two custom ones, with everything that a schema can say, and Pod."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.support.nodes import NODES, SIMULATED
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from tests.support.api import Api

GROUP = "fuzz.example.com"
NODE = "fuzz-node"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

Schema = dict[str, Any]
TEXT: Schema = {"type": "string", "maxLength": 12}
COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 9}
FLAG: Schema = {"type": "boolean"}


def record(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties}


def listed(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, "maxItems": 8, **more}


_PART = record(
    name=TEXT,
    zone={**TEXT, "default": "x"},
    count={**COUNT, "default": 1},
    ports=listed(COUNT, **{"x-kubernetes-list-type": "atomic"}),
    limits={
        "type": "object",
        "additionalProperties": {"x-kubernetes-int-or-string": True},
        "maxProperties": 5,
    },
) | {"required": ["name"]}

CRATE_SPEC: Schema = record(
    size=COUNT,
    mode={"type": "string", "enum": ["a", "b", "c"], "default": "a"},
    maybe={**TEXT, "nullable": True},
    tags=listed(TEXT, **{"x-kubernetes-list-type": "set"}),
    parts=listed(
        _PART,
        **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "zone"]},
    ),
    whole={**record(left=TEXT, right=COUNT), "x-kubernetes-map-type": "atomic"},
    nested=record(deep=record(on={**FLAG, "default": True}, note=TEXT)),
    free={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    share={"type": "number"},
    either={"x-kubernetes-int-or-string": True},
) | {
    "x-kubernetes-validations": [
        {"rule": "!has(self.size) || self.size <= 8", "message": "too large"},
        {
            "rule": "!has(self.nested) || !has(oldSelf.nested) || has(self.mode)",
            "message": "a mode is needed",
        },
    ]
}
BARREL_SPEC: Schema = record(
    rows=listed(listed(COUNT)),
    by_name={"type": "object", "additionalProperties": record(n=COUNT, t=TEXT)},
    order=listed(record(key=TEXT, value=COUNT)),
    locked={**TEXT, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
    level={**COUNT, "default": 3},
)
STATUS: Schema = record(
    phase=TEXT,
    seen=COUNT,
    conditions=listed(
        record(type=TEXT, status=TEXT),
        **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
    ),
)
STATUS["properties"]["conditions"]["items"]["required"] = ["type"]


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    version: str
    name: str
    plural: str
    spec: Schema
    status: bool = True
    """Whether its status is a subresource."""

    @property
    def custom(self) -> bool:
        return self.version.startswith(GROUP)

    def path(self, namespace: str, *more: str) -> str:
        root = f"/apis/{self.version}" if "/" in self.version else f"/api/{self.version}"
        return "/".join([root, "namespaces", namespace, self.plural, *more])


CRATE = Kind(f"{GROUP}/v1", "Crate", "crates", CRATE_SPEC)
BARREL = Kind(f"{GROUP}/v1", "Barrel", "barrels", BARREL_SPEC, status=False)
POD = Kind("v1", "Pod", "pods", {})
KINDS = (CRATE, BARREL, POD)


def definition(kind: Kind) -> dict[str, Any]:
    names = {"plural": kind.plural, "singular": kind.name.lower(), "kind": kind.name}
    whole = record(spec=kind.spec, status=STATUS)
    version: dict[str, Any] = {"name": "v1", "served": True, "storage": True}
    version["schema"] = {"openAPIV3Schema": whole}
    if kind.status:
        version["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }


async def install(api: Api) -> None:
    """Defines what is not there yet; ready when objects can be made, on the node too."""
    if not await api.exists(f"{NODES}/{NODE}"):
        taint = {"key": "fuzz", "effect": "NoSchedule"}
        metadata = {"name": NODE, "annotations": {SIMULATED: "true"}}
        await api.do("POST", NODES, {"metadata": metadata, "spec": {"taints": [taint]}})
    for kind in (CRATE, BARREL):
        if not await api.exists(f"{DEFINITIONS}/{kind.plural}.{GROUP}"):
            await api.do("POST", DEFINITIONS, definition(kind))
    for kind in (CRATE, BARREL):
        served = partial(api.exists, kind.path("default"))
        await eventually(served, f"{kind.plural} to be served")
        # The real server makes the first creation of a new kind wait: not that of a fuzzed one.
        body = {"apiVersion": kind.version, "kind": kind.name, "metadata": {"name": "x"}}
        await api.do("POST", f"{kind.path('default')}?dryRun=All", body)
