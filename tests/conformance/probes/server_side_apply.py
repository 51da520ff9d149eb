# SPDX-License-Identifier: Apache-2.0
"""Server-side apply: creating, sharing, conflicting, forcing and giving up fields."""

from __future__ import annotations

from typing import Any

from tests.conformance.applying import applied, forced, updated
from tests.conformance.builders import config_map
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.probe import Probe, probe

_WIDGET = (WIDGETS, "widgets", "w")


def _map_path(p: Probe) -> str:
    return p.path("v1", "configmaps", "a")


def _with(**data: str) -> dict[str, Any]:
    return config_map("a", data)


def _data(body: dict[str, Any]) -> Any:
    return body.get("data", "no data")


@probe("applying what is not there creates it with 201")
async def created(p: Probe) -> None:
    await p.see("PATCH", _map_path(p), _with(a="1"), **applied("m1"))


@probe("applying the same again changes nothing, the resource version included")
async def unchanged(p: Probe) -> None:
    await p.see("PATCH", _map_path(p), _with(a="1"), **applied("m1"))
    await p.see("PATCH", _map_path(p), _with(a="1"), **applied("m1"))


@probe("a manager that applies another value changes it")
async def changed(p: Probe) -> None:
    await p.do("PATCH", _map_path(p), _with(a="1"), **applied("m1"))
    await p.see("PATCH", _map_path(p), _with(a="2", b="1"), **applied("m1"))


@probe("two managers own what each of them applied")
async def two_managers(p: Probe) -> None:
    await p.do("PATCH", _map_path(p), _with(a="1"), **applied("m1"))
    await p.see("PATCH", _map_path(p), _with(b="2"), **applied("m2"))


@probe("two managers that apply the same value own it together, the second without a time")
async def shared(p: Probe) -> None:
    await p.do("PATCH", _map_path(p), _with(a="1"), **applied("m1"))
    await p.see("PATCH", _map_path(p), _with(a="1"), **applied("m2"))


@probe("a shared field can be changed by neither owner without force")
async def shared_conflict(p: Probe) -> None:
    for manager in ("m1", "m2"):
        await p.do("PATCH", _map_path(p), _with(a="1"), **applied(manager))
    await p.see("PATCH", _map_path(p), _with(a="2"), **applied("m1"))


@probe("another value for another manager's field is one conflict")
async def one_conflict(p: Probe) -> None:
    await p.do("PATCH", _map_path(p), _with(a="1"), **applied("m1"))
    await p.see("PATCH", _map_path(p), _with(a="2"), **applied("m2"))


@probe("other values for several fields of a manager are listed")
async def two_conflicts(p: Probe) -> None:
    await p.do("PATCH", _map_path(p), _with(a="1", b="1", c="1"), **applied("m1"))
    await p.see("PATCH", _map_path(p), _with(a="2", b="2", c="1"), **applied("m2"))


@probe("conflicts with several managers are grouped by manager")
async def conflicts_with_two(p: Probe) -> None:
    await p.do("PATCH", _map_path(p), _with(a="1", b="1"), **applied("m1"))
    await p.do("PATCH", _map_path(p), _with(c="1"), **applied("m2"))
    await p.see("PATCH", _map_path(p), _with(a="2", b="2", c="2"), **applied("m3"))


@probe("a conflict with one who updated names the version that was used")
async def conflict_with_update(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), _with(a="1"), **updated("upd", None))
    await p.see("PATCH", _map_path(p), _with(a="2"), **applied("m1"))


@probe("conflicts in a custom resource name keys of lists")
async def conflict_in_list(p: Probe) -> None:
    items = [{"k": "a", "v": "1"}]
    first = widget("w", {"size": 1, "items": items})
    second = widget("w", {"size": 2, "items": [{"k": "a", "v": "2"}]})
    await p.do("PATCH", p.path(*_WIDGET), first, **applied("m1"))
    await p.see("PATCH", p.path(*_WIDGET), second, **applied("m2"))


@probe("force takes a field from its owner")
async def force(p: Probe) -> None:
    await p.do("PATCH", _map_path(p), _with(a="1", b="1"), **applied("m1"))
    await p.see("PATCH", _map_path(p), _with(a="2"), **forced("m2"))


@probe("an owner that lost all its fields is no longer listed")
async def forced_out(p: Probe) -> None:
    await p.do("PATCH", _map_path(p), _with(a="1"), **applied("m1"))
    await p.see("PATCH", _map_path(p), _with(a="2"), **forced("m2"))


@probe("a field that its only owner no longer applies is removed")
async def dropped(p: Probe) -> None:
    await p.do("PATCH", _map_path(p), _with(a="1", b="1"), **applied("m1"))
    await p.see("PATCH", _map_path(p), _with(a="1"), **applied("m1"))


@probe("a field that one of two owners no longer applies stays")
async def dropped_by_one(p: Probe) -> None:
    for manager in ("m1", "m2"):
        await p.do("PATCH", _map_path(p), _with(a="1", b="1"), **applied(manager))
    await p.see("PATCH", _map_path(p), _with(a="1"), **applied("m1"))
    await p.see("PATCH", _map_path(p), _with(a="1"), **applied("m2"), note="by the other, too")


@probe("an owner that applies nothing but the name gives up all it has and is not listed")
async def gave_up(p: Probe) -> None:
    await p.do("PATCH", _map_path(p), _with(a="1"), **applied("m1"))
    bare = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    await p.see("PATCH", _map_path(p), bare, **applied("m1"))


@probe("a field that someone updated after it was applied belongs to the one who updated")
async def updated_after(p: Probe) -> None:
    await p.do("PATCH", _map_path(p), _with(a="1", b="1"), **applied("m1"))
    await p.see("PATCH", _map_path(p), {"data": {"a": "2"}}, **updated("upd"))
    await p.see("PATCH", _map_path(p), _with(a="1", b="1"), **applied("m1"), note="applied again")
    await p.see("PATCH", _map_path(p), _with(b="1"), **applied("m1"), note="given up")


@probe("applying the value that an update set shares it")
async def takes_over_same(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), _with(a="1", b="1"), **updated("upd", None))
    await p.see("PATCH", _map_path(p), _with(a="1"), **applied("m1"))
    await p.see("PATCH", _map_path(p), _with(), **applied("m1"), note="given up again")


@probe("force takes a field from one who updated, and dropping it then removes it")
async def takes_over_forced(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), _with(a="1", b="1"), **updated("upd", None))
    await p.see("PATCH", _map_path(p), _with(a="2"), **forced("m1"))
    await p.see("PATCH", _map_path(p), _with(), **applied("m1"), pick=_data)


@probe("one manager may update and apply, and the two are told apart")
async def same_name(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), _with(a="1"), **updated("m1", None))
    await p.see("PATCH", _map_path(p), _with(a="2"), **applied("m1"), note="another value")
    await p.see("PATCH", _map_path(p), _with(a="1"), **applied("m1"), note="the same value")


@probe("a dry run of an apply answers as if and keeps nothing")
async def dry_run(p: Probe) -> None:
    await p.see("PATCH", _map_path(p), _with(a="1"), **applied("m1", dryRun="All"))
    await p.see("GET", _map_path(p))
    await p.do("PATCH", _map_path(p), _with(a="1"), **applied("m1"))
    await p.see("PATCH", _map_path(p), _with(a="2"), **applied("m1", dryRun="All"))
    await p.see("GET", _map_path(p), pick=_data)


@probe("an apply may be written in YAML")
async def yaml(p: Probe) -> None:
    text = b"# a comment\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: '1'\n"
    await p.see("PATCH", _map_path(p), text, **applied("m1"))


@probe("an apply with a matching resource version is taken, with an old one refused")
async def resource_version(p: Probe) -> None:
    made = await p.do("PATCH", _map_path(p), _with(a="1"), **applied("m1"))
    version = made["metadata"]["resourceVersion"]
    right = config_map("a", {"a": "2"}, resourceVersion=version)
    await p.see("PATCH", _map_path(p), right, **applied("m1"), note="matching")
    await p.see("PATCH", _map_path(p), {**right, "data": {"a": "3"}}, **applied("m1"), note="old")


@probe("a null in an apply of text becomes an empty text")
async def null(p: Probe) -> None:
    await p.do("PATCH", _map_path(p), _with(a="1", b="1"), **applied("m1"))
    body = {**_with(a="1"), "data": {"a": "1", "b": None}}
    await p.see("PATCH", _map_path(p), body, **applied("m1"))


@probe("labels, annotations and finalizers are applied like other fields")
async def metadata(p: Probe) -> None:
    first: dict[str, Any] = {
        "labels": {"a": "1"},
        "annotations": {"b": "2"},
        "finalizers": ["example.com/f1"],
    }
    await p.do("PATCH", _map_path(p), config_map("a", **first), **applied("m1"))
    second: dict[str, Any] = {"labels": {"c": "3"}, "finalizers": ["example.com/f2"]}
    await p.see("PATCH", _map_path(p), config_map("a", **second), **applied("m2"))
    await p.see("PATCH", _map_path(p), config_map("a"), **applied("m1"), note="m1 drops its own")
    await p.do("PATCH", _map_path(p), config_map("a"), **applied("m2"))


@probe("an apply that drops a required field is refused")
async def required_dropped(p: Probe) -> None:
    await p.do(
        "PATCH", p.path(*_WIDGET), widget("w", {"size": 1, "color": "blue"}), **applied("m1")
    )
    await p.see("PATCH", p.path(*_WIDGET), widget("w", {"color": "blue"}), **applied("m1"))


@probe("a defaulted field belongs to nobody and is taken without a conflict")
async def defaulted(p: Probe) -> None:
    path = p.path(*_WIDGET)
    await p.see("PATCH", path, widget("w", {"size": 1, "items": [{"k": "a"}]}), **applied("m1"))
    second = widget("w", {"color": "blue", "items": [{"k": "a", "mode": "own"}]})
    await p.see("PATCH", path, second, **applied("m2"))
    bare = widget("w", {})
    await p.see("PATCH", path, bare, **applied("m2"), note="given up: the defaults are back")


@probe("a custom resource is applied, its generation grows with its spec only")
async def custom(p: Probe) -> None:
    path = p.path(*_WIDGET)
    await p.see("PATCH", path, widget("w", {"size": 1}), **applied("m1"))
    labelled = widget("w", {"size": 1}, labels={"a": "1"})
    await p.see("PATCH", path, labelled, **applied("m1"), note="a label more")
    await p.see("PATCH", path, widget("w", {"size": 2}), **applied("m1"), note="another size")


@probe("a status is applied through its subresource only, by an owner of its own")
async def status(p: Probe) -> None:
    path = p.path(*_WIDGET)
    await p.see(
        "PATCH", path, {**widget("w", {"size": 1}), "status": {"phase": "A"}}, **applied("m1")
    )
    body = {**widget("w", {"size": 9}), "status": {"phase": "B"}}
    await p.see("PATCH", f"{path}/status", body, **applied("m1"), note="through the status")
    await p.see("PATCH", path, widget("w", {"size": 1}), **applied("m1"), note="the spec again")


@probe("a status of what is not there cannot be applied")
async def status_of_nothing(p: Probe) -> None:
    body = {**widget("w", {"size": 1}), "status": {"phase": "A"}}
    await p.see("PATCH", p.path(*_WIDGET, "status"), body, **applied("m1"))


@probe("applying the scale of a custom resource conflicts, and with force fails with 500")
async def scale(p: Probe) -> None:
    await p.do("PATCH", p.path(*_WIDGET), widget("w", {"size": 1, "replicas": 2}), **applied("m1"))
    body = {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "w", "namespace": p.ns},
        "spec": {"replicas": 3},
    }
    path = p.path(*_WIDGET, "scale")
    await p.see("PATCH", path, body, **applied("m2"))
    await p.see("PATCH", path, body, **forced("m2"))
    await p.see("GET", p.path(*_WIDGET))
