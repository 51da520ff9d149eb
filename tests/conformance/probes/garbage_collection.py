# SPDX-License-Identifier: Apache-2.0
"""What happens to dependents when their owner goes. Only what is left in the end is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.builders import config_map
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.probe import Probe, probe

if TYPE_CHECKING:
    from tests.support.api import Answer

ABSENT_UID = "00000000-0000-4000-8000-000000000001"
# The collector looks for new kinds twice a minute.
NEW_KIND_SECONDS = 45.0

Object = dict[str, Any]


def reference(owner: Object, **more: Any) -> Object:
    metadata = owner["metadata"]
    identity = {"apiVersion": owner["apiVersion"], "kind": owner["kind"]}
    return {**identity, "name": metadata["name"], "uid": metadata["uid"], **more}


async def made(p: Probe, name: str, *owners: Object) -> Object:
    """A config map with these owner references."""
    body = config_map(name, labels={"mine": "yes"}, ownerReferences=list(owners))
    answer: Object = await p.do("POST", p.path("v1", "configmaps"), body)
    return answer


async def held(p: Probe, name: str, *owners: Object) -> Object:
    body = config_map(name, labels={"mine": "yes"}, ownerReferences=list(owners))
    answer: Object = await p.held(p.path("v1", "configmaps"), body)
    return answer


def one(p: Probe, name: str) -> str:
    return p.path("v1", "configmaps", name)


async def gone(p: Probe, *names: str) -> None:
    for name in names:
        await p.until_gone(one(p, name))


async def see_left(p: Probe) -> None:
    """What is there of the config maps that the probe has made."""

    def pick(body: Object) -> list[Object]:
        shown = ("name", "ownerReferences", "finalizers", "deletionTimestamp")
        found = [item["metadata"] for item in body["items"]]
        return [{key: item[key] for key in shown if key in item} for item in found]

    query = {"labelSelector": "mine=yes"}
    await p.see("GET", p.path("v1", "configmaps"), query=query, pick=pick)


def deleting(answer: Answer) -> bool:
    return "deletionTimestamp" in answer.body["metadata"]


async def release(p: Probe, name: str) -> None:
    off = {"metadata": {"finalizers": None}}
    await p.do("PATCH", one(p, name), off, patch="merge")


async def collector_caught_up(p: Probe, some: Object) -> None:
    """Config maps are seen in order: once this one is collected, all before it were seen."""
    await made(p, "marker", reference(some, name="none", uid=ABSENT_UID))
    await gone(p, "marker")


@probe("a chain of dependents goes after its head")
async def chain(p: Probe) -> None:
    head = await made(p, "a")
    middle = await made(p, "b", reference(head))
    await made(p, "c", reference(middle))
    await p.see("DELETE", one(p, "a"))
    await gone(p, "b", "c")
    await see_left(p)


@probe("an owner that a finalizer holds keeps its dependents until it is gone")
async def owner_held(p: Probe) -> None:
    owner = await held(p, "a")
    await made(p, "b", reference(owner))
    await p.do("DELETE", one(p, "a"))
    await collector_caught_up(p, owner)
    await see_left(p)
    await release(p, "a")
    await gone(p, "b")
    await see_left(p)


@probe("foreground: the owner stays until dependents that block it are gone")
async def foreground(p: Probe) -> None:
    owner = await made(p, "a")
    await held(p, "b", reference(owner, blockOwnerDeletion=True))
    await p.see("DELETE", one(p, "a"), query={"propagationPolicy": "Foreground"})
    await p.until("GET", one(p, "b"), deleting)
    await see_left(p)
    await release(p, "b")
    await gone(p, "a", "b")
    await see_left(p)


@probe("foreground: dependents that do not block are collected after the owner is gone")
async def foreground_not_blocking(p: Probe) -> None:
    owner = await made(p, "a")
    await held(p, "b", reference(owner, blockOwnerDeletion=False))
    await held(p, "c", reference(owner))
    await p.do("DELETE", one(p, "a"), query={"propagationPolicy": "Foreground"})
    await gone(p, "a")
    for name in ("b", "c"):
        await p.until("GET", one(p, name), deleting)
    await see_left(p)


@probe("foreground is passed on to blocking dependents of dependents")
async def foreground_chain(p: Probe) -> None:
    head = await made(p, "a")
    middle = await made(p, "b", reference(head, blockOwnerDeletion=True))
    await held(p, "c", reference(middle, blockOwnerDeletion=True))
    await p.do("DELETE", one(p, "a"), query={"propagationPolicy": "Foreground"})
    await p.until("GET", one(p, "c"), deleting)
    await see_left(p)
    await release(p, "c")
    await gone(p, "a", "b", "c")
    await see_left(p)


@probe("foreground of an owner without dependents ends at once")
async def foreground_alone(p: Probe) -> None:
    await made(p, "a")
    await p.do("DELETE", one(p, "a"), query={"propagationPolicy": "Foreground"})
    await gone(p, "a")
    await see_left(p)


@probe("orphan: dependents stay and lose the reference, others they keep")
async def orphan(p: Probe) -> None:
    owner, other = await made(p, "a"), await made(p, "other")
    await made(p, "b", reference(owner, controller=True, blockOwnerDeletion=True))
    await made(p, "c", reference(owner), reference(other))
    await p.see("DELETE", one(p, "a"), query={"propagationPolicy": "Orphan"})
    await gone(p, "a")
    await see_left(p)


@probe("a dependent of an owner that never was is collected")
async def absent_owner(p: Probe) -> None:
    existing = await made(p, "a")
    await made(p, "b", reference(existing, name="none", uid=ABSENT_UID))
    await gone(p, "b")
    await see_left(p)


@probe("a dependent whose owner has another uid is collected")
async def other_uid(p: Probe) -> None:
    owner = await made(p, "a")
    await made(p, "b", reference(owner, uid=ABSENT_UID))
    await gone(p, "b")
    await see_left(p)


@probe("a dependent whose owner was replaced by another of its name is collected")
async def replaced_owner(p: Probe) -> None:
    owner = await made(p, "a")
    await made(p, "b", reference(owner))
    await p.do("DELETE", one(p, "a"))
    await made(p, "a")
    await gone(p, "b")
    await see_left(p)


@probe("of two owners the dead one is dropped, and the last takes the dependent with it")
async def two_owners(p: Probe) -> None:
    first, second = await made(p, "a"), await made(p, "b")
    await made(p, "c", reference(first), reference(second, controller=True))
    await p.do("DELETE", one(p, "a"))

    def dropped(answer: Answer) -> bool:
        return len(answer.body["metadata"]["ownerReferences"]) == 1

    await p.until("GET", one(p, "c"), dropped)
    await see_left(p)
    await p.do("DELETE", one(p, "b"))
    await gone(p, "c")
    await see_left(p)


@probe("an object that is given an owner that is gone is collected")
async def adopted(p: Probe) -> None:
    owner = await made(p, "a")
    await made(p, "b")
    await p.do("DELETE", one(p, "a"))
    change = {"metadata": {"ownerReferences": [reference(owner)]}}
    await p.do("PATCH", one(p, "b"), change, patch="merge")
    await gone(p, "b")
    await see_left(p)


@probe("an owner in another namespace counts as absent")
async def other_namespace(p: Probe) -> None:
    other = f"other-{p.id}"
    await p.do("POST", p.everywhere("v1", "namespaces"), {"metadata": {"name": other}})
    path = p.everywhere("v1", "namespaces", other)
    p.cleanup.push_async_callback(p.ask, "DELETE", path)
    owner = await p.do("POST", p.path("v1", "configmaps", ns=other), config_map("a"))
    await made(p, "b", reference(owner))
    await gone(p, "b")
    await see_left(p)
    await p.do("GET", p.path("v1", "configmaps", "a", ns=other))


async def priority_class(p: Probe, name: str, *owners: Object) -> Object:
    path = p.everywhere("scheduling.k8s.io/v1", "priorityclasses")
    p.cleanup.push_async_callback(p.ask, "DELETE", f"{path}/{name}")
    metadata = {"name": name, "ownerReferences": list(owners)}
    answer: Object = await p.do("POST", path, {"metadata": metadata, "value": 1})
    return answer


@probe("a cluster-scoped owner takes its namespaced dependents with it")
async def cluster_owner(p: Probe) -> None:
    owner = await priority_class(p, p.id)
    await made(p, "b", reference(owner))
    await p.do("DELETE", p.everywhere("scheduling.k8s.io/v1", "priorityclasses", p.id))
    await gone(p, "b")
    await see_left(p)


@probe("a cluster-scoped dependent of a namespaced owner is left alone")
async def cluster_dependent(p: Probe) -> None:
    owner = await made(p, "a")
    await priority_class(p, p.id, reference(owner))
    await made(p, "b", reference(owner))
    await p.do("DELETE", one(p, "a"))
    await gone(p, "b")
    path = p.everywhere("scheduling.k8s.io/v1", "priorityclasses", p.id)
    await p.see("GET", path, pick=lambda body: body["metadata"]["ownerReferences"])


@probe("a dependent's own finalizer holds it back, and only it")
async def dependent_held(p: Probe) -> None:
    owner = await made(p, "a")
    await held(p, "b", reference(owner))
    await made(p, "c", reference(owner))
    await p.do("DELETE", one(p, "a"))
    await gone(p, "c")
    await p.until("GET", one(p, "b"), deleting)
    await see_left(p)


@probe("custom resources own and are owned like any other")
async def custom(p: Probe) -> None:
    path = p.path(WIDGETS, "widgets")
    owner = await p.do("POST", path, widget("a"))
    owned = await p.do("POST", path, widget("b", ownerReferences=[reference(owner)]))
    await made(p, "c", reference(owned))
    await p.see("DELETE", f"{path}/a")
    await p.until_gone(f"{path}/b", patience=NEW_KIND_SECONDS)
    await p.until_gone(one(p, "c"), patience=NEW_KIND_SECONDS)
    await see_left(p)


@probe("foreground and orphan work for custom resources")
async def custom_policies(p: Probe) -> None:
    path = p.path(WIDGETS, "gadgets")
    policies = {"front": "Foreground", "left": "Orphan"}
    for name in policies:
        body = {"apiVersion": WIDGETS, "kind": "Gadget", "metadata": {"name": name}}
        owner = await p.do("POST", path, body)
        await made(p, name, reference(owner, blockOwnerDeletion=True))
    # An owner may be orphaned before its dependents are seen, if those are of another kind.
    await collector_caught_up(p, await made(p, "other"))
    for name, policy in policies.items():
        await p.do("DELETE", f"{path}/{name}", query={"propagationPolicy": policy})
    for name in policies:
        await p.until_gone(f"{path}/{name}", patience=NEW_KIND_SECONDS)
    await gone(p, "front")
    await see_left(p)


GOOD = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": ABSENT_UID}
REFUSED: dict[str, list[Object]] = {
    "without a uid": [{**GOOD, "uid": ""}],
    "without a name": [{**GOOD, "name": ""}],
    "without a kind": [{**GOOD, "kind": ""}],
    "without an apiVersion": [{**GOOD, "apiVersion": ""}],
    "with a bad apiVersion": [{**GOOD, "apiVersion": "a/b/c"}],
    "to an Event": [{**GOOD, "kind": "Event"}],
    "to two controllers": [
        {**GOOD, "controller": True},
        {**GOOD, "name": "b", "uid": ABSENT_UID[:-1] + "2", "controller": True},
    ],
}


def refused(which: str, owners: list[Object]) -> None:
    @probe(f"a reference {which} is 422")
    async def run(p: Probe) -> None:
        await p.see("POST", p.path("v1", "configmaps"), config_map("a", ownerReferences=owners))


for which, owners in REFUSED.items():
    refused(which, owners)


@probe("a reference that is there twice is kept once, with a warning")
async def twice(p: Probe) -> None:
    owner = await made(p, "a")
    body = config_map("b", ownerReferences=[reference(owner), reference(owner)])
    await p.see("POST", p.path("v1", "configmaps"), body)
