# SPDX-License-Identifier: Apache-2.0
"""Mutating webhooks: their order, their reinvocation, and what comes of their patches."""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.conformance.admission import Hook, json_patch, rule, webhooks
from tests.conformance.builders import config_map, pod
from tests.conformance.probe import Probe, probe

EMPTY_PATCH = base64.b64encode(b"[]").decode()


def _set(path: str, value: Any) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


@probe("what a mutating webhook adds on update is owned by nobody")
async def mutated_update(p: Probe) -> None:
    await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
    path = p.path("v1", "configmaps", "a")
    mutate = Hook("mutate", lambda _: json_patch(_set("/data/b", "2")))
    async with webhooks(p, "mutating", mutate):
        await p.see(
            "PATCH", path, {"data": {"a": "2"}}, patch="merge", query={"fieldManager": "me"}
        )


@probe("mutating webhooks run in the order of their configuration, each on the last one's result")
async def order(p: Probe) -> None:
    def append(letter: str) -> Hook:
        def respond(request: dict[str, Any]) -> dict[str, Any]:
            return json_patch(_set("/data/a", request["object"]["data"]["a"] + letter))

        return Hook(letter, respond)

    async with webhooks(p, "mutating", append("z"), append("m"), append("b")):
        await p.see("POST", p.path("v1", "configmaps"), config_map("a"))


def _reinvocation(title: str, policy: str, change: dict[str, Any]) -> None:
    @probe(title)
    async def reinvoked(p: Probe) -> None:
        first = Hook("first", reinvocationPolicy=policy)
        later = Hook("later", lambda _: change, reinvocationPolicy=policy)
        async with webhooks(p, "mutating", first, later) as calls:
            await p.do("POST", p.path("v1", "configmaps"), config_map("a"))
            for name in ("first", "later"):
                seen = [call["request"]["object"]["data"] for call in calls[name]]
                p.note(f"data seen by {name}", seen)


for _title, _policy, _change in [
    (
        "with reinvocationPolicy IfNeeded a webhook is called again after a later one's change",
        "IfNeeded",
        json_patch(_set("/data/b", "2")),
    ),
    (
        "with reinvocationPolicy IfNeeded a patch that sets what is there counts as a change",
        "IfNeeded",
        json_patch(_set("/data/a", "1")),
    ),
    (
        "with reinvocationPolicy IfNeeded a webhook is called once if later ones send no operation",
        "IfNeeded",
        json_patch(),
    ),
    (
        "with reinvocationPolicy Never a webhook is called once whatever later ones change",
        "Never",
        json_patch(_set("/data/b", "2")),
    ),
]:
    _reinvocation(_title, _policy, _change)


@probe("what a mutating webhook adds to a pod is defaulted")
async def patch_defaulted(p: Probe) -> None:
    container = {"name": "extra", "image": "registry.example/extra"}
    mutate = Hook(
        "mutate", lambda _: json_patch(_set("/spec/containers/-", container)), rules=[rule("pods")]
    )
    async with webhooks(p, "mutating", mutate):
        await p.see("POST", p.path("v1", "pods"), pod("a"))


def _patched(title: str, said: dict[str, Any], kind: str = "mutating") -> None:
    @probe(title)
    async def answered(p: Probe) -> None:
        async with webhooks(p, kind, Hook("mutate", lambda _: said)):
            await p.see("POST", p.path("v1", "configmaps"), config_map("a"))


def _encoded(patch: Any) -> str:
    return base64.b64encode(json.dumps(patch).encode()).decode()


for _title, _said in [
    ("a patch without a patchType is an error", {"allowed": True, "patch": EMPTY_PATCH}),
    ("a patchType without a patch is an error", {"allowed": True, "patchType": "JSONPatch"}),
    (
        "a patch of another patchType is taken for a JSON patch",
        {"allowed": True, "patchType": "MergePatch", "patch": _encoded({"data": {"b": "2"}})},
    ),
    (
        "a patch that is no list of operations is an error",
        {"allowed": True, "patchType": "JSONPatch", "patch": _encoded({"data": {"b": "2"}})},
    ),
    (
        "a patch that is not base64 is an error",
        {"allowed": True, "patchType": "JSONPatch", "patch": "%%%"},
    ),
    ("an empty patch changes nothing", json_patch()),
    (
        "a patch whose test fails is an error",
        json_patch({"op": "test", "path": "/data/a", "value": "9"}),
    ),
    (
        "a patch that removes what is not there is an error",
        json_patch({"op": "remove", "path": "/data/z"}),
    ),
    (
        "a patch with an unknown operation is an error",
        json_patch({"op": "swap", "path": "/data/a", "value": "9"}),
    ),
    ("a patch that gives a field the wrong type is an error", json_patch(_set("/data/a", 9))),
    ("an unknown field that a patch adds is dropped", json_patch(_set("/colour", "red"))),
    ("a patch that makes the object invalid gives 422", json_patch(_set("/data/not a key", "9"))),
    ("a patch may change the name of a new object", json_patch(_set("/metadata/name", "b"))),
    ("a patch that makes the kind unknown is an error", json_patch(_set("/kind", "Nothing"))),
    (
        "a patch that changes the namespace is an error",
        json_patch(_set("/metadata/namespace", "b")),
    ),
    (
        "a refusal with a patch is a refusal",
        {**json_patch(_set("/data/b", "2")), "allowed": False},
    ),
]:
    _patched(_title, _said)
_patched(
    "a patch from a validating webhook is an error", json_patch(_set("/data/b", "2")), "validating"
)
