# SPDX-License-Identifier: Apache-2.0
"""Custom resources on their way in and out: unknown fields are pruned, defaults are filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.kinds import WIDGETS, gadget, schema, widget
from tests.conformance.own import own_kind, see_creations, spec_of
from tests.conformance.probe import Probe, probe
from tests.conformance.schemas import (
    EMBEDDED,
    INT_OR_TEXT,
    KEEP_UNKNOWN,
    NUMBER,
    TEXT,
    WHOLE,
    keyed_by,
    list_of,
    map_of,
    object_of,
)

if TYPE_CHECKING:
    from tests.conformance.probe import Body


def _created(spec_schema: dict[str, Any], *specs: Any) -> Body:
    async def create(p: Probe) -> None:
        await see_creations(p, spec_schema, specs)

    return create


_DEFAULTED = {"type": "string", "default": "d"}
_NESTED = object_of(
    outer={**object_of(inner={**object_of(leaf=_DEFAULTED), "default": {}}), "default": {}},
    absent=object_of(leaf=_DEFAULTED),
)
_PORT = object_of(port=WHOLE, protocol={"type": "string", "default": "TCP"}, name=TEXT)
_KEYED = list_of({**_PORT, "required": ["port"]}, **keyed_by("port", "protocol"))
_LIMITED = {
    **INT_OR_TEXT,
    "anyOf": [WHOLE, TEXT],
    "pattern": "^[0-9]+%$",
    "maximum": 100,
}

# The schema of a spec and the specs created with it, by what the server makes of them.
CASES: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "unknown fields are pruned at every depth, with a warning for each": (
        object_of(a=TEXT, b=object_of(c=TEXT), d=list_of(object_of(e=TEXT))),
        [{"a": "1", "x": 1, "b": {"c": "2", "y": {}}, "d": [{"e": "3", "z": []}, {"z": None}]}],
    ),
    "a subtree that preserves unknown fields keeps them; what it declares inside is pruned": (
        object_of(free={**object_of(known=object_of(a=TEXT)), **KEEP_UNKNOWN}),
        [{"free": {"x": {"y": 1}, "known": {"a": "1", "b": "2"}}, "out": 1}],
    ),
    "unknown fields keep values of any kind, but integers beyond 64 bits lose digits": (
        {"type": "object", **KEEP_UNKNOWN},
        [{"n": None, "f": 1.0, "big": 12345678901234567890, "e": 1e3, "u": "ü", "l": [None, {}]}],
    ),
    "values of any type but null are kept where only unknown fields are preserved": (
        object_of(any=KEEP_UNKNOWN),
        [{"any": 1}, {"any": "text"}, {"any": [1, "a"]}, {"any": None}, {"any": {"a": {}}}],
    ),
    "an object without fields loses all that is in it": (
        object_of(empty={"type": "object"}),
        [{"empty": {"a": 1}}],
    ),
    "a map keeps every key and prunes inside its values": (
        object_of(map=map_of(object_of(a=TEXT))),
        [{"map": {"one": {"a": "1", "b": "2"}, "two": {}}}],
    ),
    "additional properties that are true keep all keys and prune inside objects": (
        object_of(map=map_of(True)),
        [{"map": {"one": {"a": "1"}, "two": 2}}],
    ),
    "additional properties that are false refuse every key": (
        object_of(map=map_of(False)),
        [{"map": {"one": "1"}}],
    ),
    "nested defaults are filled in only where the outer object is there or has a default": (
        _NESTED,
        [{}, {"outer": {}}, {"outer": {"inner": {"leaf": "own"}}, "absent": {}}],
    ),
    "a spec that is absent gets no defaults of its fields": (object_of(a=_DEFAULTED), [None]),
    "a spec with a default gets it and the defaults inside": (
        {**object_of(a=_DEFAULTED), "default": {}},
        [None],
    ),
    "null for a defaulted field that is not nullable becomes the default": (
        object_of(a=_DEFAULTED),
        [{"a": None}],
    ),
    "null for a nullable field is kept, with a default or without": (
        object_of(a={**_DEFAULTED, "nullable": True}, b={**TEXT, "nullable": True}),
        [{"a": None, "b": None}, {}],
    ),
    "null for a field that is not nullable is dropped, in a list it is refused": (
        object_of(a=TEXT, b={"type": "object"}, c=list_of(TEXT)),
        [{"a": None}, {"b": None}, {"c": None}, {"c": [None]}],
    ),
    "a null default of a nullable field is none": (
        object_of(a={**TEXT, "nullable": True, "default": None}),
        [{}],
    ),
    "defaults are filled in in items of lists and values of maps": (
        object_of(
            list=list_of(object_of(a=_DEFAULTED, b=TEXT)),
            map=map_of(object_of(a=_DEFAULTED)),
        ),
        [{"list": [{}, {"b": "1"}], "map": {"k": {}, "l": {"a": "own"}}}],
    ),
    "a key of a keyed list gets its default before duplicates are sought": (
        object_of(ports=_KEYED),
        [{"ports": [{"port": 1}, {"port": 2}]}, {"ports": [{"port": 1}, {"port": 1}]}],
    ),
    "defaults of every type": (
        object_of(
            text={"type": "string", "default": ""},
            number={"type": "number", "default": 1.5},
            whole={"type": "integer", "default": 0},
            flag={"type": "boolean", "default": False},
            list=list_of(TEXT, default=["a"]),
            object=map_of(TEXT, default={"k": "v"}),
            either={**INT_OR_TEXT, "default": "50%"},
        ),
        [{}],
    ),
    "int-or-string takes both and nothing else": (
        object_of(port=INT_OR_TEXT),
        [{"port": 80}, {"port": "http"}, {"port": 1.5}, {"port": True}, {"port": {}}],
    ),
    "the limits of int-or-string bind the type they are about": (
        object_of(port=_LIMITED),
        [{"port": 80}, {"port": 101}, {"port": "80%"}, {"port": "80"}],
    ),
    "a number with a fraction of zero passes as an integer, and a large one stays exact": (
        object_of(a=WHOLE, b=NUMBER),
        [{"a": 2.0}, {"a": 9007199254740993, "b": 1}, {"b": 1e2}, {"b": 0.1}],
    ),
}
for _title, (_schema, _specs) in CASES.items():
    probe(_title)(_created(_schema, *_specs))


@probe("fields beside spec and status that the schema does not have are pruned")
async def top_level(p: Probe) -> None:
    things = await own_kind(p, object_of(a=TEXT))
    thing = things.new("x", {"a": "1"}, extra={"b": 1}, status={"c": 1})
    await p.see("POST", things.path(), thing)


@probe("unknown metadata is dropped and metadata of the wrong type is refused")
async def metadata(p: Probe) -> None:
    things = await own_kind(p, object_of(a=TEXT))
    odd = {"extra": 1, "labels": {"a": "1"}, "annotations": None, "clusterName": "c"}
    await p.see("POST", things.path(), things.new("x", {}, metadata=odd), note="unknown")
    for wrong in ({"labels": {"a": 1}}, {"labels": ["a"]}, {"finalizers": "f"}):
        await p.see("POST", things.path(), things.new("y", {}, metadata=wrong), note=str(wrong))


@probe("an unknown field in a status subresource is pruned and a default in it filled in")
async def status_pruned(p: Probe) -> None:
    status = object_of(phase=TEXT, mode={"type": "string", "default": "auto"})
    things = await own_kind(
        p, schema=schema(spec=object_of(a=TEXT), status=status), subresources={"status": {}}
    )
    await p.do("POST", things.path(), things.new("x", {"a": "1"}))
    path = things.path("x", "status")
    await p.see("PATCH", path, {"status": {"phase": "On", "odd": 1}}, patch="merge")


@probe("a status given on creation is dropped and its defaults are filled in")
async def status_default_on_create(p: Probe) -> None:
    status = {**object_of(mode={"type": "string", "default": "auto"}), "default": {}}
    things = await own_kind(
        p, schema=schema(spec=object_of(a=TEXT), status=status), subresources={"status": {}}
    )
    await p.see("POST", things.path(), things.new("x", {"a": "1"}, status={"mode": "own"}))
    await p.see("GET", things.path("x"))


@probe("without a status subresource the status is kept and pruned like the spec")
async def status_without_subresource(p: Probe) -> None:
    things = await own_kind(p, schema=schema(spec=object_of(a=TEXT), status=object_of(b=TEXT)))
    thing = things.new("x", {"a": "1"}, status={"b": "2", "c": "3"})
    await p.see("POST", things.path(), thing)


_FIELDS = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"


@probe("a default that the schema got later is there on reads, without a new resource version")
async def later_default(p: Probe) -> None:
    things = await own_kind(p, object_of(a=TEXT))
    await p.see("POST", things.path(), things.new("x", {"a": "1"}), note="before")
    await things.alter({"op": "add", "path": f"{_FIELDS}/late", "value": _DEFAULTED})
    await things.until_accepted(things.new("y", {}), lambda body: "late" in body["spec"])
    await p.see("GET", things.path("x"), note="read later")
    await p.see("GET", things.path(), note="listed later")
    patch = {"metadata": {"labels": {"a": "1"}}}
    await p.see("PATCH", things.path("x"), patch, patch="merge", note="written later")


@probe("a field that the schema lost is pruned on reads and gone after the next write")
async def later_pruned(p: Probe) -> None:
    things = await own_kind(p, object_of(a=TEXT, b=TEXT))
    await p.do("POST", things.path(), things.new("x", {"a": "1", "b": "2"}))
    await things.alter({"op": "remove", "path": f"{_FIELDS}/b"})
    probing = things.new("y", {"b": "2"})
    await things.until_accepted(probing, lambda body: "b" not in body["spec"])
    await p.see("GET", things.path("x"))
    patch = {"metadata": {"labels": {"a": "1"}}}
    await p.see("PATCH", things.path("x"), patch, patch="merge")
    await things.alter({"op": "add", "path": f"{_FIELDS}/b", "value": TEXT})
    await things.until_accepted(probing, lambda body: "b" in body["spec"])
    await p.see("GET", things.path("x"), note="the field is back in the schema")


@probe("an embedded resource keeps apiVersion, kind and metadata, and its metadata is pruned")
async def embedded(p: Probe) -> None:
    inner = {"type": "object", **EMBEDDED, "properties": {"spec": object_of(a=TEXT)}}
    things = await own_kind(p, object_of(template=inner))
    template = {
        "apiVersion": "example.com/v1",
        "kind": "Inner",
        "metadata": {"name": "in", "labels": {"a": "1"}, "odd": 1},
        "spec": {"a": "1", "b": "2"},
        "extra": 1,
    }
    await p.see("POST", things.path(), things.new("x", {"template": template}), pick=spec_of)


_WHOLE = {"apiVersion": "v1", "kind": "Inner", "metadata": {"name": "in"}}
EMBEDDINGS: dict[str, dict[str, Any]] = {
    "an embedded resource without a kind is refused": {**_WHOLE, "kind": ""},
    "an embedded resource without apiVersion and kind is refused": {"metadata": {}},
    "an embedded resource with a bad kind is refused": {**_WHOLE, "kind": "No Kind"},
    "an embedded resource with a bad apiVersion is refused": {**_WHOLE, "apiVersion": "a/b/c"},
    "an embedded resource with bad labels is refused": {
        **_WHOLE,
        "metadata": {"name": "No!", "labels": {"a b": "c d"}},
    },
    "an embedded resource whose metadata has the wrong type is refused": {
        **_WHOLE,
        "metadata": {"labels": {"a": 1}},
    },
    "an embedded resource that preserves unknown fields keeps all": {**_WHOLE, "spec": {"a": 1}},
}
for _title, _template in EMBEDDINGS.items():
    probe(_title)(
        _created(
            object_of(template={"type": "object", **EMBEDDED, **KEEP_UNKNOWN}),
            {"template": _template},
        )
    )


@probe("an apiVersion or kind that a patch changes is refused with 422")
async def type_changed(p: Probe) -> None:
    await p.do("POST", p.path(WIDGETS, "gadgets"), gadget("x"))
    for field, value in (("apiVersion", "other.example.com/v1"), ("kind", "Other")):
        patch = [{"op": "replace", "path": f"/{field}", "value": value}]
        await p.see("PATCH", p.path(WIDGETS, "gadgets", "x"), patch, patch="json", note=field)


@probe("a custom resource without apiVersion or kind is refused with 400")
async def type_missing(p: Probe) -> None:
    for field in ("apiVersion", "kind"):
        body = gadget("x")
        del body[field]
        await p.see("POST", p.path(WIDGETS, "gadgets"), body, note=f"without {field}")


@probe("fields of the shared kind are defaulted and pruned by PUT and by patches alike")
async def writes(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets", "w")
    made = await p.do("POST", p.path(WIDGETS, "widgets"), widget("w"))
    made["spec"] = {"size": 4, "color": None, "odd": 1, "items": [{"k": "a"}]}
    await p.see("PUT", path, made, pick=spec_of, note="PUT")
    merge = {"spec": {"color": None, "odd": 1, "free": {"x": 1}, "note": None}}
    await p.see("PATCH", path, merge, patch="merge", pick=spec_of, note="merge patch")
    jump = [{"op": "add", "path": "/spec/items/-", "value": {"k": "b", "odd": 1, "mode": None}}]
    await p.see("PATCH", path, jump, patch="json", pick=spec_of, note="JSON patch")
