# SPDX-License-Identifier: Apache-2.0
"""Namespaces: their making, their phases, and how they end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.builders import config_map
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.probe import HOLD, Probe, probe

if TYPE_CHECKING:
    from tests.support.api import Answer

NAMESPACES = "/api/v1/namespaces"
OTHER_UID = "00000000-0000-4000-8000-000000000001"
# The controller waits for five seconds before it sweeps, and longer when many go at once.
SWEEP_SECONDS = 40.0


async def other(p: Probe, name: str = "other", **metadata: Any) -> str:
    """Another namespace than that of the probe; returns its name."""
    whole = f"{name}-{p.id}"
    await p.do("POST", NAMESPACES, {"metadata": {"name": whole, **metadata}})
    p.cleanup.push_async_callback(p.ask, "DELETE", f"{NAMESPACES}/{whole}")
    return whole


async def stuck(p: Probe) -> str:
    """A namespace that is Terminating and holds a config map that cannot go."""
    name = await other(p)
    await p.held(p.path("v1", "configmaps", ns=name), config_map("held"))
    await p.do("DELETE", f"{NAMESPACES}/{name}")
    return name


@probe("a namespace is created Active, with its name as a label and a finalizer in its spec")
async def created(p: Probe) -> None:
    name = f"new-{p.id}"
    p.cleanup.push_async_callback(p.ask, "DELETE", f"{NAMESPACES}/{name}")
    await p.see("POST", NAMESPACES, {"metadata": {"name": name, "labels": {"a": "b"}}})


@probe("a client's phase and label of the name are overruled, its finalizers are added to")
async def overruled(p: Probe) -> None:
    name = f"new-{p.id}"
    p.cleanup.push_async_callback(p.ask, "DELETE", f"{NAMESPACES}/{name}")
    body = {
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": "x"}},
        "spec": {"finalizers": ["example.com/mine"]},
        "status": {"phase": "Terminating"},
    }
    await p.see("POST", NAMESPACES, body, query={"dryRun": "All"})
    del body["spec"]
    await p.see("POST", NAMESPACES, body)


@probe("bad names are 422")
async def bad_names(p: Probe) -> None:
    for name in ("with.dots", "Upper", "x" * 64, "-a"):
        await p.see("POST", NAMESPACES, {"metadata": {"name": name}})


@probe("a generated name is completed")
async def generated(p: Probe) -> None:
    body = {"metadata": {"generateName": "new-"}}
    await p.see("POST", NAMESPACES, body, query={"dryRun": "All"})


@probe("the label of the name cannot be changed or removed")
async def name_label(p: Probe) -> None:
    for value in ("x", None):
        change = {"metadata": {"labels": {"kubernetes.io/metadata.name": value, "a": "b"}}}
        await p.see("PATCH", f"{NAMESPACES}/{p.ns}", change, patch="merge")


@probe("PUT changes labels, and neither the spec's finalizers nor the status")
async def put(p: Probe) -> None:
    body = await p.do("GET", f"{NAMESPACES}/{p.ns}")
    body["metadata"]["labels"] = {"a": "b"}
    body["spec"] = {"finalizers": []}
    body["status"] = {"phase": "Terminating"}
    await p.see("PUT", f"{NAMESPACES}/{p.ns}", body)


@probe("the status subresource takes conditions and labels, but no phase that does not fit")
async def status(p: Probe) -> None:
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "Because",
        "message": "",
        "lastTransitionTime": "2020-01-01T00:00:00Z",
    }
    for change in ({"conditions": [condition]}, {"phase": "Terminating"}):
        body = {"status": change, "metadata": {"labels": {"a": "b"}}}
        await p.see("PATCH", f"{NAMESPACES}/{p.ns}/status", body, patch="merge")


@probe("a collection of namespaces cannot be deleted")
async def collection(p: Probe) -> None:
    await p.see("DELETE", NAMESPACES, query={"labelSelector": f"mine={p.id}"})


@probe("the namespaces that every cluster has cannot be deleted: 403")
async def immortal(p: Probe) -> None:
    for name in ("default", "kube-system", "kube-public"):
        await p.see("DELETE", f"{NAMESPACES}/{name}", query={"dryRun": "All"})


@probe("DELETE answers 200 with the namespace, Terminating and without a grace period")
async def deleted(p: Probe) -> None:
    name = await other(p)
    await p.held(p.path("v1", "configmaps", ns=name), config_map("held"))
    await p.see("DELETE", f"{NAMESPACES}/{name}")


@probe("DELETE with options: dryRun, preconditions and policies")
async def delete_options(p: Probe) -> None:
    path = f"{NAMESPACES}/{await other(p)}"
    await p.see("DELETE", path, query={"dryRun": "All"})
    await p.see("DELETE", path, {"preconditions": {"uid": OTHER_UID}})
    await p.see("DELETE", path, {"propagationPolicy": "Slow"})
    await p.see("GET", path)


@probe("what is in a namespace goes before the namespace does")
async def content(p: Probe) -> None:
    name = await other(p)
    await p.do("POST", p.path("v1", "configmaps", ns=name), config_map("a"))
    await p.do("POST", p.path(WIDGETS, "widgets", ns=name), widget("a"))
    await p.do("DELETE", f"{NAMESPACES}/{name}")
    await p.until_gone(f"{NAMESPACES}/{name}", patience=SWEEP_SECONDS)
    for version, resource in (
        ("v1", "configmaps"),
        ("v1", "serviceaccounts"),
        (WIDGETS, "widgets"),
    ):
        await p.see("GET", p.path(version, resource, ns=name))
    await p.see("GET", f"{NAMESPACES}/{name}")


@probe("a Terminating namespace refuses new objects with 403 and a cause")
async def refuses(p: Probe) -> None:
    name = await stuck(p)
    configmaps = p.path("v1", "configmaps", ns=name)
    # The refusal comes from a cache that learns of the deletion a moment later.
    sample = {"body": config_map("sample"), "query": {"dryRun": "All"}}
    await p.until("POST", configmaps, lambda answer: answer.status == 403, **sample)
    await p.see("POST", configmaps, config_map("a"))
    await p.see("POST", p.path(WIDGETS, "widgets", ns=name), widget("a"))
    await p.see("POST", configmaps, {"metadata": {"generateName": "a-"}})


def unswept(body: dict[str, Any]) -> Any:
    """All but the conditions, and who manages them: whether it was swept already is chance."""
    metadata, status = body["metadata"], body["status"]
    managed = [one for one in metadata["managedFields"] if one.get("subresource") != "status"]
    return {
        **body,
        "metadata": {**metadata, "managedFields": managed},
        "status": {key: status[key] for key in status if key != "conditions"},
    }


@probe("what is in a Terminating namespace can still be changed and read")
async def still_there(p: Probe) -> None:
    name = await stuck(p)
    path = p.path("v1", "configmaps", "held", ns=name)
    await p.see("PATCH", path, {"data": {"a": "2"}}, patch="merge", pick=lambda body: body["data"])
    await p.see(
        "PATCH",
        f"{NAMESPACES}/{name}",
        {"metadata": {"labels": {"a": "b"}}},
        patch="merge",
        pick=unswept,
    )


@probe("a second DELETE answers 200, and the name is taken until the namespace is gone")
async def again(p: Probe) -> None:
    name = await stuck(p)
    await p.see("DELETE", f"{NAMESPACES}/{name}", pick=lambda body: body["status"]["phase"])
    await p.see("POST", NAMESPACES, {"metadata": {"name": name}})


def condition(answer: Answer, kind: str) -> dict[str, Any]:
    found = answer.body["status"].get("conditions", ())
    return next((one for one in found if one["type"] == kind), {"status": None})


def waits(answer: Answer) -> bool:
    """The controller has swept and says what is left. Kinds that come and go can disturb it."""
    swept = condition(answer, "NamespaceFinalizersRemaining")["status"]
    disturbed = condition(answer, "NamespaceDeletionDiscoveryFailure")["status"]
    return (swept, disturbed) == ("True", "False")


def conditions(body: dict[str, Any]) -> Any:
    return body["status"]


@probe("conditions say what keeps a Terminating namespace, and it goes when that is gone")
async def stuck_conditions(p: Probe) -> None:
    name = await stuck(p)
    path = f"{NAMESPACES}/{name}"
    await p.until("GET", path, waits, patience=SWEEP_SECONDS)
    await p.see("GET", path, pick=conditions)
    held = p.path("v1", "configmaps", "held", ns=name)
    await p.see("GET", held)
    await p.do("PATCH", held, {"metadata": {"finalizers": None}}, patch="merge")
    await p.until_gone(path, patience=SWEEP_SECONDS)
    await p.see("GET", path)


@probe("PUT of finalize takes the finalizer of an Active namespace, which then needs two DELETEs")
async def finalized(p: Probe) -> None:
    path = f"{NAMESPACES}/{await other(p)}"
    body = await p.do("GET", path)
    body["spec"] = {}
    body["metadata"]["labels"]["late"] = "yes"
    await p.see("PUT", f"{path}/finalize", body)
    for _ in range(2):
        await p.see("DELETE", path)
        await p.see("GET", path)


@probe("PUT of finalize removes a stuck namespace, and what held it stays without one")
async def finalized_stuck(p: Probe) -> None:
    name = await stuck(p)
    path = f"{NAMESPACES}/{name}"
    await p.until("GET", path, waits, patience=SWEEP_SECONDS)
    body = await p.do("GET", path)
    body["spec"] = {"finalizers": []}
    await p.see("PUT", f"{path}/finalize", body)
    await p.see("GET", path)
    await p.see("GET", p.path("v1", "configmaps", "held", ns=name))


@probe("finalize can be neither read nor patched, and needs a namespace")
async def finalize_refusals(p: Probe) -> None:
    path = f"{NAMESPACES}/{p.ns}/finalize"
    await p.see("GET", path)
    await p.see("PATCH", path, {"spec": {}}, patch="merge")
    await p.see("PUT", path, {"metadata": {"name": "other"}})
    await p.see("PUT", path, {"metadata": {"name": p.ns}, "spec": {"finalizers": ["bad"]}})
    await p.see("PUT", f"{NAMESPACES}/no-{p.id}/finalize", {"metadata": {"name": f"no-{p.id}"}})


@probe("a finalizer in the metadata holds a namespace after its content is gone")
async def metadata_finalizer(p: Probe) -> None:
    name = f"held-{p.id}"
    await p.held(NAMESPACES, {"metadata": {"name": name}})
    path = f"{NAMESPACES}/{name}"
    await p.see("DELETE", path)
    await p.until("GET", path, lambda answer: not answer.body["spec"], patience=SWEEP_SECONDS)
    await p.see(
        "GET", path, pick=lambda body: {"spec": body["spec"], "phase": body["status"]["phase"]}
    )
    await p.see("PATCH", path, {"metadata": {"finalizers": [HOLD, "a.b/c"]}}, patch="merge")
    released = {"metadata": {"finalizers": None}}
    await p.see("PATCH", path, released, patch="merge", pick=lambda body: body["spec"])
    await p.see("GET", path)
