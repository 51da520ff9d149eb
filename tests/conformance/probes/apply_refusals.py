# SPDX-License-Identifier: Apache-2.0
"""Server-side apply that is refused: bad parameters, bad bodies, bad fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.applying import applied, forced, updated
from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.normalise import PROBE_UID_HEAD
from tests.conformance.probe import Probe, probe

if TYPE_CHECKING:
    from tests.conformance.probe import Body

UID = f"{PROBE_UID_HEAD}1111-4222-8333-444444444444"
_ENTRY = {
    "manager": "m9",
    "operation": "Apply",
    "apiVersion": "v1",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:data": {"f:a": {}}},
}


def _map_path(p: Probe) -> str:
    return p.path("v1", "configmaps", "a")


@probe("an apply without a field manager is refused")
async def no_manager(p: Probe) -> None:
    await p.see("PATCH", _map_path(p), config_map("a"), patch="apply")
    await p.see("PATCH", _map_path(p), config_map("a"), **applied(""), note="an empty one")


@probe("force on a patch that is no apply is refused")
async def force_elsewhere(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    for patch in ("merge", "json", "strategic"):
        body: Any = [] if patch == "json" else {}
        await p.see("PATCH", _map_path(p), body, patch=patch, query={"force": "true"})


@probe("force that is no boolean is taken as true, but 0 and false in any case are not")
async def odd_force(p: Probe) -> None:
    for force in ("maybe", "0", "FALSE", "no", ""):
        await p.do("PATCH", _map_path(p), config_map("a", {"a": "1"}), **forced("m1"))
        body = config_map("a", {"a": f"for {force}"})
        await p.see("PATCH", _map_path(p), body, **applied("m2", force=force), pick=_data)


def _data(body: dict[str, Any]) -> Any:
    return body["data"]


# A body for the config map `a` and how the server takes it, when it is not there and when it is.
BODIES: dict[str, Any] = {
    "an apply with managed fields in it is refused": config_map("a", managedFields=[_ENTRY]),
    "an apply with empty managed fields in it is refused": config_map("a", managedFields=[]),
    "an apply of another name than the path's is refused": config_map("b"),
    "an apply without a name is refused for a creation only": {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {},
    },
    "an apply of another namespace than the path's is refused": config_map("a", namespace="other"),
    "an apply of another kind than the path's is refused": {**config_map("a"), "kind": "Secret"},
    "an apply of another version than the path's is refused": {
        **config_map("a"),
        "apiVersion": "apps/v1",
    },
    "an apply without apiVersion is refused": {"kind": "ConfigMap", "metadata": {"name": "a"}},
    "an apply without kind is refused": {"apiVersion": "v1", "metadata": {"name": "a"}},
    "an apply with a generated name is refused for a creation only": {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"generateName": "a"},
    },
    "an apply of a field that does not exist is refused": {**config_map("a"), "extra": {"b": 1}},
    "an apply of a value of the wrong type is refused": config_map("a", {"a": 1}),  # type: ignore[dict-item]
    "an apply of a list where a map belongs is refused": {**config_map("a"), "data": ["a"]},
    "an apply of text that is no YAML is refused": b"{a: [",
    "an apply of two documents takes the first": (
        b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n---\napiVersion: v1\n"
    ),
    "an apply of a list of things is refused": b"- a\n- b\n",
    "an apply of nothing is refused": b"",
}


def _body_case(body: Any) -> Body:
    async def ask(p: Probe) -> None:
        await p.see("PATCH", _map_path(p), body, **applied("m1"), note="not there")
        await p.do("PATCH", _map_path(p), config_map("a"), **forced("m2"))
        await p.see("PATCH", _map_path(p), body, **applied("m1"), note="there")

    return ask


for _title, _body in BODIES.items():
    probe(_title)(_body_case(_body))


@probe("an apply with a key twice takes the last and warns")
async def key_twice(p: Probe) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: '1'\n  a: '2'\n"
    await p.see("PATCH", _map_path(p), body, **applied("m1"))
    strict = applied("m1", fieldValidation="Strict")
    await p.see("PATCH", _map_path(p), body, **strict, note="strictly")


@probe("a uid for what is not there is refused with 409, another object's with 422")
async def uid(p: Probe) -> None:
    await p.see("PATCH", _map_path(p), config_map("a", uid=UID), **applied("m1"))
    await p.do("PATCH", _map_path(p), config_map("a"), **applied("m1"))
    await p.see("PATCH", _map_path(p), config_map("a", uid=UID), **applied("m1"))


@probe("a resource version for what is not there is ignored")
async def resource_version(p: Probe) -> None:
    await p.see("PATCH", _map_path(p), config_map("a", resourceVersion="5"), **applied("m1"))


@probe("an apply into a namespace that is not there is refused")
async def no_namespace(p: Probe) -> None:
    path = p.path("v1", "configmaps", "a", ns=f"none-{p.id}")
    await p.see("PATCH", path, config_map("a"), **applied("m1"))


@probe("an apply to a collection is not allowed")
async def collection(p: Probe) -> None:
    await p.see("PATCH", p.path("v1", "configmaps"), config_map("a"), **applied("m1"))


@probe("a list key twice in an apply is refused, after defaults of the key")
async def duplicate_key(p: Probe) -> None:
    twice = [{"name": "app", "image": "i"}, {"name": "app", "image": "j"}]
    body = pod("a", {"containers": twice})
    await p.see("PATCH", p.path("v1", "pods", "a"), body, **applied("m1"))
    ports = [{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}]
    body = pod("a", {"containers": [{"name": "app", "image": "i", "ports": ports}]})
    await p.see("PATCH", p.path("v1", "pods", "a"), body, **applied("m1"), note="by default")


@probe("a list item without its key in an apply of a pod is left to validation")
async def missing_key(p: Probe) -> None:
    body = pod("a", {"containers": [{"image": "i"}]})
    await p.see("PATCH", p.path("v1", "pods", "a"), body, **applied("m1"))


WIDGET_SPECS: dict[str, dict[str, Any]] = {
    "a custom resource's unknown field in an apply is refused": {"size": 1, "odd": 1},
    "a custom resource's value of the wrong type in an apply is refused": {"size": "big"},
    "a custom resource's list key twice in an apply is refused": {
        "size": 1,
        "items": [{"k": "a"}, {"k": "a"}],
    },
    "a custom resource's set with an item twice in an apply is refused": {
        "size": 1,
        "tags": ["a", "a"],
    },
    "a custom resource's list item without its key in an apply is refused": {
        "size": 1,
        "items": [{"v": "x"}],
    },
    "a custom resource's bad value in an apply is refused like in a creation": {"size": 101},
    "a custom resource's broken rule in an apply is refused like in a creation": {"size": 60},
    "a custom resource's unknown field in a free part is applied": {
        "size": 1,
        "free": {"any": {"thing": [1]}},
    },
}


def _widget_case(spec: dict[str, Any]) -> Body:
    async def ask(p: Probe) -> None:
        path = p.path(WIDGETS, "widgets", "w")
        await p.see("PATCH", path, widget("w", spec), **applied("m1"))

    return ask


for _title, _spec in WIDGET_SPECS.items():
    probe(_title)(_widget_case(_spec))


@probe("an unknown field in an apply is refused whatever the field validation")
async def field_validation(p: Probe) -> None:
    body = {**config_map("a"), "extra": 1}
    for validation in ("Ignore", "Warn", "Strict"):
        await p.see("PATCH", _map_path(p), body, **applied("m1", fieldValidation=validation))


@probe("a conflict is found before the object is validated")
async def conflict_before_validity(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets", "w")
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("w"), **updated("upd", None))
    await p.see("PATCH", path, widget("w", {"size": 101}), **applied("m1"))
