# SPDX-License-Identifier: Apache-2.0
"""DELETE of one object: what is answered, and what finalizers do to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.conformance.builders import config_map, pod
from tests.conformance.kinds import WIDGETS, gadget, widget
from tests.conformance.probe import HOLD, Probe, probe


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind whose objects nothing but the probe touches."""

    shown: str
    version: str
    resource: str
    more: dict[str, Any] = field(default_factory=dict)
    namespaced: bool = True

    @property
    def identity(self) -> dict[str, str]:
        """A custom resource must say what it is; a built-in one need not."""
        names = {"widgets": "Widget", "beacons": "Beacon"}
        known = names.get(self.resource)
        return {"apiVersion": self.version, "kind": known} if known else {}


CONTAINERS = {"containers": [{"name": "a", "image": "a"}]}
LABELLED = {"metadata": {"labels": {"a": "b"}}, "spec": CONTAINERS}
SELECTED = {"selector": {"matchLabels": {"a": "b"}}, "template": LABELLED}
CLAIM = {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "a"}}]}}}
SLICE = {"driver": "a.example.com", "nodeName": "a", "pool": {"name": "a", "resourceSliceCount": 1}}

ANSWERED_WITH_STATUS = (
    Kind("config map", "v1", "configmaps"),
    Kind("secret", "v1", "secrets"),
    Kind("limit range", "v1", "limitranges", {"spec": {"limits": []}}),
    Kind("lease", "coordination.k8s.io/v1", "leases"),
    Kind("role", "rbac.authorization.k8s.io/v1", "roles"),
    Kind("network policy", "networking.k8s.io/v1", "networkpolicies", {"spec": {}}),
    Kind("pod disruption budget", "policy/v1", "poddisruptionbudgets", {"spec": {}}),
    Kind("endpoint slice", "discovery.k8s.io/v1", "endpointslices", {"addressType": "IPv4"}),
    Kind("replica set", "apps/v1", "replicasets", {"spec": {"replicas": 0, **SELECTED}}),
    Kind("deployment", "apps/v1", "deployments", {"spec": {"replicas": 0, **SELECTED}}),
    Kind("node", "v1", "nodes", namespaced=False),
    Kind("runtime class", "node.k8s.io/v1", "runtimeclasses", {"handler": "a"}, namespaced=False),
    Kind(
        "priority class", "scheduling.k8s.io/v1", "priorityclasses", {"value": 1}, namespaced=False
    ),
    Kind("custom resource", WIDGETS, "widgets", {"spec": {"size": 1}}),
    Kind("cluster-scoped custom resource", WIDGETS, "beacons", namespaced=False),
)
ANSWERED_WITH_THE_OBJECT = (
    Kind("service", "v1", "services", {"spec": {"clusterIP": "None", "ports": [{"port": 80}]}}),
    Kind("service account", "v1", "serviceaccounts"),
    Kind("pod template", "v1", "podtemplates", {"template": {"spec": CONTAINERS}}),
    Kind("resource claim", "resource.k8s.io/v1", "resourceclaims", CLAIM),
    Kind(
        "resource claim template",
        "resource.k8s.io/v1",
        "resourceclaimtemplates",
        {"spec": CLAIM},
    ),
    Kind("device class", "resource.k8s.io/v1", "deviceclasses", {"spec": {}}, namespaced=False),
    Kind(
        "resource slice", "resource.k8s.io/v1", "resourceslices", {"spec": SLICE}, namespaced=False
    ),
)


def version_and_uid(made: dict[str, Any]) -> dict[str, Any]:
    return {name: made["metadata"][name] for name in ("resourceVersion", "uid")}


def immediate(kind: Kind, said: str) -> None:
    @probe(f"a deleted {kind.shown} is answered 200 with {said}")
    async def run(p: Probe) -> None:
        name = "a" if kind.namespaced else f"a-{p.id}"
        path = p.path if kind.namespaced else p.everywhere
        body = {**kind.identity, "metadata": {"name": name}, **kind.more}
        await p.see("POST", path(kind.version, kind.resource), body, pick=version_and_uid)
        await p.see("DELETE", path(kind.version, kind.resource, name))


for each in ANSWERED_WITH_STATUS:
    immediate(each, "a Status that names the uid")
for each in ANSWERED_WITH_THE_OBJECT:
    immediate(each, "the object itself")


@probe("deleting a pod answers 200 with the pod, and it is gone")
async def pod_answered(p: Probe) -> None:
    await p.do("POST", p.path("v1", "pods"), pod("a"))
    await p.see("DELETE", p.path("v1", "pods", "a"))
    await p.see("GET", p.path("v1", "pods", "a"))


@probe("deleting what is not there is 404, also in a namespace that is not there")
async def not_found(p: Probe) -> None:
    await p.see("DELETE", p.path("v1", "configmaps", "a"))
    await p.see("DELETE", p.path(WIDGETS, "widgets", "a"))
    await p.see("DELETE", p.path("v1", "configmaps", "a", ns=f"no-{p.id}"))


@probe("DELETE of a subresource, or of a collection over all namespaces, is 405")
async def wrong_places(p: Probe) -> None:
    await p.do("POST", p.path("v1", "pods"), pod("a"))
    await p.see("DELETE", p.path("v1", "pods", "a", "status"))
    await p.see("DELETE", p.everywhere("v1", "configmaps"))


@probe("a finalizer keeps the object: 200 with deletionTimestamp and grace 0, rv moves once")
async def finalizer_holds(p: Probe) -> None:
    await p.held(p.path("v1", "configmaps"), config_map("a"))
    await p.see("GET", p.path("v1", "configmaps", "a"))
    await p.see("DELETE", p.path("v1", "configmaps", "a"))
    await p.see("DELETE", p.path("v1", "configmaps", "a"), note="again: the same resourceVersion")
    await p.see("GET", p.path("v1", "configmaps", "a"))


@probe("a held custom resource also moves its generation when deletion starts")
async def custom_held(p: Probe) -> None:
    await p.held(p.path(WIDGETS, "widgets"), widget("a"))
    await p.see("DELETE", p.path(WIDGETS, "widgets", "a"))
    await p.see("DELETE", p.path(WIDGETS, "widgets", "a"))


@probe("a pod with a finalizer that nobody runs is held with grace 0")
async def pod_held(p: Probe) -> None:
    await p.held(p.path("v1", "pods"), pod("a"))
    await p.see("DELETE", p.path("v1", "pods", "a"))
    await p.see("DELETE", p.path("v1", "pods", "a"), query={"gracePeriodSeconds": "0"})


@probe("removing the last finalizer answers 200 with the object, and it is gone")
async def last_finalizer(p: Probe) -> None:
    finalizers = [HOLD, "trellis.dev/more"]
    await p.held(p.path("v1", "configmaps"), config_map("a", finalizers=finalizers))
    await p.do("DELETE", p.path("v1", "configmaps", "a"))
    for left in ([HOLD], None):
        patch = {"metadata": {"finalizers": left}}
        await p.see("PATCH", p.path("v1", "configmaps", "a"), patch, patch="merge")
    await p.see("GET", p.path("v1", "configmaps", "a"))


@probe("a PUT without finalizers lets a held custom resource go")
async def last_finalizer_put(p: Probe) -> None:
    await p.held(p.path(WIDGETS, "gadgets"), gadget("a"))
    held = await p.do("DELETE", p.path(WIDGETS, "gadgets", "a"))
    del held["metadata"]["finalizers"]
    await p.see("PUT", p.path(WIDGETS, "gadgets", "a"), held)
    await p.see("GET", p.path(WIDGETS, "gadgets", "a"))


@probe("removing all finalizers of an object that is not being deleted keeps it")
async def finalizers_off_alive(p: Probe) -> None:
    await p.held(p.path("v1", "configmaps"), config_map("a"))
    off: dict[str, Any] = {"metadata": {"finalizers": []}}
    await p.see("PATCH", p.path("v1", "configmaps", "a"), off, patch="merge")
    await p.see("GET", p.path("v1", "configmaps", "a"))


@probe("a finalizer added while deleting is refused with 422, one swapped for another too")
async def no_new_finalizers(p: Probe) -> None:
    for version, resource, body in (
        ("v1", "configmaps", config_map("a")),
        (WIDGETS, "widgets", widget("a")),
    ):
        await p.held(p.path(version, resource), body)
        await p.do("DELETE", p.path(version, resource, "a"))
        for finalizers in ([HOLD, "trellis.dev/late"], ["trellis.dev/late"]):
            patch = {"metadata": {"finalizers": finalizers}}
            await p.see("PATCH", p.path(version, resource, "a"), patch, patch="merge")


@probe("an object that is being deleted still takes other changes")
async def changed_while_deleting(p: Probe) -> None:
    await p.held(p.path("v1", "configmaps"), config_map("a"))
    await p.held(p.path(WIDGETS, "widgets"), widget("a"))
    await p.do("DELETE", p.path("v1", "configmaps", "a"))
    await p.do("DELETE", p.path(WIDGETS, "widgets", "a"))
    change = {"data": {"a": "2"}, "metadata": {"labels": {"x": "y"}}}
    await p.see("PATCH", p.path("v1", "configmaps", "a"), change, patch="merge")
    change = {"spec": {"size": 4}}
    await p.see("PATCH", p.path(WIDGETS, "widgets", "a"), change, patch="merge")
    await p.see(
        "PATCH",
        p.path(WIDGETS, "widgets", "a", "status"),
        {"status": {"phase": "x"}},
        patch="merge",
    )


@probe("deletionTimestamp and grace cannot be written by an update")
async def deletion_is_not_written(p: Probe) -> None:
    await p.held(p.path("v1", "configmaps"), config_map("a"))
    for change in (
        {"deletionTimestamp": "2020-01-01T00:00:00Z"},
        {"deletionGracePeriodSeconds": 7},
    ):
        await p.see("PATCH", p.path("v1", "configmaps", "a"), {"metadata": change}, patch="merge")
    await p.do("DELETE", p.path("v1", "configmaps", "a"))
    undo = {"metadata": {"deletionTimestamp": None, "deletionGracePeriodSeconds": None}}
    await p.see("PATCH", p.path("v1", "configmaps", "a"), undo, patch="merge")


@probe("creating the name of an object that is being deleted is 409")
async def name_still_taken(p: Probe) -> None:
    await p.held(p.path("v1", "configmaps"), config_map("a"))
    await p.do("DELETE", p.path("v1", "configmaps", "a"))
    await p.see("POST", p.path("v1", "configmaps"), config_map("a"))


@probe("a name can be used again at once after its object is gone, with another uid")
async def name_free_again(p: Probe) -> None:
    await p.see("POST", p.path("v1", "configmaps"), config_map("a"))
    await p.do("DELETE", p.path("v1", "configmaps", "a"))
    await p.see("POST", p.path("v1", "configmaps"), config_map("a"))


@probe("a finalizer's name must be qualified, or one of the server's own, of which two exclude")
async def finalizer_names(p: Probe) -> None:
    for names in (["plain"], ["Not Valid/x"], ["orphan", "foregroundDeletion"]):
        await p.see("POST", p.path("v1", "configmaps"), config_map("a", finalizers=names))
    own = ["kubernetes", "orphan"]
    await p.held(p.path("v1", "configmaps"), config_map("a", finalizers=own))
    await p.see("GET", p.path("v1", "configmaps", "a"))


@probe("a job deleted without a policy orphans its pods, and a warning says so")
async def job_default(p: Probe) -> None:
    # Managed by nobody: the job controller leaves it as it is.
    template = {"spec": {**CONTAINERS, "restartPolicy": "Never"}}
    spec = {"managedBy": "trellis.dev/nobody", "template": template}
    for name, query in (("a", {}), ("b", {"propagationPolicy": "Background"})):
        body = {"metadata": {"name": name}, "spec": spec}
        await p.do("POST", p.path("batch/v1", "jobs"), body)
        await p.see("DELETE", p.path("batch/v1", "jobs", name), query=query)
