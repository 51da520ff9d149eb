# SPDX-License-Identifier: Apache-2.0
"""Custom resources as tables, by selectable fields, and through their scale; other kinds' scale."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.conformance.builders import IMAGE, NOBODY
from tests.conformance.kinds import DEFINITIONS, WIDGETS, schema, widget
from tests.conformance.own import OwnKind, own_definition, own_kind, remover, spec_of
from tests.conformance.probe import Probe, probe
from tests.conformance.schemas import NUMBER, TEXT, WHOLE, list_of, map_of, object_of

if TYPE_CHECKING:
    from tests.conformance.probe import Body
    from tests.support.api import Answer

TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
_WIDGET = (WIDGETS, "widgets", "w")


def _cells(body: dict[str, Any]) -> Any:
    columns = [{**one, "description": "…"} for one in body["columnDefinitions"][:1]]
    columns += body["columnDefinitions"][1:]
    return {"columns": columns, "rows": [row["cells"] for row in body["rows"]]}


def _column(name: str, path: str, kind: str = "string", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "jsonPath": path, **more}


async def _see_table(p: Probe, things: OwnKind) -> None:
    await p.see("GET", things.path(), accept=TABLE, pick=_cells)


# Columns of a kind with these fields, and what their cells show for two things.
_FIELDS = object_of(
    text=TEXT,
    whole=WHOLE,
    number=NUMBER,
    flag={"type": "boolean"},
    at={**TEXT, "format": "date-time"},
    list=list_of(object_of(n=TEXT)),
    map=map_of(TEXT),
)
_FULL = {
    "text": "t",
    "whole": 7,
    "number": 1.5,
    "flag": False,
    "at": "2001-02-03T04:05:06Z",
    "list": [{"n": "a"}, {"n": "b"}],
    "map": {"k": "v", "a.b": "w"},
}
COLUMNS: dict[str, list[dict[str, Any]]] = {
    "columns show values of their types, and null where a path finds nothing": [
        _column("Text", ".spec.text"),
        _column("Whole", ".spec.whole", "integer"),
        _column("Number", ".spec.number", "number"),
        _column("Flag", ".spec.flag", "boolean"),
    ],
    "a value of another type than its column's is shown as far as it can be": [
        _column("Text as integer", ".spec.text", "integer"),
        _column("Integer as text", ".spec.whole", "string"),
        _column("Flag as text", ".spec.flag", "string"),
        _column("Number as integer", ".spec.number", "integer"),
        _column("Integer as boolean", ".spec.whole", "boolean"),
    ],
    "columns of lists and maps show JSON, and of many matches the first": [
        _column("List", ".spec.list"),
        _column("All", ".spec.list[*].n"),
        _column("Second", ".spec.list[1].n"),
        _column("By", ".spec.list[?(@.n=='b')].n"),
        _column("Map", ".spec.map"),
        _column("Key", r".spec.map.a\.b"),
    ],
    "a column's priority, format and description are told": [
        _column("Wide", ".spec.text", priority=1, description="for wide tables"),
        _column("Formatted", ".spec.whole", "integer", format="int32"),
    ],
    "columns may show metadata and the kind": [
        _column("Label", ".metadata.labels.tier"),
        _column("Generation", ".metadata.generation", "integer"),
        _column("Kind", ".kind"),
    ],
}


def _columns_case(columns: list[dict[str, Any]]) -> Body:
    async def show(p: Probe) -> None:
        things = await own_kind(p, _FIELDS, additionalPrinterColumns=columns)
        full = things.new("full", _FULL, metadata={"labels": {"tier": "gold"}})
        await p.do("POST", things.path(), full)
        await p.do("POST", things.path(), things.new("none", {}))
        await _see_table(p, things)

    return show


for _title, _columns in COLUMNS.items():
    probe(_title)(_columns_case(_columns))


@probe("a kind without columns shows its name and its age")
async def default_columns(p: Probe) -> None:
    things = await own_kind(p, _FIELDS)
    await p.do("POST", things.path(), things.new("x", {}))
    table = await p.see("GET", things.path(), accept=TABLE, pick=lambda b: b["columnDefinitions"])
    name, age = table["rows"][0]["cells"]
    p.note("the cells", [name, re.sub("[0-9]+", "#", age)])


@probe("a date in the future is shown as <invalid>, one that is missing as null")
async def dates(p: Probe) -> None:
    columns = [_column("At", ".spec.at", "date")]
    things = await own_kind(p, _FIELDS, additionalPrinterColumns=columns)
    await p.do("POST", things.path(), things.new("none", {}))
    await p.do("POST", things.path(), things.new("future", {"at": "2999-01-01T00:00:00Z"}))
    await _see_table(p, things)


@probe("columns that a definition cannot have are refused")
async def bad_columns(p: Probe) -> None:
    bad = [
        _column("", ".spec.a"),
        _column("A", "spec.a"),
        _column("B", ".spec[", "string"),
        _column("C", ".spec.a", "object"),
        _column("D", ".spec.a", format="rhyme"),
    ]
    crd = own_definition(p, _FIELDS, additionalPrinterColumns=bad)
    p.cleanup.push_async_callback(remover(p, crd))
    await p.see("POST", DEFINITIONS, crd)


def _names(body: dict[str, Any]) -> Any:
    return [item["metadata"]["name"] for item in body["items"]]


async def _selectable(p: Probe) -> OwnKind:
    fields = [{"jsonPath": f".spec.{name}"} for name in ("text", "whole", "flag")]
    things = await own_kind(p, _FIELDS, selectableFields=fields)
    for name, spec in (
        ("a", {"text": "x", "whole": 7, "flag": True}),
        ("b", {"text": "y", "whole": 8, "flag": False}),
        ("c", {}),
    ):
        await p.do("POST", things.path(), things.new(name, spec))
    return things


@probe("selectable fields select by text, integer and boolean; a missing value is empty")
async def selected(p: Probe) -> None:
    things = await _selectable(p)
    for selector in ("spec.text=x", "spec.whole=8", "spec.flag=true", "spec.text=", "spec.text!=x"):
        await p.see("GET", things.path(), query={"fieldSelector": selector}, pick=_names)


@probe("selectable fields combine with each other and with the name")
async def selected_together(p: Probe) -> None:
    things = await _selectable(p)
    for selector in ("spec.text=x,spec.whole=7", "spec.text=x,metadata.name=b"):
        await p.see("GET", things.path(), query={"fieldSelector": selector}, pick=_names)


@probe("a field that is not selectable is refused with 400 by list, watch and collection delete")
async def not_selectable(p: Probe) -> None:
    things = await _selectable(p)
    query = {"fieldSelector": "spec.number=1"}
    await p.see("GET", things.path(), query=query)
    await p.see("GET", things.path(), query={**query, "watch": "1"})
    await p.see("DELETE", things.path(), query=query)


@probe("a watch by a selectable field sees objects enter and leave the selection")
async def selected_watch(p: Probe) -> None:
    things = await _selectable(p)
    async with p.watch(things.path(), query={"fieldSelector": "spec.text=x"}) as watch:
        await watch.read(1)
        for name, text in (("b", "x"), ("a", "z")):
            await p.do("PATCH", things.path(name), {"spec": {"text": text}}, patch="merge")
        await watch.read(2)


@probe("selectable fields that a definition cannot have are refused")
async def bad_selectable(p: Probe) -> None:
    paths = ("spec.text", ".spec.none", ".spec.list", ".metadata.name", ".spec.map.k", ".spec.text")
    fields = [{"jsonPath": path} for path in (*paths, ".spec.text")]
    crd = own_definition(p, _FIELDS, selectableFields=fields)
    p.cleanup.push_async_callback(remover(p, crd))
    await p.see("POST", DEFINITIONS, crd)


async def _widget(p: Probe, **status: Any) -> str:
    """A widget with a status; returns the path of its scale."""
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("w", {"size": 3, "replicas": 2}))
    if status:
        path = p.path(*_WIDGET, "status")
        await p.do("PATCH", path, {"status": status}, patch="merge")
    return p.path(*_WIDGET, "scale")


@probe("the scale of a custom resource has its replicas and its selector")
async def scale_read(p: Probe) -> None:
    await p.see("GET", await _widget(p, replicas=1, selector="app=w"))


@probe("the scale of a custom resource without a status has zero replicas")
async def scale_without_status(p: Probe) -> None:
    await p.see("GET", await _widget(p))


@probe("the scale of a custom resource that is missing is 404")
async def scale_missing(p: Probe) -> None:
    await p.see("GET", p.path(WIDGETS, "widgets", "none", "scale"))


@probe("a subresource that a kind does not have is 404 as if the object were missing")
async def no_scale(p: Probe) -> None:
    things = await own_kind(p, _FIELDS)
    await p.do("POST", things.path(), things.new("x", {}))
    await p.see("GET", things.path("x", "scale"))
    await p.see("GET", things.path("x", "status"), note="nor a status")
    await p.see("PUT", things.path("x", "status"), things.new("x", {}))


@probe("a scale that is put changes the replicas, the generation and nothing else")
async def scale_put(p: Probe) -> None:
    path = await _widget(p, replicas=1, selector="app=w")
    scale = await p.do("GET", path)
    scale["spec"]["replicas"] = 5
    scale["metadata"]["labels"] = {"ignored": "yes"}
    await p.see("PUT", path, scale)
    await p.see("GET", p.path(*_WIDGET))


@probe("a scale is patched by merge and JSON patch, not by strategic merge")
async def scale_patched(p: Probe) -> None:
    path = await _widget(p)
    await p.see("PATCH", path, {"spec": {"replicas": 6}}, patch="merge")
    jump = [{"op": "replace", "path": "/spec/replicas", "value": 7}]
    await p.see("PATCH", path, jump, patch="json", pick=spec_of)
    await p.see("PATCH", path, {"spec": {"replicas": 8}}, patch="strategic")


def _scale(p: Probe, replicas: Any = 4, **more: Any) -> dict[str, Any]:
    metadata = {"name": "w", "namespace": p.ns}
    base = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata}
    return {**base, "spec": {"replicas": replicas}, **more}


_REFUSED: dict[str, Any] = {
    "with a resource version that is old": {"metadata": {"name": "w", "resourceVersion": "1"}},
    "of another kind": {"kind": "Widget"},
    "of another version": {"apiVersion": "autoscaling/v2"},
    "of another name": {"metadata": {"name": "other"}},
    "with negative replicas": {"spec": {"replicas": -1}},
    "with replicas as text": {"spec": {"replicas": "4"}},
}


@probe("a scale is refused with an old resource version, another kind or name, or bad replicas")
async def scale_refused(p: Probe) -> None:
    path = await _widget(p)
    for note, more in _REFUSED.items():
        await p.see("PUT", path, _scale(p, **more), note=note)


@probe("a scale without a resource version or a spec is taken, the latter as zero replicas")
async def scale_unversioned(p: Probe) -> None:
    path = await _widget(p)
    await p.see("PUT", path, _scale(p), note="without a resource version")
    await p.see("PUT", path, _scale(p, spec={}), note="without replicas")


@probe("replicas that the schema forbids are refused through the scale too")
async def scale_validated(p: Probe) -> None:
    spec = object_of(replicas={**WHOLE, "maximum": 3})
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    things = await own_kind(
        p,
        schema=schema(spec=spec, status=object_of(replicas=WHOLE)),
        subresources={"scale": paths, "status": {}},
    )
    await p.do("POST", things.path(), things.new("x", {"replicas": 1}))
    await p.see("PATCH", things.path("x", "scale"), {"spec": {"replicas": 4}}, patch="merge")
    await p.see("GET", things.path("x", "scale"), note="without a selector path")


@probe("a custom resource without the field of replicas has no scale to read but can be scaled")
async def scale_unset(p: Probe) -> None:
    paths = {"specReplicasPath": ".spec.count", "statusReplicasPath": ".status.count"}
    fields = schema(spec=object_of(count=WHOLE), status=object_of(count=WHOLE))
    things = await own_kind(p, schema=fields, subresources={"scale": paths})
    await p.do("POST", things.path(), things.new("x", {}))
    await p.see("GET", things.path("x", "scale"))
    await p.see("PATCH", things.path("x", "scale"), {"spec": {"replicas": 2}}, patch="merge")
    await p.see("GET", things.path("x"))


@probe("scale paths that a definition cannot have are refused")
async def bad_scale(p: Probe) -> None:
    paths = {
        "specReplicasPath": ".replicas",
        "statusReplicasPath": ".spec.replicas",
        "labelSelectorPath": "status[0]",
    }
    crd = own_definition(p, _FIELDS, subresources={"scale": paths})
    p.cleanup.push_async_callback(remover(p, crd))
    await p.see("POST", DEFINITIONS, crd)


def _workload(kind: str, replicas: int = 1) -> dict[str, Any]:
    labels = {"app": "w"}
    containers = [{"name": "app", "image": IMAGE}]
    template = {
        "metadata": {"labels": labels},
        "spec": {"schedulerName": NOBODY, "containers": containers},
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    body = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "w"}, "spec": spec}
    if kind == "StatefulSet":
        spec["serviceName"] = "w"
    return body


def _settled(replicas: int) -> Any:
    def ready(answer: Answer) -> bool:
        body = answer.body
        status = body["status"]
        seen = status.get("observedGeneration") == body["metadata"]["generation"]
        return bool(seen and status.get("replicas", 0) == replicas)

    return ready


def _scale_of(body: dict[str, Any]) -> Any:
    """Without the resource version: controllers write status whenever they like."""
    return {key: body[key] for key in ("apiVersion", "kind", "spec", "status")}


def _workload_case(kind: str, plural: str) -> Body:
    async def scale(p: Probe) -> None:
        await p.do("POST", p.path("apps/v1", plural), _workload(kind))
        path = p.path("apps/v1", plural, "w")
        await p.until("GET", path, _settled(1))
        await p.see("GET", f"{path}/scale", pick=_scale_of)
        body = {**_scale(p, 0), "metadata": {"name": "w", "namespace": p.ns}}
        await p.see("PUT", f"{path}/scale", body, pick=spec_of, note="put")
        await p.until("GET", path, _settled(0))
        patch = {"spec": {"replicas": 1}}
        await p.see("PATCH", f"{path}/scale", patch, patch="strategic", pick=spec_of)
        await p.see("PUT", f"{path}/scale", _scale(p, -1), note="negative")
        stale = {"name": "w", "resourceVersion": "1"}
        await p.see("PUT", f"{path}/scale", _scale(p, metadata=stale), note="stale")
        await p.see("PUT", f"{path}/scale", _scale(p, kind="Pod"), note="another kind")

    return scale


for _kind, _plural in (
    ("Deployment", "deployments"),
    ("ReplicaSet", "replicasets"),
    ("StatefulSet", "statefulsets"),
):
    probe(f"the scale of a {_kind} is read, put, patched and refused")(
        _workload_case(_kind, _plural)
    )
