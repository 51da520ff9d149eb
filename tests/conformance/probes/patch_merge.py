# SPDX-License-Identifier: Apache-2.0
"""JSON merge patch: null removes, maps merge, anything else replaces."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.natives import DEPLOYMENT
from tests.conformance.probe import Body, Probe, probe

SPEC = {
    "size": 3,
    "color": "blue",
    "note": "n",
    "steps": ["a", "b"],
    "labels": {"a": "1", "b": "2"},
    "items": [{"k": "a", "v": "1"}, {"k": "b", "v": "2"}],
    "free": {"x": {"y": 1}},
}


def _spec(body: dict[str, Any]) -> Any:
    return body.get("spec")


def _widget(*patches: dict[str, Any]) -> Body:
    """Nothing is stored, so that each patch meets the widget as it was made."""

    async def run(p: Probe) -> None:
        await p.do("POST", p.path(WIDGETS, "widgets"), widget("a", SPEC))
        path = p.path(WIDGETS, "widgets", "a")
        for spec in patches:
            how = {"patch": "merge", "query": {"dryRun": "All"}, "note": str(spec), "pick": _spec}
            await p.see("PATCH", path, {"spec": spec}, **how)

    return run


probe("null removes a key, and a default comes back")(
    _widget({"note": None}, {"color": None}, {"missing": None}, {"labels": {"a": None}})
)
probe("maps are merged, at any depth")(
    _widget({"labels": {"c": "3"}}, {"free": {"x": {"z": 2}, "w": {"v": 3}}})
)
probe("lists are replaced, whatever their items")(
    _widget({"steps": ["c"]}, {"items": [{"k": "c"}]}, {"steps": []}, {"items": None})
)
probe("null in a new map is nothing, in a list it is a value")(
    _widget({"free": {"new": {"a": None, "b": 1}}}, {"free": {"list": [None, {"a": None}]}})
)
probe("a map replaces a scalar and a scalar a map")(
    _widget({"free": {"x": 1}}, {"free": {"x": {"y": {"z": 1}}}}, {"free": 5})
)
probe("null for what is required is 422")(_widget({"size": None}))


@probe("null for a whole part of a built-in kind removes it")
async def parts(p: Probe) -> None:
    made = config_map("a", labels={"a": "b"}, annotations={"c": "d"})
    await p.do("POST", p.path("v1", "configmaps"), made)
    path = p.path("v1", "configmaps", "a")
    await p.see("PATCH", path, {"metadata": {"labels": None}}, patch="merge")
    await p.see("PATCH", path, {"data": None}, patch="merge")
    await p.see("PATCH", path, {"metadata": None}, patch="merge")


@probe("a merge patch of a pod's containers replaces them whole, which is 422")
async def containers(p: Probe) -> None:
    await p.do("POST", p.path("v1", "pods"), pod("a"))
    body = {"spec": {"containers": [{"name": "app", "image": "registry.example/app:2"}]}}
    await p.see("PATCH", p.path("v1", "pods", "a"), body, patch="merge")


@probe("null for a field with a default gives the default again")
async def native_defaults(p: Probe) -> None:
    await DEPLOYMENT.make(p, {"spec": {"revisionHistoryLimit": 3}})
    patch = {"spec": {"revisionHistoryLimit": None, "strategy": None}}
    await p.see("PATCH", DEPLOYMENT.path(p), patch, patch="merge", pick=_limit)


def _limit(body: dict[str, Any]) -> Any:
    return {name: body["spec"].get(name) for name in ("revisionHistoryLimit", "strategy")}
