# SPDX-License-Identifier: Apache-2.0
"""fieldValidation of whole objects: fields that are unknown, there twice, or of another type."""

from __future__ import annotations

import json
from typing import Any

from tests.conformance.builders import IMAGE, config_map, pod
from tests.conformance.kinds import WIDGETS, gadget, widget
from tests.conformance.natives import DEPLOYMENT, merged
from tests.conformance.probe import Body, Probe, probe

DRY = {"dryRun": "All"}
LEVELS = ("Ignore", "Warn", "Strict")


def _kind(body: dict[str, Any]) -> dict[str, Any]:
    return {"kind": body["kind"]}


def twice(body: dict[str, Any], field: str, again: str | None = None) -> bytes:
    """The JSON of an object in which a field, given as `"name": value`, is there once more."""
    return json.dumps(body).replace(field, f"{field}, {again or field}", 1).encode()


async def _see_levels(p: Probe, path: str, body: Any, method: str = "POST") -> None:
    await p.see(method, path, body, query=DRY, note="no level", pick=_kind)
    for level in LEVELS:
        query = {**DRY, "fieldValidation": level}
        await p.see(method, path, body, query=query, note=level, pick=_kind)


@probe("an unknown field of a built-in kind is a warning unless told otherwise")
async def unknown(p: Probe) -> None:
    body = {**config_map("a"), "nonsense": 1}
    await _see_levels(p, p.path("v1", "configmaps"), body)


@probe("an unknown field of a custom resource is a warning unless told otherwise")
async def unknown_custom(p: Probe) -> None:
    body = widget("a", {"size": 3, "nonsense": 1})
    await _see_levels(p, p.path(WIDGETS, "widgets"), body)


@probe("unknown fields do not come back")
async def dropped(p: Probe) -> None:
    await p.see("POST", p.path("v1", "configmaps"), {**config_map("a"), "nonsense": 1})
    await p.see("POST", p.path(WIDGETS, "widgets"), widget("a", {"size": 3, "nonsense": 1}))


@probe("a field of a built-in kind that is there twice is a warning, and the last one counts")
async def duplicate(p: Probe) -> None:
    body = twice(config_map("a"), '"a": "1"', '"a": "2"')
    await _see_levels(p, p.path("v1", "configmaps"), body)
    await p.see("POST", p.path("v1", "configmaps"), body)


@probe("a field of a custom resource that is there twice is a warning, and the last one counts")
async def duplicate_custom(p: Probe) -> None:
    body = twice(widget("a"), '"size": 3', '"size": 4')
    await _see_levels(p, p.path(WIDGETS, "widgets"), body)
    await p.see("POST", p.path(WIDGETS, "widgets"), body)


@probe("every unknown and repeated field has a warning of its own, and one refusal names all")
async def many(p: Probe) -> None:
    spec = {"nonsense": 1, "containers": [{"name": "app", "image": IMAGE, "imagee": "b"}]}
    body = merged(pod("a", spec), {"metadata": {"nonsense": 2}, "zap": 3})
    await _see_levels(p, p.path("v1", "pods"), twice(body, '"name": "app"'))


@probe("every unknown and repeated field of a custom resource is named too")
async def many_custom(p: Probe) -> None:
    spec = {"size": 3, "nonsense": 1, "items": [{"k": "a", "zap": 2}], "free": {"any": {"x": 1}}}
    body = merged(widget("a", spec), {"metadata": {"nonsense": 2}, "zap": 3})
    await _see_levels(p, p.path(WIDGETS, "widgets"), twice(body, '"k": "a"'))


@probe("unknown fields deep in a template are named with their path")
async def nested(p: Probe) -> None:
    spec = {"template": {"spec": {"nonsense": {"a": 1}, "securityContext": {"zap": 1}}}}
    body = DEPLOYMENT.new(p, {"spec": spec})
    await _see_levels(p, DEPLOYMENT.collection(p), body)


@probe("names of fields are told apart by case")
async def case(p: Probe) -> None:
    await _see_levels(p, p.path("v1", "configmaps"), {**config_map("a"), "Data": {"b": "2"}})


@probe("a custom resource that keeps unknown fields has none in its spec, but does at its top")
async def preserving(p: Probe) -> None:
    body = {**gadget("a", {"any": {"thing": 1}}), "zap": 1}
    await _see_levels(p, p.path(WIDGETS, "gadgets"), body)


@probe("unknown fields of an update are treated like those of a creation")
async def update(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    body = {**config_map("a"), "nonsense": 1}
    await _see_levels(p, p.path("v1", "configmaps", "a"), body, "PUT")


@probe("unknown fields of an update of a custom resource are treated like those of a creation")
async def update_custom(p: Probe) -> None:
    made = await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    body = merged(made, {"spec": {"nonsense": 1}})
    await _see_levels(p, p.path(WIDGETS, "widgets", "a"), body, "PUT")


@probe("unknown fields of a status are treated like any")
async def status(p: Probe) -> None:
    made = await p.do("POST", p.path(WIDGETS, "widgets"), widget("a"))
    body = {**made, "status": {"phase": "A", "nonsense": 1}}
    await _see_levels(p, p.path(WIDGETS, "widgets", "a", "status"), body, "PUT")


@probe("a level that does not exist is 422")
async def wrong_level(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    query = {"fieldValidation": "Nonsense"}
    await p.see("POST", p.path("v1", "configmaps"), config_map("b"), query=query)
    await p.see("PUT", p.path("v1", "configmaps", "a"), config_map("a"), query=query)
    await p.see("PATCH", p.path("v1", "configmaps", "a"), {}, patch="merge", query=query)
    await p.see("POST", p.path(WIDGETS, "widgets"), widget("b"), query=query)
    await p.see("POST", p.path("v1", "configmaps"), config_map("b"), query={"fieldValidation": ""})


@probe("an unknown field of the options of a deletion is ignored")
async def delete_options(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    body = {"kind": "DeleteOptions", "apiVersion": "v1", "nonsense": 1}
    await p.see("DELETE", p.path("v1", "configmaps", "a"), body)


@probe("a warning is not cut, however long")
async def long_warning(p: Probe) -> None:
    body = {**config_map("a"), "n" * 500: 1}
    await p.see("POST", p.path("v1", "configmaps"), body, query=DRY, pick=_kind)


@probe("a hundred unknown fields are warned of, and no more")
async def many_warnings(p: Probe) -> None:
    body = {**config_map("a"), **{f"n{number:03}": 1 for number in range(150)}}
    await p.see("POST", p.path("v1", "configmaps"), body, query=DRY, pick=_kind)


def _types(path: tuple[str, str], *bodies: Any) -> Body:
    async def run(p: Probe) -> None:
        for body in bodies:
            await p.see("POST", p.path(*path), body)

    return run


probe("a value of another JSON type is 400 for a built-in kind, at any level")(
    _types(
        ("v1", "configmaps"),
        {**config_map("a"), "data": []},
        {**config_map("a"), "data": {"a": 1}},
        {**config_map("a"), "immutable": "true"},
        {**config_map("a"), "metadata": []},
        {**config_map("a"), "metadata": {"name": 1}},
        {**config_map("a"), "kind": 1},
    )
)
probe("a value of another JSON type is 422 for a custom resource, but 400 in its metadata")(
    _types(
        (WIDGETS, "widgets"),
        widget("a", {"size": "3"}),
        widget("a", {"size": 3.5}),
        {**widget("a"), "spec": []},
        {**widget("a"), "metadata": []},
        {**widget("a"), "metadata": {"name": 1}},
        {**widget("a"), "kind": 1},
    )
)
