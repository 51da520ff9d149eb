# SPDX-License-Identifier: Apache-2.0
"""Rules that a definition may and may not have: what does not compile, what costs too much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.kinds import DEFINITIONS
from tests.conformance.own import own_definition, own_kind, remover, spec_of
from tests.conformance.probe import Probe, probe
from tests.conformance.schemas import (
    INT_OR_TEXT,
    KEEP_UNKNOWN,
    NUMBER,
    TEXT,
    WHOLE,
    list_of,
    map_of,
    object_of,
    ruled,
)

if TYPE_CHECKING:
    from tests.conformance.probe import Body


def _defined(spec: dict[str, Any]) -> Body:
    async def define(p: Probe) -> None:
        crd = own_definition(p, spec)
        p.cleanup.push_async_callback(remover(p, crd))
        await p.see("POST", DEFINITIONS, crd, pick=spec_of)

    return define


_A = object_of(a=TEXT)
_DEEP = list_of(list_of(list_of(ruled(TEXT, "self != 'x'"))))

# The schema of `spec`, by what the server makes of it.
SCHEMAS: dict[str, dict[str, Any]] = {
    "a rule that does not parse is refused": ruled(_A, "self.a =="),
    "a rule that reads a field the schema does not have is refused": ruled(_A, "self.b == 'x'"),
    "a rule that compares different types is refused": ruled(object_of(a=WHOLE), "self.a == 'x'"),
    "a rule that is not a condition is refused": ruled(_A, "self.a"),
    "an empty rule is refused": ruled(_A, "  "),
    "a rule that calls an unknown function is refused": ruled(_A, "self.a.shout() == 'X'"),
    "a rule that reads a variable that does not exist is refused": ruled(_A, "request.name == ''"),
    "a rule cannot ask the authorizer": ruled(
        _A, "authorizer.group('').resource('pods').check('get').allowed()"
    ),
    "a rule cannot read a field that is only preserved": ruled(
        {**_A, **KEEP_UNKNOWN}, "self.unknown == 1"
    ),
    "a rule that compares an integer with a fraction is accepted": ruled(
        object_of(a=WHOLE), "self.a > 1.5"
    ),
    "a rule that compares a number with an integer is accepted": ruled(
        object_of(a=NUMBER), "self.a > 1"
    ),
    "a rule that treats int-or-string as an integer is accepted": ruled(
        object_of(a=INT_OR_TEXT), "self.a > 1"
    ),
    "a message of several lines is refused": ruled(_A, "true", message="one\ntwo"),
    "an empty message is refused": ruled(_A, "true", message=" "),
    "a rule of several lines without a message is refused": ruled(_A, "true\n&& true"),
    "a rule of several lines with a message is accepted": ruled(_A, "true\n&& true", message="m"),
    "a computed message that is no string is refused": ruled(_A, "true", messageExpression="1"),
    "a computed message that does not compile is refused": ruled(
        _A, "true", messageExpression="self.b"
    ),
    "a reason that does not exist is refused": ruled(_A, "true", reason="Because"),
    "a field path that does not exist is refused": ruled(_A, "true", fieldPath=".b"),
    "a field path with an index is refused": ruled(
        object_of(l=list_of(TEXT)), "true", fieldPath=".l[0]"
    ),
    "oldSelf of an item of a list that is no map is refused": object_of(
        l=list_of(ruled({**TEXT, "maxLength": 5}, "self == oldSelf"), maxItems=5)
    ),
    "optionalOldSelf without oldSelf is refused": ruled(_A, "true", optionalOldSelf=True),
    "a rule whose estimated cost is too high is refused": object_of(
        l=ruled(list_of(TEXT), "self.all(x, self.exists(y, x == y))")
    ),
    "a cheap rule in nested lists without limits is accepted": object_of(deep=_DEEP),
    "limits make a costly rule acceptable": object_of(
        l=ruled(
            list_of({**TEXT, "maxLength": 5}, maxItems=5), "self.all(x, self.exists(y, x == y))"
        )
    ),
    # Each stays below ten million and no two cost the same: the dearest four are named.
    "many rules that are each cheap enough may cost too much together": object_of(
        **{
            f"m{number}": map_of(ruled(WHOLE, "self > 0"), maxProperties=4_900_000 - number * 1000)
            for number in range(12)
        }
    ),
    "a default that breaks a rule is refused": object_of(
        a={**ruled(TEXT, "self != 'd'"), "default": "d"}
    ),
    "a rule inside anyOf is refused": {**_A, "anyOf": [ruled({}, "true")]},
    "two faults of rules are both told": {
        **_A,
        "x-kubernetes-validations": [{"rule": "self.b"}, {"rule": "1"}],
    },
}
for _title, _spec in SCHEMAS.items():
    probe(_title)(_defined(_spec))


@probe("a rule on the root cannot read labels")
async def labels(p: Probe) -> None:
    root = ruled(object_of(spec=_A), "self.metadata.labels['a'] == 'b'")
    crd = own_definition(p, schema={"openAPIV3Schema": root})
    p.cleanup.push_async_callback(remover(p, crd))
    await p.see("POST", DEFINITIONS, crd)


@probe("a change of the schema that brings a bad rule is refused")
async def changed(p: Probe) -> None:
    things = await own_kind(p, _A)
    path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec"
    change = [{"op": "replace", "path": path, "value": ruled(_A, "self.b == 'x'")}]
    await p.see("PATCH", things.definition_path, change, patch="json")
