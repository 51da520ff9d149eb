# SPDX-License-Identifier: Apache-2.0
"""Managed fields of writes that are no apply: who is listed, for what, and how to change it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.admission import Hook, json_patch, webhooks
from tests.conformance.applying import applied, forced, owners, updated
from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, gadget, widget
from tests.conformance.probe import Probe, probe

if TYPE_CHECKING:
    from tests.conformance.probe import Body
    from tests.support.api import Answer

_MAPS = ("v1", "configmaps")
_WIDGET = (WIDGETS, "widgets", "w")


def _map_path(p: Probe) -> str:
    return p.path(*_MAPS, "a")


async def _made(p: Probe, manager: str = "m0", **data: str) -> dict[str, Any]:
    """The config map a, created by a manager."""
    body: dict[str, Any] = await p.do(
        "POST", p.path(*_MAPS), config_map("a", data or {"a": "1"}), **updated(manager, None)
    )
    return body


@probe("a creation owns what it set, labels, annotations and owners included")
async def created(p: Probe) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o"}
    owner["uid"] = (await p.do("POST", p.path(*_MAPS), config_map("o")))["metadata"]["uid"]
    metadata: dict[str, Any] = {
        "labels": {"l": "1"},
        "annotations": {"n": "1"},
        "finalizers": ["example.com/f"],
        "ownerReferences": [owner],
    }
    await p.see("POST", p.path(*_MAPS), config_map("a", **metadata), **updated("m1", None))
    await p.do("PATCH", _map_path(p), {"metadata": {"finalizers": None}}, patch="merge")


@probe("a PUT owns what it changed and leaves the rest to whom it was")
async def put(p: Probe) -> None:
    body = await _made(p, a="1", b="1")
    body["data"] = {"a": "2", "b": "1", "c": "1"}
    await p.see("PUT", _map_path(p), body, **updated("m1", None))


@probe("a PUT that removes fields takes them from their owner")
async def put_removed(p: Probe) -> None:
    body = await _made(p, a="1", b="1")
    del body["data"]["b"]
    body = await p.see("PUT", _map_path(p), body, **updated("m1", None), note="one of two")
    del body["data"]
    await p.see("PUT", _map_path(p), body, **updated("m1", None), note="all")


PATCHES: dict[str, Any] = {
    "merge": {"data": {"a": "2", "b": "1"}},
    "json": [{"op": "add", "path": "/data/b", "value": "1"}],
    "strategic": {"data": {"b": "1"}, "metadata": {"labels": {"l": "1"}}},
}


def _patch_case(kind: str, patch: Any) -> Body:
    async def write(p: Probe) -> None:
        await _made(p)
        await p.see("PATCH", _map_path(p), patch, **updated("m1", kind))

    return write


for _kind, _patch in PATCHES.items():
    probe(f"a {_kind} patch owns what it changed by the operation Update")(
        _patch_case(_kind, _patch)
    )


@probe("a write that changes nothing leaves no entry and no new version")
async def nothing_changed(p: Probe) -> None:
    body = await _made(p)
    await p.see("PUT", _map_path(p), body, **updated("m1", None))
    await p.see("PATCH", _map_path(p), {"data": {"a": "1"}}, **updated("m2"))


@probe("a value that is set back and forth stays with the last one who changed it")
async def back_and_forth(p: Probe) -> None:
    await _made(p)
    await p.do("PATCH", _map_path(p), {"data": {"a": "2"}}, **updated("m1"))
    await p.see("PATCH", _map_path(p), {"data": {"a": "1"}}, **updated("m0"))


@probe("the time of an entry changes when its manager changes something, not when others do")
async def times(p: Probe) -> None:
    first = await _made(p)
    began = first["metadata"]["managedFields"][0]["time"]

    def later(answer: Answer) -> bool:
        """A second later by the server's clock: a dry run shows the time it would note."""
        return bool(answer.body["metadata"]["managedFields"][-1]["time"] != began)

    async def see_times(note: str, data: dict[str, str], manager: str) -> None:
        how = updated(manager)
        body = await p.do("PATCH", _map_path(p), {"data": data}, **how)
        entries = body["metadata"]["managedFields"]
        p.note(note, {one["manager"]: one["time"] != began for one in entries})

    dry = {"patch": "merge", "query": {"dryRun": "All", "fieldManager": "m9"}}
    await p.until("PATCH", _map_path(p), later, body={"data": {"z": "1"}}, **dry)
    await see_times("changed time: another manager adds a field", {"b": "1"}, "m1")
    await see_times("changed time: the first sets another value of its own", {"a": "2"}, "m0")


AGENTS: dict[str, str] = {
    "a product with a version": "kubectl/v1.36.3 (linux/amd64) kubernetes/abc",
    "no version": "curl",
    "several slashes": "controller/v1/extra",
    "a slash first": "/v1",
    "a space before the slash": "my agent/1",
    "too long": "a" * 140 + "/1",
}


@probe("the manager of a write is the User-Agent up to its slash, at most 128 bytes of it")
async def user_agent(p: Probe) -> None:
    for number, (note, agent) in enumerate(AGENTS.items()):
        headers = {"User-Agent": agent}
        await p.see(
            "POST",
            p.path(*_MAPS),
            config_map(f"a{number}"),
            headers=headers,
            pick=owners,
            note=note,
        )


@probe("the manager of a write without a User-Agent is unknown")
async def no_user_agent(p: Probe) -> None:
    await p.see("POST", p.path(*_MAPS), config_map("a"), headers={"User-Agent": ""}, pick=owners)


@probe("a field manager may have 128 bytes of printable characters")
async def manager_limits(p: Probe) -> None:
    for manager in ("m" * 128, "m" * 129, "tab\there", "space and ümlaut"):
        name = f"a{len(manager)}"
        how = updated(manager, None)
        await p.see("POST", p.path(*_MAPS), config_map(name), **how, pick=owners, note=manager[:20])


@probe("the field manager's limits hold for PUT, patches and applies")
async def manager_limits_elsewhere(p: Probe) -> None:
    body = await _made(p)
    long = "m" * 129
    await p.see("PUT", _map_path(p), body, **updated(long, None))
    await p.see("PATCH", _map_path(p), {"data": {"a": "2"}}, **updated(long))
    await p.see("PATCH", _map_path(p), config_map("a"), **applied(long))


@probe("entries of applies come before those of updates")
async def order(p: Probe) -> None:
    await _made(p, "a-first")
    await p.do("PATCH", _map_path(p), config_map("a", {"y": "1"}), **applied("z-last"))
    await p.see("PATCH", _map_path(p), {"data": {"z": "1"}}, **updated("b-second"))


@probe("a subresource's entry is told apart from the same manager's others")
async def subresources(p: Probe) -> None:
    await p.do("POST", p.path(WIDGETS, "widgets"), widget("w"), **updated("m1", None))
    path = p.path(*_WIDGET)
    status = {
        "status": {"phase": "A", "replicas": 1, "conditions": [{"type": "T", "status": "True"}]}
    }
    await p.do("PATCH", f"{path}/status", status, **updated("m1"))
    await p.see("PATCH", f"{path}/scale", {"spec": {"replicas": 3}}, **updated("m1"))
    await p.see("GET", path)


@probe("a write to the main resource that carries a status does not own it")
async def status_ignored(p: Probe) -> None:
    body = {**widget("w"), "status": {"phase": "A"}}
    await p.see("POST", p.path(WIDGETS, "widgets"), body, **updated("m1", None))


@probe("without a status subresource the status is owned like the rest")
async def status_owned(p: Probe) -> None:
    body = {**gadget("g"), "status": {"phase": "A", "list": [1, {"a": 2}]}}
    await p.see("POST", p.path(WIDGETS, "gadgets"), body, **updated("m1", None))


@probe("the status of a pod is owned under its subresource, conditions by type")
async def pod_status(p: Probe) -> None:
    await p.do("POST", p.path("v1", "pods"), pod("a"), **updated("m1", None))
    condition = {"type": "example.com/Ready", "status": "True"}
    status = {"status": {"conditions": [condition]}}
    path = p.path("v1", "pods", "a", "status")
    await p.see("PATCH", path, status, **updated("m2", "strategic"))


@probe("a creation of a pod owns the defaults too, ports by port and default protocol")
async def pod_defaults(p: Probe) -> None:
    container = {
        "name": "app",
        "image": "registry.example/app:1",
        "ports": [{"containerPort": 80}, {"containerPort": 81, "protocol": "UDP", "name": "u"}],
        "env": [{"name": "A", "value": "1"}],
        "args": ["a"],
        "volumeMounts": [{"name": "v", "mountPath": "/v"}],
    }
    spec = {"containers": [container], "volumes": [{"name": "v", "emptyDir": {}}]}
    await p.see("POST", p.path("v1", "pods"), pod("a", spec), **updated("m1", None))


@probe("a custom resource's lists and maps are owned by their kind, defaults too")
async def structures(p: Probe) -> None:
    spec = {
        "size": 3,
        "tags": ["x", "y"],
        "steps": ["s"],
        "items": [{"k": "a", "v": "1"}, {"k": "b"}],
        "labels": {"l": "1", "m.n/o": "2"},
        "free": {"deep": {"list": [1], "map": {}}, "none": None},
        "port": "http",
        "note": None,
    }
    await p.see("POST", p.path(WIDGETS, "widgets"), widget("w", spec), **updated("m1", None))


@probe("what a webhook adds belongs to nobody, on creation and on updates")
async def webhook_added(p: Probe) -> None:
    def respond(request: dict[str, Any]) -> dict[str, Any]:
        label = f"on-{request['operation'].lower()}"
        return json_patch(
            {"op": "add", "path": "/metadata/labels", "value": {label: "yes"}},
            {"op": "add", "path": "/data/hook", "value": label},
        )

    async with webhooks(p, "mutating", Hook("adds", respond)):
        await p.see("POST", p.path(*_MAPS), config_map("a"), **updated("m1", None))
        body = await p.see("PATCH", _map_path(p), {"data": {"b": "1"}}, **updated("m2"))
        body["data"] = {"c": "1"}
        await p.see("PUT", _map_path(p), body, **updated("m3", None))


@probe("what a webhook adds to an apply belongs to nobody")
async def webhook_added_to_apply(p: Probe) -> None:
    added = json_patch({"op": "add", "path": "/data/hook", "value": "yes"})
    async with webhooks(p, "mutating", Hook("adds", lambda _: added)):
        await p.see("PATCH", _map_path(p), config_map("a"), **applied("m1"))
        await p.see("PATCH", _map_path(p), config_map("a", {"a": "2"}), **applied("m1"))


@probe("after ten managers the oldest updates are gathered under ancient-changes")
async def many_managers(p: Probe) -> None:
    await _made(p, "m00", k00="1")
    for number in range(1, 13):
        how = updated(f"m{number:02}")
        await p.do("PATCH", _map_path(p), {"data": {f"k{number:02}": "1"}}, **how)
    await p.see("GET", _map_path(p))


@probe("managed fields that a PUT leaves out stay, also when they are null")
async def left_out(p: Probe) -> None:
    body = await _made(p)
    del body["metadata"]["resourceVersion"]
    del body["metadata"]["managedFields"]
    body["data"]["b"] = "1"
    await p.see("PUT", _map_path(p), body, **updated("m1", None), note="absent")
    body["metadata"]["managedFields"] = None
    body["data"]["c"] = "1"
    await p.see("PUT", _map_path(p), body, **updated("m2", None), note="null")


RESETS: dict[str, Any] = {"an empty list": [], "a list of one empty entry": [{}]}


def _reset_case(entries: Any, *, patch: bool) -> Body:
    async def clear(p: Probe) -> None:
        await _made(p)
        body = await p.do("PATCH", _map_path(p), config_map("a", {"b": "1"}), **applied("m1"))
        if patch:
            reset: dict[str, Any] = {"metadata": {"managedFields": entries}}
            await p.see("PATCH", _map_path(p), reset, **updated("m2"))
        else:
            body["metadata"]["managedFields"] = entries
            await p.see("PUT", _map_path(p), body, **updated("m2", None))
        await p.see("PATCH", _map_path(p), {"data": {"c": "1"}}, **updated("m3"), note="afterwards")

    return clear


for _what, _entries in RESETS.items():
    _end = f"sets the managed fields to {_what} clears them, and updates no longer note any"
    probe(f"a PUT that {_end}")(_reset_case(_entries, patch=False))
    probe(f"a patch that {_end}")(_reset_case(_entries, patch=True))


@probe("an apply after a reset finds all that was before owned by before-first-apply")
async def applied_after_reset(p: Probe) -> None:
    await _made(p, a="1", b="1")
    reset: dict[str, Any] = {"metadata": {"managedFields": [{}]}}
    await p.do("PATCH", _map_path(p), reset, patch="merge")
    await p.see("PATCH", _map_path(p), config_map("a", {"a": "2"}), **applied("m1"))
    await p.see("PATCH", _map_path(p), config_map("a", {"a": "2"}), **forced("m1"))


@probe("managed fields are moved from an update to an apply by a JSON patch, as kubectl does")
async def migrated(p: Probe) -> None:
    body = await _made(p, "kubectl-client-side-apply", a="1", b="1")
    entry = {**body["metadata"]["managedFields"][0], "manager": "kubectl", "operation": "Apply"}
    version = body["metadata"]["resourceVersion"]
    patch = [
        {"op": "replace", "path": "/metadata/managedFields", "value": [entry]},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
    ]
    await p.see("PATCH", _map_path(p), patch, patch="json")
    body = config_map("a", {"a": "1"})
    await p.see("PATCH", _map_path(p), body, **applied("kubectl"), note="b is dropped and removed")


_GOOD = {
    "manager": "m5",
    "operation": "Update",
    "apiVersion": "v1",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:data": {"f:a": {}}},
    "time": "2001-02-03T04:05:06Z",
}
ENTRIES: dict[str, dict[str, Any]] = {
    "an entry that a write sets itself is taken with its time": _GOOD,
    "an entry for a field that is not there is taken": {
        **_GOOD,
        "fieldsV1": {"f:data": {"f:none": {}}},
    },
    "an entry of another operation leaves the managed fields as they were": {
        **_GOOD,
        "operation": "Guess",
    },
    "an entry of another type of fields leaves the managed fields as they were": {
        **_GOOD,
        "fieldsType": "FieldsV2",
    },
    "an entry without fields clears the managed fields": {
        k: v for k, v in _GOOD.items() if k != "fieldsV1"
    },
    "an entry with a manager that is too long is refused": {**_GOOD, "manager": "m" * 129},
    "an entry whose fields make no sense clears the managed fields": {
        **_GOOD,
        "fieldsV1": {"x:data": {}},
    },
    "an entry of a version that does not exist clears the managed fields": {
        **_GOOD,
        "apiVersion": "none/v1",
    },
}


def _entry_case(entry: dict[str, Any]) -> Body:
    async def write(p: Probe) -> None:
        await _made(p)
        body = {"metadata": {"managedFields": [entry]}}
        await p.see("PATCH", _map_path(p), body, **updated("m1"))

    return write


for _title, _entry in ENTRIES.items():
    probe(_title)(_entry_case(_entry))


@probe("managed fields given on creation are ignored")
async def given_on_create(p: Probe) -> None:
    body = config_map("a", {"a": "1", "b": "1"}, managedFields=[_GOOD])
    await p.see("POST", p.path(*_MAPS), body, **updated("m1", None))
