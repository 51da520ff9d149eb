# SPDX-License-Identifier: Apache-2.0
"""JSON patch: each operation, and how each fails."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import config_map
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.probe import Body, Probe, probe

Operation = dict[str, Any]


def _op(op: str, path: str, **more: Any) -> Operation:
    return {"op": op, "path": path, **more}


def _data(body: dict[str, Any]) -> Any:
    return body.get("data", body.get("spec"))


def _config_map(*patches: list[Operation]) -> Body:
    async def run(p: Probe) -> None:
        data = {"a": "1", "b": "2", "with.dot": "3"}
        made = config_map("a", data, annotations={"example.com/a": "x"})
        await p.do("POST", p.path("v1", "configmaps"), made)
        await _see(p, p.path("v1", "configmaps", "a"), patches)

    return run


def _widget(*patches: list[Operation]) -> Body:
    async def run(p: Probe) -> None:
        spec = {
            "size": 3,
            "steps": ["a", "b"],
            "free": {"a~b": 1},
            "items": [{"k": "a"}, {"k": "b"}],
        }
        await p.do("POST", p.path(WIDGETS, "widgets"), widget("a", spec))
        await _see(p, p.path(WIDGETS, "widgets", "a"), patches)

    return run


async def _see(p: Probe, path: str, patches: tuple[list[Operation], ...]) -> None:
    """Nothing is stored, so that each patch meets the object as it was made."""
    for operations in patches:
        how = {"patch": "json", "query": {"dryRun": "All"}, "note": str(operations), "pick": _shown}
        await p.see("PATCH", path, operations, **how)


def _shown(body: dict[str, Any]) -> Any:
    metadata = {name: body["metadata"].get(name) for name in ("labels", "annotations")}
    return {**metadata, "inner": _data(body)}


_ANNOTATION = "/metadata/annotations/example.com~1a"
probe("add sets a key, a missing or a present one")(
    _config_map([_op("add", "/data/c", value="4")], [_op("add", "/data/a", value="4")])
)
probe("add to a map that is not there is 422")(
    _config_map(
        [_op("add", "/metadata/labels/a", value="b")], [_op("add", "/binaryData/a/b", value="")]
    )
)
probe("replace sets a key, a missing one too")(
    _config_map([_op("replace", "/data/a", value="4")], [_op("replace", "/data/c", value="4")])
)
probe("remove needs something to remove")(
    _config_map(
        [_op("remove", "/data/a")],
        [_op("remove", "/data/c")],
        [_op("remove", "/metadata/labels/c")],
        [_op("remove", "/data")],
    )
)
probe("move takes a value from one place to another")(
    _config_map(
        [_op("move", "/data/c", **{"from": "/data/a"})],
        [_op("move", "/data/c", **{"from": "/data/missing"})],
        [_op("move", "/data/c")],
    )
)
probe("copy leaves the value where it was, and copies null from nowhere")(
    _config_map(
        [_op("copy", "/data/c", **{"from": "/data/a"})],
        [_op("copy", "/data/c", **{"from": "/data/missing"})],
    )
)
probe("a test that holds lets the rest through, one that does not is 422")(
    _config_map(
        [_op("test", "/data/a", value="1"), _op("replace", "/data/a", value="2")],
        [_op("test", "/data/a", value="2"), _op("replace", "/data/a", value="3")],
        [_op("test", "/data/missing", value="1")],
        [_op("test", "/data/missing", value=None)],
        [_op("test", "/data", value={"b": "2", "a": "1", "with.dot": "3"})],
    )
)
probe("one operation that fails fails all")(
    _config_map([_op("add", "/data/c", value="4"), _op("remove", "/data/missing")])
)
probe("a slash in a key is written as a tilde and a one")(
    _config_map(
        [_op("replace", _ANNOTATION, value="y")],
        [_op("remove", _ANNOTATION)],
        [_op("add", "/data/with.dot", value="4")],
    )
)
probe("a tilde in a key is written as a tilde and a zero")(
    _widget(
        [_op("replace", "/spec/free/a~0b", value=2)],
        [_op("add", "/spec/free/a~01b", value=2)],
        [_op("replace", "/spec/free/a~b", value=2)],
    )
)
probe("an unknown operation, or none, or no path is 422, but no value is null")(
    _config_map(
        [_op("frob", "/data/a", value="4")],
        [{"op": "add", "value": "4"}],
        [_op("add", "/data/c")],
        [_op("add", "data/c", value="4")],
        [{"path": "/data/a", "value": "4"}],
        [_op("add", "", value={})],
    )
)
probe("items of a list are addressed by number, and a dash is behind the last")(
    _widget(
        [_op("add", "/spec/steps/-", value="c")],
        [_op("add", "/spec/steps/0", value="c")],
        [_op("replace", "/spec/steps/1", value="c")],
        [_op("remove", "/spec/steps/0")],
        [_op("add", "/spec/items/0/v", value="x")],
    )
)
probe("a number outside of a list is 422, but -1 is its last item")(
    _widget(
        [_op("replace", "/spec/steps/5", value="c")],
        [_op("add", "/spec/steps/5", value="c")],
        [_op("add", "/spec/steps/2", value="c")],
        [_op("remove", "/spec/steps/-1")],
        [_op("add", "/spec/steps/x", value="c")],
    )
)
probe("null stays where anything may be, and is dropped where the schema wants a value")(
    _widget([_op("replace", "/spec/free/a~0b", value=None)], [_op("add", "/spec/code", value=None)])
)
probe("a value of the wrong type in a custom resource is 422")(
    _widget([_op("replace", "/spec/size", value="big")], [_op("replace", "/spec", value=[])])
)


@probe("more than ten thousand operations are 413")
async def too_many(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    path = p.path("v1", "configmaps", "a")
    operation = _op("test", "/data/a", value="1")
    await p.see("PATCH", path, [operation] * 10_001, patch="json")
    await p.see("PATCH", path, [operation] * 10_000, patch="json", pick=_data)
