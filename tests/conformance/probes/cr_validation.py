# SPDX-License-Identifier: Apache-2.0
"""Custom resources against their schema: every kind of cause, and what is tolerated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.kinds import WIDGETS, beacon, widget
from tests.conformance.own import own_kind, see_creations, spec_of
from tests.conformance.probe import Probe, probe
from tests.conformance.schemas import SET, TEXT, WHOLE, keyed_by, list_of, map_of, object_of

if TYPE_CHECKING:
    from tests.conformance.probe import Body


def _text(**limits: Any) -> dict[str, Any]:
    return {"type": "string", **limits}


def _field_case(field: dict[str, Any], values: list[Any]) -> Body:
    async def check(p: Probe) -> None:
        await see_creations(p, object_of(a=field), [{"a": value} for value in values])

    return check


_PAIR = {**object_of(k=TEXT, l=WHOLE, v=TEXT), "required": ["k", "l"]}
_ATOMIC_PAIR = {**object_of(k=TEXT), "x-kubernetes-map-type": "atomic"}

# The schema of one field and values for it, by what the server makes of them.
FIELDS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "a string must match its pattern anywhere unless it is anchored": (
        _text(pattern="b+"),
        ["abc", "ac", ""],
    ),
    "a number beyond its limits is Invalid, but a whole one is measured by the whole limit": (
        {"type": "number", "minimum": 1.5, "maximum": 2},
        [1, 0, 1.5, 2, 2.5],
    ),
    "exclusive limits refuse the limit itself": (
        {
            "type": "integer",
            "minimum": 1,
            "exclusiveMinimum": True,
            "maximum": 9,
            "exclusiveMaximum": True,
        },
        [1, 2, 9],
    ),
    "a number must be a multiple of what the schema says, and a whole one fails on a fraction": (
        {"type": "number", "multipleOf": 0.5},
        [1.5, 1.2, 0],
    ),
    "a value outside an enum is NotSupported": (
        _text(enum=["red", "green"]),
        ["red", "blue", "Red"],
    ),
    "a number outside an enum is NotSupported": ({"type": "integer", "enum": [1, 2]}, [2, 3]),
    "a string is measured in characters, though the message says bytes": (
        _text(minLength=2, maxLength=3),
        ["a", "äöü", "äöüß", "abcd"],
    ),
    "a list with too many items is TooMany, with too few Invalid": (
        list_of(TEXT, minItems=1, maxItems=2),
        [[], ["a"] * 3],
    ),
    "an object with too many keys is TooMany, with too few Invalid": (
        map_of(TEXT, minProperties=1, maxProperties=2),
        [{}, dict.fromkeys("abc", "v")],
    ),
    "a value of the wrong type is TypeInvalid": (
        object_of(
            text=TEXT,
            whole=WHOLE,
            flag={"type": "boolean"},
            list=list_of(TEXT),
            object=object_of(b=TEXT),
        ),
        [
            {"text": 1},
            {"whole": "1"},
            {"whole": 1.5},
            {"flag": "true"},
            {"list": {}},
            {"object": []},
        ],
    ),
    "an item twice in a set is Duplicate, once however often it comes": (
        list_of(TEXT, **SET),
        [["a", "b", "a", "a"]],
    ),
    "an object twice in a set is Duplicate": (
        list_of(_ATOMIC_PAIR, **SET),
        [[{"k": "a"}, {"k": "a"}, {"k": "b"}]],
    ),
    "the same keys twice in a keyed list are Duplicate": (
        list_of(_PAIR, **keyed_by("k", "l")),
        [[{"k": "a", "l": 1, "v": "x"}, {"k": "a", "l": 2}, {"k": "a", "l": 1, "v": "y"}]],
    ),
    "exactly one of oneOf must match": (
        {**object_of(b=TEXT, c=TEXT), "oneOf": [{"required": ["b"]}, {"required": ["c"]}]},
        [{"b": "1"}, {}, {"b": "1", "c": "2"}],
    ),
    "at least one of anyOf must match": (
        {"type": "integer", "anyOf": [{"minimum": 10}, {"maximum": 3}]},
        [3, 5],
    ),
    "all of allOf must match": (
        {"type": "integer", "allOf": [{"minimum": 10}, {"multipleOf": 4}]},
        [12, 5],
    ),
    "a value that not describes is Invalid, without naming the field": (
        _text(**{"not": {"enum": ["bad"]}}),
        ["good", "bad"],
    ),
    "a required field that is missing is Required, null is as good as missing": (
        {**object_of(b=TEXT, c=TEXT), "required": ["b", "c"]},
        [{"b": "1"}, {"b": None, "c": "2"}, {}],
    ),
    "an error in a nested list names every index": (
        list_of(list_of(object_of(n={"type": "integer", "maximum": 5}))),
        [[[{"n": 1}, {"n": 6}], [], [{"n": 7}]]],
    ),
    "an error in a map names the key": (
        map_of(WHOLE),
        [{"good": 1, "b.a/d": "x"}],
    ),
    "several errors come all at once": (
        {
            **object_of(b=_text(maxLength=1), c=WHOLE, d=_text(enum=["x"])),
            "required": ["r"],
        },
        [{"b": "long", "c": "text", "d": "y"}],
    ),
    "an empty list or object is no missing value": (
        {**object_of(b=list_of(TEXT), c={"type": "object"}), "required": ["b", "c"]},
        [{"b": [], "c": {}}],
    ),
}
for _title, (_field, _values) in FIELDS.items():
    probe(_title)(_field_case(_field, _values))

# Formats of strings with good values and bad ones; two of them check nothing.
FORMATS: dict[str, list[Any]] = {
    "date-time": ["2001-02-03T04:05:06Z", "2001-02-03T04:05:06.5+01:00", "2001-02-03", "now"],
    "date": ["2001-02-28", "2001-02-30", "2001-2-3"],
    "duration": ["1h30m", "5 days", "P1D", "1x", "5"],
    "byte": ["aGk=", "aGk", "not base64!"],
    "uuid": ["00000000-1111-4222-8333-444444444444", "00000000"],
    "ipv4": ["10.0.0.1", "10.0.0.256", "::1"],
    "ipv6": ["::1", "10.0.0.1"],
    "cidr": ["10.0.0.0/8", "10.0.0.0"],
    "uri": ["https://example.com/a", "a b"],
    "email": ["a@example.com", "a"],
    "hostname": ["a.example.com", "a_b!"],
    "mac": ["00:11:22:33:44:55", "00:11"],
    "password": ["anything"],
    "k8s-short-name": ["short-name", "Not_short"],
    "k8s-long-name": ["long.name", "Not_long"],
    "poem": ["unknown formats check nothing"],
}
for _format, _samples in FORMATS.items():
    _what = "is checked" if len(_samples) > 1 else "checks nothing"
    probe(f"the format {_format} {_what}")(_field_case(_text(format=_format), _samples))

probe("the format int32 bounds an integer")(
    _field_case({"type": "integer", "format": "int32"}, [2147483647, 2147483648, -2147483649])
)
probe("the format int64 bounds an integer")(
    _field_case({"type": "integer", "format": "int64"}, [9223372036854775807, 1e30])
)
probe("the format float bounds a number")(
    _field_case({"type": "number", "format": "float"}, [1.5, 1e300])
)


@probe("a spec of the wrong type is refused")
async def wrong_spec(p: Probe) -> None:
    await see_creations(p, object_of(a=TEXT), ["text", [], 1])


@probe("a required spec that is missing is refused")
async def required_spec(p: Probe) -> None:
    root = {**object_of(spec=object_of(a=TEXT)), "required": ["spec"]}
    things = await own_kind(p, schema={"openAPIV3Schema": root})
    await p.see("POST", things.path(), things.new("x"))


@probe("an object of another kind is refused with 422, of another group with 400")
async def wrong_kind(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets")
    await p.see("POST", path, {**widget("w"), "kind": "Zap"})
    await p.see("POST", path, {**widget("w"), "apiVersion": "other.example.com/v1"})


@probe("names of custom resources are DNS subdomains")
async def names(p: Probe) -> None:
    for name in ("Upper", "a_b", "-a", "a..b", "a" * 254):
        await p.see("POST", p.path(WIDGETS, "widgets"), widget(name), note=name[:20])
    await p.see("POST", p.path(WIDGETS, "widgets"), widget("a.b"), pick=spec_of, note="a.b")


@probe("a custom resource without a name is refused")
async def no_name(p: Probe) -> None:
    body = widget("w")
    del body["metadata"]["name"]
    await p.see("POST", p.path(WIDGETS, "widgets"), body)


@probe("a schema that restricts the name binds it")
async def restricted_name(p: Probe) -> None:
    root = object_of(metadata=object_of(name=_text(maxLength=3, pattern="^x")))
    things = await own_kind(p, schema={"openAPIV3Schema": root})
    for name in ("xyz", "xxxx", "y"):
        await p.see("POST", things.path(), things.new(name), note=name)


@probe("bad metadata is refused, a finalizer without a domain only warned of")
async def bad_metadata(p: Probe) -> None:
    bad: list[dict[str, Any]] = [
        {"labels": {"a b": "1"}},
        {"labels": {"a": "b c"}},
        {"annotations": {"a b": "1"}},
        {"finalizers": ["plain"]},
        {"finalizers": ["a b"]},
        {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p"}]},
    ]
    for metadata in bad:
        await p.see("POST", p.path(WIDGETS, "widgets"), widget("w", **metadata), note=str(metadata))


@probe("a cluster-scoped custom resource ignores a namespace and has no path in one")
async def cluster_scoped(p: Probe) -> None:
    path = p.everywhere(WIDGETS, "beacons")
    name = f"b-{p.id}"
    p.cleanup.push_async_callback(lambda: p.ask("DELETE", f"{path}/{name}"))
    await p.see("POST", path, {**beacon(name), "kind": "Widget"}, note="wrong kind")
    await p.see("POST", path, beacon(name, namespace=p.ns), note="with a namespace")
    await p.see("GET", p.path(WIDGETS, "beacons", name), note="asked for in a namespace")


@probe("a status that its schema forbids is refused through the status subresource")
async def bad_status(p: Probe) -> None:
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("w"))
    path = p.path(WIDGETS, "widgets", "w", "status")
    for status in ({"phase": 1}, {"conditions": [{"type": "A"}]}, {"replicas": "many"}):
        await p.see("PATCH", path, {"status": status}, patch="merge", note=str(status))
    twice = [{"type": "A", "status": "True"}] * 2
    await p.see("PATCH", path, {"status": {"conditions": twice}}, patch="merge", note="twice")


@probe("a bad spec in a write of the status is ignored")
async def status_with_bad_spec(p: Probe) -> None:
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("w"))
    path = p.path(WIDGETS, "widgets", "w", "status")
    body = {"spec": {"size": -1}, "status": {"phase": "On"}}
    await p.see("PATCH", path, body, patch="merge")


@probe("a PUT and a patch that break the schema are refused, and rules are not checked")
async def bad_updates(p: Probe) -> None:
    made = await p.do("POST", p.path(WIDGETS, "widgets"), widget("w"))
    path = p.path(WIDGETS, "widgets", "w")
    made["spec"] = {"size": 101, "color": "pink"}
    await p.see("PUT", path, made)
    await p.see("PATCH", path, {"spec": {"size": None}}, patch="merge", note="required removed")
    await p.see("PATCH", path, {"spec": {"items": [{"v": "1"}]}}, patch="merge", note="no key")


_SPEC = "/spec/versions/0/schema/openAPIV3Schema/properties/spec"
_SHORT = object_of(a=_text(maxLength=2), b=_text(maxLength=2), many=list_of(_text(maxLength=2)))


@probe("an invalid value that stays as it was is tolerated after the schema got stricter")
async def ratcheting(p: Probe) -> None:
    things = await own_kind(p, object_of(a=TEXT, b=TEXT, many=list_of(TEXT)))
    await p.do("POST", things.path(), things.new("x", {"a": "long", "many": ["long"]}))
    await things.alter({"op": "replace", "path": _SPEC, "value": _SHORT})
    await things.until_refused(things.new("y", {"a": "long"}))
    steps = [
        ("another field", {"b": "ok"}),
        ("the bad field", {"a": "longer"}),
        ("another field, badly", {"b": "long"}),
        ("a list with a bad item", {"many": ["long", "ok"]}),
        ("the bad field, well", {"a": "ok"}),
    ]
    for note, spec in steps:
        await p.see(
            "PATCH", things.path("x"), {"spec": spec}, patch="merge", pick=spec_of, note=note
        )


@probe("a bad item of a keyed list is tolerated where its key finds it unchanged")
async def ratcheting_by_key(p: Probe) -> None:
    def items(value: dict[str, Any]) -> dict[str, Any]:
        return object_of(
            many=list_of({**object_of(k=TEXT, v=value), "required": ["k"]}, **keyed_by("k"))
        )

    things = await own_kind(p, items(TEXT))
    await p.do("POST", things.path(), things.new("x", {"many": [{"k": "a", "v": "long"}]}))
    await things.alter({"op": "replace", "path": _SPEC, "value": items(_text(maxLength=2))})
    await things.until_refused(things.new("y", {"many": [{"k": "a", "v": "long"}]}))
    steps: list[tuple[str, list[dict[str, str]]]] = [
        ("moved", [{"k": "0", "v": "ok"}, {"k": "a", "v": "long"}]),
        ("under another key", [{"k": "b", "v": "long"}]),
    ]
    for note, many in steps:
        patch = {"spec": {"many": many}}
        await p.see("PATCH", things.path("x"), patch, patch="merge", pick=spec_of, note=note)


@probe("a field that became required may stay missing until the object around it changes")
async def ratcheting_required(p: Probe) -> None:
    things = await own_kind(p, object_of(a=TEXT, b=TEXT))
    await p.do("POST", things.path(), things.new("x", {"a": "1"}))
    await things.alter({"op": "add", "path": f"{_SPEC}/required", "value": ["b"]})
    await things.until_refused(things.new("y", {"a": "1"}))
    path = things.path("x")
    labels = {"metadata": {"labels": {"a": "1"}}}
    await p.see("PATCH", path, labels, patch="merge", note="labels only")
    await p.see("PATCH", path, {"spec": {"a": "2"}}, patch="merge", note="the spec")
