# SPDX-License-Identifier: Apache-2.0
"""Rules in the schema of custom resources: when they run, what they say, what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.kinds import WIDGETS, schema, widget
from tests.conformance.own import own_kind, see_creations, spec_of
from tests.conformance.probe import Probe, probe
from tests.conformance.schemas import TEXT, WHOLE, keyed_by, list_of, map_of, object_of, ruled

if TYPE_CHECKING:
    from tests.conformance.probe import Body


def _created(spec_schema: dict[str, Any], *specs: Any) -> Body:
    async def create(p: Probe) -> None:
        await see_creations(p, spec_schema, specs)

    return create


_PAIR = object_of(a=WHOLE, b=WHOLE)
_FAILS = "self.a < self.b"

# How a failed rule is told: the settings of the rule `a < b`, by what is seen.
SETTINGS: dict[str, dict[str, Any]] = {
    "a failed rule without a message quotes the rule": {},
    "a failed rule says its message": {"message": "a must be below b"},
    "a message may be computed": {
        "messageExpression": "'%d is not below %d'.format([self.a, self.b])"
    },
    "a computed message that fails gives way to the message": {
        "message": "plain",
        "messageExpression": "'%d'.format([self.a / (self.b - self.b)])",
    },
    "a computed message that is empty gives way to the rule": {"messageExpression": "''"},
    "a computed message of several lines gives way to the message": {
        "message": "plain",
        "messageExpression": "'one' + '\\n' + 'two'",
    },
    "a rule's reason and field path are told": {
        "reason": "FieldValueRequired",
        "fieldPath": ".b",
        "message": "b must be greater",
    },
    "a rule that fails with the reason Duplicate says nothing more": {
        "reason": "FieldValueDuplicate"
    },
    "a rule may fail with the reason Forbidden": {"reason": "FieldValueForbidden", "message": "no"},
}
for _title, _more in SETTINGS.items():
    probe(_title)(_created(ruled(_PAIR, _FAILS, **_more), {"a": 2, "b": 1}, {"a": 1, "b": 2}))


@probe("rules on items, values and fields name where they failed")
async def paths(p: Probe) -> None:
    spec = object_of(
        l=list_of(ruled(WHOLE, "self > 0")),
        m=map_of(ruled(WHOLE, "self > 0")),
        k=list_of(
            ruled({**object_of(name=TEXT, v=WHOLE), "required": ["name"]}, "self.v > 0"),
            **keyed_by("name"),
        ),
    )
    things = await own_kind(p, spec)
    bad = {"l": [1, 0, -1], "m": {"a.b": 0}, "k": [{"name": "x", "v": 0}]}
    await p.see("POST", things.path(), things.new("x", bad))


@probe("several failed rules are all told")
async def several(p: Probe) -> None:
    rules = [{"rule": "self.a > 0", "message": "a"}, {"rule": "self.b > 0", "message": "b"}]
    things = await own_kind(p, {**_PAIR, "x-kubernetes-validations": rules})
    await p.see("POST", things.path(), things.new("x", {"a": 0, "b": 0}))


@probe("rules are skipped when the schema is broken, which one more cause says")
async def skipped(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets")
    await p.see("POST", path, widget("w", {"size": 60, "note": 1}))
    await p.see("POST", path, widget("w", {"size": 60, "code": "TOO LONG BY FAR"}))
    await p.see("POST", path, widget("w", {"size": 60, "steps": {}}))


@probe("rules are checked beside errors that concern a value only: Invalid and Duplicate")
async def not_skipped(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets")
    await p.see("POST", path, widget("w", {"size": 101}), note="Invalid")
    await p.see("POST", path, widget("w", {"size": 60, "tags": ["a", "a"]}), note="Duplicate")
    await p.see("POST", path, widget("w", {"size": 60, "color": "pink"}), note="NotSupported")


@probe("a rule on the root sees the kind and the name, also one that is generated")
async def on_root(p: Probe) -> None:
    root = ruled(
        object_of(spec=object_of(a=TEXT)),
        "self.metadata.name.startsWith('good') && self.kind == 'Thing' && has(self.spec)",
        message="a good name and a spec",
    )
    things = await own_kind(p, schema={"openAPIV3Schema": root})
    await p.see("POST", things.path(), things.new("good-1", {}), pick=spec_of)
    await p.see("POST", things.path(), things.new("bad-1", {}))
    generated = things.new("", {}, metadata={"generateName": "good-"})
    await p.see("POST", things.path(), generated, pick=spec_of, note="generated name")


@probe("a transition rule runs only on updates")
async def transition(p: Probe) -> None:
    things = await own_kind(p, ruled(object_of(a=WHOLE), "self.a >= oldSelf.a", message="shrunk"))
    await p.see("POST", things.path(), things.new("x", {"a": 2}), pick=spec_of)
    for value in (3, 1):
        patch = {"spec": {"a": value}}
        await p.see("PATCH", things.path("x"), patch, patch="merge", pick=spec_of, note=str(value))


@probe("a transition rule on a field that was absent is not run, on its parent it fails")
async def transition_absent(p: Probe) -> None:
    spec = ruled(object_of(a=ruled(TEXT, "self == oldSelf"), b=TEXT, c=TEXT), "oldSelf.b != 'x'")
    things = await own_kind(p, spec)
    await p.do("POST", things.path(), things.new("x", {"b": "1"}))
    path = things.path("x")
    steps: list[dict[str, Any]] = [{"a": "1"}, {"a": "2"}, {"b": None}, {"c": "1"}]
    for change in steps:
        body = {"spec": change}
        await p.see("PATCH", path, body, patch="merge", pick=spec_of, note=str(change))


@probe("with optionalOldSelf a transition rule runs on creation too")
async def optional_old_self(p: Probe) -> None:
    rule = "oldSelf.hasValue() ? self >= oldSelf.value() : self == 1"
    things = await own_kind(p, object_of(a=ruled(WHOLE, rule, optionalOldSelf=True), b=TEXT))
    await p.see("POST", things.path(), things.new("x", {"a": 2}), note="created with 2")
    await p.see("POST", things.path(), things.new("x", {"a": 1}), pick=spec_of)
    for value in (2, 1):
        patch = {"spec": {"a": value}}
        await p.see("PATCH", things.path("x"), patch, patch="merge", pick=spec_of, note=str(value))


@probe("a transition rule finds the item of a keyed list by its key")
async def transition_keyed(p: Probe) -> None:
    item = ruled({**object_of(k=TEXT, v=WHOLE), "required": ["k"]}, "self.v >= oldSelf.v")
    things = await own_kind(p, object_of(l=list_of(item, **keyed_by("k"))))
    await p.do("POST", things.path(), things.new("x", {"l": [{"k": "a", "v": 5}]}))
    moved = {"spec": {"l": [{"k": "b", "v": 1}, {"k": "a", "v": 6}]}}
    await p.see("PATCH", things.path("x"), moved, patch="merge", pick=spec_of, note="moved")
    shrunk = {"spec": {"l": [{"k": "b", "v": 1}, {"k": "a", "v": 4}]}}
    await p.see("PATCH", things.path("x"), shrunk, patch="merge", note="shrunk")


@probe("a broken rule is tolerated while the value it is about stays as it was")
async def ratcheting(p: Probe) -> None:
    things = await own_kind(p, object_of(a=WHOLE, b=TEXT))
    await p.do("POST", things.path(), things.new("x", {"a": 1}))
    field = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a"
    await things.alter({"op": "replace", "path": field, "value": ruled(WHOLE, "self > 5")})
    await things.until_refused(things.new("y", {"a": 1}))
    for change in ({"b": "x"}, {"a": 2}, {"a": 6}):
        patch = {"spec": change}
        await p.see("PATCH", things.path("x"), patch, patch="merge", pick=spec_of, note=str(change))


@probe("rules of the status are checked in the status subresource")
async def in_status(p: Probe) -> None:
    status = ruled(object_of(n=WHOLE), "self.n > 0")
    things = await own_kind(
        p, schema=schema(spec=object_of(a=TEXT), status=status), subresources={"status": {}}
    )
    await p.do("POST", things.path(), things.new("x", {"a": "1"}))
    for n in (0, 1):
        path = things.path("x", "status")
        await p.see("PATCH", path, {"status": {"n": n}}, patch="merge", note=f"n = {n}")
