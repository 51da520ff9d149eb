# SPDX-License-Identifier: Apache-2.0
"""Server-side apply inside lists and maps: by key, as sets, as a whole; and on built-in kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.applying import applied, forced, updated
from tests.conformance.builders import IMAGE, NOBODY, pod
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.own import install, own_definition, own_kind
from tests.conformance.probe import Probe, probe
from tests.conformance.schemas import TEXT, WHOLE, keyed_by, list_of, map_of, object_of

if TYPE_CHECKING:
    from tests.conformance.probe import Body


def _shown(body: dict[str, Any]) -> Any:
    """The spec and who owns what."""
    return {"spec": body["spec"], "metadata": {"managedFields": body["metadata"]["managedFields"]}}


# What managers apply, one after the other, to the spec of a widget.
STEPS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "items of a keyed list belong to those who applied them": [
        ("m1", {"size": 1, "items": [{"k": "a", "v": "1"}, {"k": "b", "v": "1"}]}),
        ("m2", {"items": [{"k": "c", "v": "2"}, {"k": "a"}]}),
        ("m1", {"size": 1, "items": [{"k": "b", "v": "3"}]}),
        ("m2", {"items": [{"k": "c", "v": "2"}]}),
    ],
    "the order of a keyed list follows the last apply, with what others own around it": [
        ("m1", {"size": 1, "items": [{"k": "a"}, {"k": "b"}, {"k": "c"}]}),
        ("m1", {"size": 1, "items": [{"k": "c"}, {"k": "b"}, {"k": "a"}]}),
        ("m2", {"items": [{"k": "x"}, {"k": "b"}, {"k": "y"}]}),
    ],
    "fields of one item of a keyed list may have different owners": [
        ("m1", {"size": 1, "items": [{"k": "a", "v": "1"}]}),
        ("m2", {"items": [{"k": "a", "mode": "own"}]}),
        ("m1", {"size": 1}),
    ],
    "items of a set belong to those who applied them": [
        ("m1", {"size": 1, "tags": ["a", "b"]}),
        ("m2", {"tags": ["b", "c"]}),
        ("m1", {"size": 1, "tags": ["d"]}),
    ],
    "a list without a type is owned and replaced as a whole": [
        ("m1", {"size": 1, "steps": ["a", "b"]}),
        ("m2", {"steps": ["b"]}),
        ("m2!", {"steps": ["b"]}),
        ("m1", {"size": 1}),
    ],
    "keys of a map belong to those who applied them": [
        ("m1", {"size": 1, "labels": {"a": "1"}}),
        ("m2", {"labels": {"b": "2"}}),
        ("m1", {"size": 1}),
    ],
    "fields of a free part belong to those who applied them, lists in it as a whole": [
        ("m1", {"size": 1, "free": {"a": {"b": 1}, "list": [1, {"c": 2}]}}),
        ("m2", {"free": {"a": {"d": 2}}}),
        ("m2", {"free": {"list": [1]}}),
    ],
    "an empty map is owned itself, an empty keyed list or set is not": [
        ("m1", {"size": 1, "items": [], "labels": {}, "tags": []}),
        ("m2", {"items": [{"k": "a"}], "labels": {"a": "1"}, "tags": ["x"]}),
        ("m1", {"size": 1}),
    ],
    "an int-or-string value changes its type without a conflict": [
        ("m1", {"size": 1, "port": 80}),
        ("m1", {"size": 1, "port": "http"}),
    ],
}


def _steps_case(steps: list[tuple[str, dict[str, Any]]]) -> Body:
    async def apply(p: Probe) -> None:
        path = p.path(WIDGETS, "widgets", "w")
        for manager, spec in steps:
            how = forced(manager[:-1]) if manager.endswith("!") else applied(manager)
            await p.see("PATCH", path, widget("w", spec), **how, pick=_shown, note=f"{spec}")

    return apply


for _title, _steps in STEPS.items():
    probe(_title)(_steps_case(_steps))


@probe("an atomic map and an atomic object are owned and replaced as a whole")
async def atomic_map(p: Probe) -> None:
    atomic = {"x-kubernetes-map-type": "atomic"}
    things = await own_kind(
        p, object_of(m=map_of(TEXT, **atomic), o={**object_of(a=TEXT, b=TEXT), **atomic})
    )
    path = things.path("x")
    await p.see("PATCH", path, things.new("x", {"m": {"a": "1"}, "o": {"a": "1"}}), **applied("m1"))
    second = things.new("x", {"m": {"b": "2"}, "o": {"b": "2"}})
    await p.see("PATCH", path, second, **applied("m2"))
    await p.see("PATCH", path, second, **forced("m2"), pick=_shown)


@probe("defaults of keys are part of what an item is owned by")
async def default_keys(p: Probe) -> None:
    port = object_of(port=WHOLE, protocol={"type": "string", "default": "TCP"}, name=TEXT)
    ports = list_of({**port, "required": ["port"]}, **keyed_by("port", "protocol"))
    things = await own_kind(p, object_of(ports=ports))
    path = things.path("x")
    first = things.new("x", {"ports": [{"port": 80, "name": "a"}]})
    await p.see("PATCH", path, first, **applied("m1"), pick=_shown)
    second = things.new("x", {"ports": [{"port": 80, "protocol": "UDP"}, {"port": 80}]})
    await p.see("PATCH", path, second, **applied("m2"), pick=_shown)


@probe("a manager that applies in another version of a kind moves its entry there")
async def other_version(p: Probe) -> None:
    crd = own_definition(p, object_of(a=TEXT, b=TEXT))
    crd["spec"]["versions"].append({**crd["spec"]["versions"][0], "name": "v2", "storage": False})
    things = await install(p, crd)
    await p.do("PATCH", things.path("x"), things.new("x", {"a": "1", "b": "1"}), **applied("m1"))
    second = things.new("x", {"a": "1"}, apiVersion=f"{things.group}/v2")
    path = things.path("x", version="v2")
    await p.see("PATCH", path, second, **applied("m1"))
    other = things.new("x", {"a": "2"}, apiVersion=f"{things.group}/v2")
    await p.see("PATCH", path, other, **applied("m2"), note="a conflict across versions")


def _pod(containers: list[dict[str, Any]], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": containers, **spec},
    }


@probe("a pod is applied; owned is only what was applied, ports with the default of their key")
async def pod_applied(p: Probe) -> None:
    container = {
        "name": "app",
        "image": IMAGE,
        "ports": [{"containerPort": 80}],
        "env": [{"name": "A", "value": "1"}],
        "args": ["a", "b"],
        "resources": {"requests": {"cpu": "1"}},
    }
    more = {
        "schedulerName": NOBODY,
        "nodeSelector": {"a": "1"},
        "tolerations": [{"key": "k", "operator": "Exists"}],
        "imagePullSecrets": [{"name": "s"}],
    }
    body = _pod([container], **more)
    await p.see("PATCH", p.path("v1", "pods", "a"), body, **applied("m1"))


@probe("a container that another manager applies is found by its name")
async def pod_containers(p: Probe) -> None:
    path = p.path("v1", "pods", "a")
    await p.do("PATCH", path, pod("a"), **applied("m1"))
    other = _pod([{"name": "app", "image": "registry.example/app:2"}])
    await p.see("PATCH", path, other, **applied("m2"), note="a conflict")
    await p.see("PATCH", path, other, **forced("m2"), pick=_shown)


@probe("the status of a pod is applied through its subresource")
async def pod_status(p: Probe) -> None:
    await p.do("POST", p.path("v1", "pods"), pod("a"))
    condition = {"type": "example.com/Ready", "status": "True"}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    status = {**body, "status": {"conditions": [condition]}}
    await p.see("PATCH", p.path("v1", "pods", "a", "status"), status, **applied("m1"))
    path = p.path("v1", "pods", "a", "status")
    await p.see("PATCH", path, {**body, "status": {}}, **applied("m1"), note="given up")


def _service(*ports: dict[str, Any]) -> dict[str, Any]:
    spec = {"clusterIP": "None", "selector": {"app": "a"}, "ports": list(ports)}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec}


@probe("ports of a service are merged by port and protocol")
async def service_ports(p: Probe) -> None:
    path = p.path("v1", "services", "a")
    web = {"name": "web", "port": 80}
    await p.see("PATCH", path, _service(web), **applied("m1"))
    dns = {"name": "dns", "port": 80, "protocol": "UDP"}
    await p.see("PATCH", path, _service(dns), **applied("m2"), pick=_shown)
    moved = {"name": "web", "port": 81}
    await p.see("PATCH", path, _service(moved), **applied("m1"), pick=_shown, note="moved")


def _deployment(replicas: int | None) -> dict[str, Any]:
    app = {"app": "a"}
    template: dict[str, Any] = {
        "metadata": {"labels": app},
        "spec": {"schedulerName": NOBODY, "containers": [{"name": "app", "image": IMAGE}]},
    }
    # Paused, so that the controller leaves it alone but for its status.
    spec: dict[str, Any] = {"selector": {"matchLabels": app}, "template": template, "paused": True}
    if replicas is not None:
        spec["replicas"] = replicas
    metadata = {"name": "a"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def _by_users(body: dict[str, Any]) -> Any:
    """Without what the controller owns, which comes when it comes."""
    entries = [e for e in body["metadata"]["managedFields"] if e["manager"].startswith("m")]
    return {"replicas": body["spec"]["replicas"], "metadata": {"managedFields": entries}}


@probe("replicas of a deployment go to who scales it when its applier lets go of them")
async def deployment(p: Probe) -> None:
    path = p.path("apps/v1", "deployments", "a")
    await p.see("PATCH", path, _deployment(0), **applied("m1"), pick=_by_users)
    scale = f"{path}/scale"
    await p.do("PATCH", scale, {"spec": {"replicas": 1}}, **updated("m2"))
    await p.see("GET", path, pick=_by_users, note="scaled by m2")
    await p.see("PATCH", path, _deployment(0), **applied("m1"), note="m1 insists")
    await p.see("PATCH", path, _deployment(None), **applied("m1"), pick=_by_users, note="lets go")


@probe("an applier that lets go of replicas nobody else set gets their default")
async def deployment_default(p: Probe) -> None:
    path = p.path("apps/v1", "deployments", "a")
    await p.do("PATCH", path, _deployment(0), **applied("m1"))
    await p.see("PATCH", path, _deployment(None), **applied("m1"), pick=_by_users)
