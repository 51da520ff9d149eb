# SPDX-License-Identifier: Apache-2.0
"""/api and /apis, in the aggregated form and in the old one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.kinds import DEFINITIONS, GROUP, WIDGETS, definition, schema
from tests.conformance.probe import Probe, probe

if TYPE_CHECKING:
    from tests.support.api import Answer

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
BETA = AGGREGATED.replace("v=v2", "v=v2beta1")
# What client-go sends: the newest form first, the oldest last.
CLIENT_GO = f"{AGGREGATED},{BETA},application/json"
GROUPS = (
    "apps",
    "batch",
    "policy",
    "coordination.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "apiextensions.k8s.io",
    GROUP,
)


def only(*groups: str) -> Any:
    """Narrows to some groups: other probes make and remove groups of their own."""

    def pick(body: dict[str, Any]) -> dict[str, Any]:
        if "groups" in body:
            return {**body, "groups": [one for one in body["groups"] if one["name"] in groups]}
        items = [item for item in body["items"] if item["metadata"].get("name") in groups]
        return {**body, "items": items}

    return pick


async def until_listed(p: Probe, group: str, versions: int = 1, resources: int = 1) -> None:
    """Each form follows new definitions in its own time, one version after the other."""

    def old(answer: Answer) -> bool:
        found = only(group)(answer.body)["groups"]
        return bool(found) and len(found[0]["versions"]) == versions

    def new(answer: Answer) -> bool:
        found = only(group)(answer.body)["items"]
        served = [len(one["resources"]) for one in found[0]["versions"]] if found else []
        return len(served) == versions and min(served) >= resources

    def single(answer: Answer) -> bool:
        return answer.status == 200 and len(answer.body["versions"]) == versions

    await p.until("GET", "/apis", old)
    await p.until("GET", "/apis", new, accept=AGGREGATED)
    await p.until("GET", f"/apis/{group}", single)


@probe("/api lists the versions of the core group and where the server is")
async def core_versions(p: Probe) -> None:
    p.hide(p.api.server.removeprefix("https://"), "server")
    await p.see("GET", "/api")


@probe("/apis lists the groups with their versions")
async def groups(p: Probe) -> None:
    await until_listed(p, GROUP)
    await p.see("GET", "/apis", pick=only(*GROUPS))


@probe("built-in groups come in a fixed order")
async def order(p: Probe) -> None:
    for accept in ("application/json", AGGREGATED):
        body = await p.do("GET", "/apis", accept=accept)
        if accept == AGGREGATED:
            names = [item["metadata"]["name"] for item in body["items"]]
        else:
            names = [group["name"] for group in body["groups"]]
        p.note(accept, [name for name in names if name.endswith(".k8s.io") or "." not in name])


def group(name: str) -> None:
    @probe(f"/apis/{name} is the group")
    async def run(p: Probe) -> None:
        if name == GROUP:
            await until_listed(p, name)
        await p.see("GET", f"/apis/{name}")


for each in ("apps", "resource.k8s.io", "autoscaling", GROUP):
    group(each)


RESOURCES = (
    "/api/v1",
    "/apis/apps/v1",
    "/apis/batch/v1",
    "/apis/policy/v1",
    "/apis/coordination.k8s.io/v1",
    "/apis/resource.k8s.io/v1",
    "/apis/scheduling.k8s.io/v1",
    "/apis/apiextensions.k8s.io/v1",
    "/apis/admissionregistration.k8s.io/v1",
    "/apis/rbac.authorization.k8s.io/v1",
    "/apis/events.k8s.io/v1",
    "/apis/discovery.k8s.io/v1",
    "/apis/autoscaling/v2",
)


def resources(path: str) -> None:
    @probe(f"{path} lists its resources with verbs, short names and storage hashes")
    async def run(p: Probe) -> None:
        await p.see("GET", path)


for each in RESOURCES:
    resources(each)


@probe("a custom group version lists its resources in any order, with verbs in an order of its own")
async def custom_resources(p: Probe) -> None:
    def complete(answer: Answer) -> bool:
        return len(answer.body["resources"]) == 6

    def in_order(body: dict[str, Any]) -> dict[str, Any]:
        """They come in the order of a Go map."""
        return {**body, "resources": sorted(body["resources"], key=lambda one: str(one["name"]))}

    await p.until("GET", f"/apis/{WIDGETS}", complete)
    await p.see("GET", f"/apis/{WIDGETS}", pick=in_order)


@probe("/api aggregated holds every core resource")
async def core_aggregated(p: Probe) -> None:
    await p.see("GET", "/api", accept=AGGREGATED)


def aggregated(name: str) -> None:
    @probe(f"/apis aggregated holds the resources of {name}")
    async def run(p: Probe) -> None:
        await until_listed(p, name, resources=3 if name == GROUP else 1)
        await p.see("GET", "/apis", accept=AGGREGATED, pick=only(name))


for each in GROUPS:
    aggregated(each)


@probe("the aggregated form is sent to a client that takes both; v2beta1 is gone")
async def preferred(p: Probe) -> None:
    for path in ("/api", "/apis"):
        await p.see("GET", path, accept=CLIENT_GO, pick=identity)
        await p.see("GET", path, accept=BETA, pick=identity)


def identity(body: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": body.get("apiVersion"), "kind": body["kind"]}


@probe("an unknown discovery version falls back to the old form, or is 406 if that is not taken")
async def fallback(p: Probe) -> None:
    unknown = AGGREGATED.replace("v=v2", "v=v9")
    await p.see("GET", "/apis", accept=f"{unknown},application/json", pick=identity)
    await p.see("GET", "/apis", accept=unknown, pick=identity)


@probe("a group or version by itself has no aggregated form")
async def parts(p: Probe) -> None:
    for path in ("/apis/apps", "/apis/apps/v1", "/api/v1"):
        await p.see("GET", path, accept=CLIENT_GO, pick=identity)


@probe("an ETag comes with the aggregated form only, and If-None-Match gives 304")
async def etag(p: Probe) -> None:
    for accept in ("application/json", AGGREGATED):
        answer = await p.ask("GET", "/api", accept=accept)
        tag = answer.headers.get("ETag")
        p.note(f"ETag of {accept}", tag and f"{tag[0]}{len(tag) - 2} characters{tag[-1]}")
        p.note("Vary", answer.headers.get("Vary"))
    await p.see("GET", "/api", accept=AGGREGATED, headers={"If-None-Match": tag or ""})
    await p.see("GET", "/api", accept=AGGREGATED, headers={"If-None-Match": '"x"'}, pick=identity)


@probe("what is not there is 404, a Status for built-in groups and text for others")
async def missing(p: Probe) -> None:
    for path in ("/apis/none.example.com", "/apis/apps/v9", f"/apis/{GROUP}/v9", "/api/v9"):
        await p.see("GET", path)


@probe("any method reads discovery")
async def any_method(p: Probe) -> None:
    for method in ("POST", "PUT", "DELETE"):
        await p.see(method, "/apis/apps")
        await p.see(method, "/apis", pick=identity)


def several(p: Probe) -> dict[str, Any]:
    """A definition of a group of the probe's own, with versions in no order."""
    crd = definition(f"{p.id}.example.com", "things", "Thing", {"schema": schema()})
    plain = {"schema": schema(), "served": True, "storage": False}
    for version in ("v1beta1", "v2", "v1alpha1", "other", "v10"):
        crd["spec"]["versions"].append({"name": version, **plain})
    crd["spec"]["versions"].append({"name": "v99", **plain, "served": False})
    crd["spec"]["names"] |= {"shortNames": ["th"], "categories": ["all"]}
    return crd


@probe("a new definition appears in both forms, with versions in order of priority")
async def several_versions(p: Probe) -> None:
    crd = several(p)
    name = crd["spec"]["group"]
    await p.do("POST", DEFINITIONS, crd)
    p.cleanup.push_async_callback(p.ask, "DELETE", f"{DEFINITIONS}/things.{name}")
    await until_listed(p, name, versions=6)
    await p.see("GET", "/apis", pick=only(name))
    await p.see("GET", f"/apis/{name}")
    await p.until("GET", f"/apis/{name}/v2", lambda answer: answer.status == 200)
    body = await p.do("GET", f"/apis/{name}/v2")
    # Made from the group's name, which differs from run to run.
    p.hide(body["resources"][0]["storageVersionHash"], "hash")
    await p.see("GET", f"/apis/{name}/v2")
    await p.see("GET", f"/apis/{name}/v99")
    await p.see("GET", "/apis", accept=AGGREGATED, pick=only(name))


@probe("a definition that is gone leaves both forms")
async def removed(p: Probe) -> None:
    crd = several(p)
    name = crd["spec"]["group"]
    await p.do("POST", DEFINITIONS, crd)
    await until_listed(p, name, versions=6)
    await p.do("DELETE", f"{DEFINITIONS}/things.{name}")
    await p.until_gone(f"/apis/{name}")
    for accept, field in (("application/json", "groups"), (AGGREGATED, "items")):
        await p.until("GET", "/apis", Absent(name, field), accept=accept)
    await p.see("GET", f"/apis/{name}")
    await p.see("GET", f"/apis/{name}/v1/things")


class Absent:
    """Tells whether a group has left one of the two forms."""

    def __init__(self, group: str, field: str) -> None:
        self.pick, self.field = only(group), field

    def __call__(self, answer: Answer) -> bool:
        return not self.pick(answer.body)[self.field]
