# SPDX-License-Identifier: Apache-2.0
"""Definitions of custom kinds: from creation over names, versions and changes to their end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.kinds import DEFINITIONS, definition, schema
from tests.conformance.own import OwnKind, has_condition, install, own_definition, own_kind, remover
from tests.conformance.probe import Probe, probe
from tests.conformance.schemas import TEXT, object_of

if TYPE_CHECKING:
    from tests.conformance.probe import Body
    from tests.support.api import Answer

TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
_SCHEMA = "/spec/versions/0/schema/openAPIV3Schema"


def _spec_of(*fields: str) -> dict[str, Any]:
    return schema(spec=object_of(**dict.fromkeys(fields, TEXT)))


def _replace(path: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": path, "value": value}


def _status(body: dict[str, Any]) -> Any:
    return body["status"]


def _conditions_by_type(body: dict[str, Any]) -> Any:
    return sorted(body["status"]["conditions"], key=lambda one: str(one["type"]))


def _generation(body: dict[str, Any]) -> Any:
    return body["metadata"]["generation"]


async def _two_versions(p: Probe) -> OwnKind:
    """v1 is stored and has a; v2 has b; both have c."""
    crd = own_definition(p, schema=_spec_of("a", "c"))
    second = {"name": "v2", "served": True, "storage": False, "schema": _spec_of("b", "c")}
    crd["spec"]["versions"].append(second)
    return await install(p, crd)


@probe("a definition is created with null conditions, empty accepted names and its stored version")
async def created(p: Probe) -> None:
    crd = own_definition(p, {"type": "object"})
    p.cleanup.push_async_callback(remover(p, crd))
    await p.see("POST", DEFINITIONS, crd)


@probe("a definition's names are accepted and it is established soon after creation")
async def established(p: Probe) -> None:
    things = await own_kind(p, {"type": "object"})
    await p.see("GET", things.definition_path)


@probe("the singular name, the list's kind and the conversion of a definition are defaulted")
async def names_defaulted(p: Probe) -> None:
    crd = own_definition(p, {"type": "object"})
    crd["spec"]["names"] = {"plural": "things", "kind": "Thing"}
    p.cleanup.push_async_callback(remover(p, crd))
    await p.see("POST", DEFINITIONS, crd, pick=lambda body: body["spec"])


@probe("a status given on creation of a definition is ignored")
async def status_ignored(p: Probe) -> None:
    crd = own_definition(p, {"type": "object"}) | {"status": {"storedVersions": ["v1", "v0"]}}
    p.cleanup.push_async_callback(remover(p, crd))
    await p.see("POST", DEFINITIONS, crd, pick=_status)


@probe("a custom resource's path is 404 in text before its definition and after it")
async def paths(p: Probe) -> None:
    things = OwnKind(p)
    await p.see("GET", things.path("x"), note="before")
    await p.see("GET", f"/apis/{things.group}", note="the group before")
    await own_kind(p, {"type": "object"})
    await p.see("GET", things.path("x"), note="while defined")
    await p.do("DELETE", things.definition_path)
    await p.until_gone(things.definition_path)
    await p.until_gone(things.path())
    await p.see("GET", things.path("x"), note="after")
    await p.until_gone(f"/apis/{things.group}")
    await p.see("GET", f"/apis/{things.group}", note="the group after")


@probe("discovery of a new kind has its short names, categories, subresources and verbs")
async def discovery(p: Probe) -> None:
    crd = own_definition(p, object_of(replicas={"type": "integer"}))
    crd["spec"]["names"] |= {"shortNames": ["tg", "thg"], "categories": ["all", "probes"]}
    crd["spec"]["versions"][0]["subresources"] = {
        "status": {},
        "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
    }
    things = await install(p, crd)
    path = f"/apis/{things.group}/v1"
    found = await p.until("GET", path, lambda answer: answer.status == 200)
    # It is a hash of the group, which is the probe's own.
    p.hide(found.body["resources"][0]["storageVersionHash"], "hash")
    await p.see("GET", path)
    await p.see("GET", f"/apis/{things.group}")


@probe("versions of a group are ordered by stability and age, and the first is preferred")
async def version_order(p: Probe) -> None:
    crd = own_definition(p, {"type": "object"})
    names = ["v1", "v1beta2", "v2alpha1", "v10", "v2", "foo", "v11beta2"]
    crd["spec"]["versions"] = [
        {"name": name, "served": True, "storage": name == "v1", "schema": schema()}
        for name in names
    ]
    things = await install(p, crd)
    await p.until("GET", f"/apis/{things.group}", lambda answer: answer.status == 200)
    await p.see("GET", f"/apis/{things.group}")


@probe("a definition in a table has its name and time of creation")
async def table(p: Probe) -> None:
    things = await own_kind(p, {"type": "object"})
    await p.see("GET", things.definition_path, accept=TABLE, query={"includeObject": "None"})


def _conflicting(first: dict[str, Any], second: dict[str, Any]) -> Body:
    """Two definitions of one group: the second's names stay unaccepted while the first lives."""

    async def conflict(p: Probe) -> None:
        crd = own_definition(p, {"type": "object"})
        crd["spec"]["names"] |= first
        things = await install(p, crd)
        rival = definition(things.group, "gizmos", "Gizmo", {"schema": schema()})
        rival["spec"]["names"] |= second
        path = f"{DEFINITIONS}/gizmos.{things.group}"
        p.cleanup.push_async_callback(remover(p, rival))
        await p.do("POST", DEFINITIONS, rival)
        await p.until("GET", path, has_condition("Established", status="False"))
        await p.see("GET", path, pick=_status, note="while the first is there")
        await p.see("GET", p.path(f"{things.group}/v1", "gizmos"))
        await p.do("DELETE", things.definition_path)
        await p.until("GET", path, has_condition("Established", status="True"))
        await p.see("GET", path, pick=_status, note="after the first is gone")

    return conflict


probe("a kind that another definition of the group has is not accepted until that one is gone")(
    _conflicting({}, {"kind": "Thing"})
)
probe("a short name that another definition has is not accepted until that one is gone")(
    _conflicting({"shortNames": ["tg"]}, {"shortNames": ["tg"]})
)
probe("a short name that is another definition's plural is not accepted")(
    _conflicting({}, {"shortNames": ["things"]})
)


@probe("a deleted definition is terminating first; its instances and it go away")
async def deleted_with_instances(p: Probe) -> None:
    things = await own_kind(p, object_of(a=TEXT))
    await p.do("POST", things.path(), things.new("x", {"a": "1"}))
    await p.see("DELETE", things.definition_path)
    await p.until_gone(things.definition_path)
    await p.see("GET", things.definition_path, note="when it is gone")
    await p.until_gone(things.path())
    await own_kind(p, object_of(a=TEXT))
    await p.see("GET", things.path("x"), note="defined anew")


@probe("a definition waits for an instance that has a finalizer and takes no new ones")
async def deletion_waits(p: Probe) -> None:
    things = await own_kind(p, object_of(a=TEXT))
    held = things.new("held", {"a": "1"}, metadata={"finalizers": ["example.com/hold"]})
    await p.do("POST", things.path(), held)
    await p.do("DELETE", things.definition_path)
    deleting = await p.until(
        "GET",
        things.definition_path,
        has_condition("Terminating", reason="InstanceDeletionInProgress"),
    )
    p.note("conditions while it waits", deleting.body["status"]["conditions"])
    await p.until("GET", things.path("held"), _is_deleting)
    await p.see("POST", things.path(), things.new("late", {"a": "1"}))
    await p.see("GET", things.path("held"), pick=lambda body: sorted(body["metadata"]))
    await p.do("PATCH", things.path("held"), {"metadata": {"finalizers": None}}, patch="merge")
    await p.until_gone(things.definition_path)


def _is_deleting(answer: Answer) -> bool:
    return "deletionTimestamp" in answer.body["metadata"]


@probe("a version that is no longer served is 404 in text, the other one goes on")
async def serving_off(p: Probe) -> None:
    things = await _two_versions(p)
    stricter = _replace(f"{_SCHEMA}/properties/spec/properties/a", {**TEXT, "maxLength": 2})
    await things.alter(_replace("/spec/versions/1/served", False), stricter)
    # The version goes first and the other one's storage is opened anew: only a refusal shows that.
    await things.until_refused(things.new("x", {"a": "long"}))
    await p.until_gone(things.path(version="v2"))
    await p.see("GET", things.path(version="v2"))
    await p.see("GET", things.path(version="v1"))
    await p.until("GET", f"/apis/{things.group}", lambda a: len(a.body["versions"]) == 1)
    await p.see("GET", f"/apis/{things.group}")


@probe("an object made in one version is seen in the other pruned by that one's schema")
async def through_both(p: Probe) -> None:
    things = await _two_versions(p)
    await p.see("POST", things.path(), things.new("x", {"a": "1", "b": "2", "c": "3"}))
    await p.see("GET", things.path("x", version="v2"))
    await p.see("GET", things.path(version="v2"), note="the list")


@probe("a write in a version that is not stored keeps only what both versions have")
async def written_through_other(p: Probe) -> None:
    things = await _two_versions(p)
    await p.do("POST", things.path(), things.new("x", {"a": "1", "c": "3"}))
    await p.see(
        "PATCH", things.path("x", version="v2"), {"spec": {"b": "2", "c": "4"}}, patch="merge"
    )
    await p.see("GET", things.path("x"))


@probe("an object of one version sent to another version's path is refused with 400")
async def wrong_version(p: Probe) -> None:
    things = await _two_versions(p)
    await p.see("POST", things.path(version="v2"), things.new("x", {"c": "1"}))


@probe("changing the storage version adds to the stored versions, which then must stay")
async def storage_moved(p: Probe) -> None:
    things = await _two_versions(p)
    await p.see(
        "PATCH",
        things.definition_path,
        [_replace("/spec/versions/0/storage", False), _replace("/spec/versions/1/storage", True)],
        patch="json",
        pick=_status,
    )
    without = [{"op": "remove", "path": "/spec/versions/0"}]
    await p.see("PATCH", things.definition_path, without, patch="json", note="removing v1")


@probe("a stored version can be removed once the status no longer names it")
async def stored_version_removed(p: Probe) -> None:
    things = await _two_versions(p)
    await things.alter(
        _replace("/spec/versions/0/storage", False), _replace("/spec/versions/1/storage", True)
    )
    await p.see(
        "PATCH",
        f"{things.definition_path}/status",
        {"status": {"storedVersions": ["v2"]}, "spec": {"scope": "Cluster"}},
        patch="merge",
        pick=lambda body: {"status": body["status"], "scope": body["spec"]["scope"]},
    )
    without = [{"op": "remove", "path": "/spec/versions/0"}]
    await p.see("PATCH", things.definition_path, without, patch="json", pick=_status)


@probe("a definition's status comes with the whole object from its subresource")
async def status_read(p: Probe) -> None:
    things = await own_kind(p, {"type": "object"})
    await p.see("GET", f"{things.definition_path}/status")


@probe("the generation of a definition follows its spec, not its labels or status")
async def generation(p: Probe) -> None:
    things = await own_kind(p, {"type": "object"})
    path = things.definition_path
    labels = {"metadata": {"labels": {"a": "1"}}}
    await p.see("PATCH", path, labels, patch="merge", pick=_generation, note="labels")
    names = {"spec": {"names": {"shortNames": ["tg"]}}}
    await p.see("PATCH", path, names, patch="merge", pick=_generation, note="spec")
    await p.until("GET", path, lambda a: "shortNames" in a.body["status"]["acceptedNames"])
    await p.see("GET", path, pick=lambda body: [_generation(body), _status(body)], note="status")


def _change_case(*operations: dict[str, Any]) -> Body:
    async def change(p: Probe) -> None:
        things = await own_kind(p, object_of(a=TEXT))
        await p.see("PATCH", things.definition_path, list(operations), patch="json")

    return change


CHANGES: dict[str, list[dict[str, Any]]] = {
    "the scope of a definition cannot change": [_replace("/spec/scope", "Cluster")],
    "the group of a definition cannot change": [_replace("/spec/group", "other.example.com")],
    "the kind of an established definition cannot change": [_replace("/spec/names/kind", "Other")],
    "the plural of a definition cannot change": [_replace("/spec/names/plural", "others")],
    "the list's kind of a definition can change": [_replace("/spec/names/listKind", "Things")],
    "a schema cannot become one that is not structural": [
        {"op": "remove", "path": f"{_SCHEMA}/properties/spec/properties/a/type"}
    ],
    "a schema cannot be taken away": [{"op": "remove", "path": "/spec/versions/0/schema"}],
    "unknown fields cannot be preserved everywhere by a change": [
        {"op": "add", "path": "/spec/preserveUnknownFields", "value": True}
    ],
}
for _title, _operations in CHANGES.items():
    probe(_title)(_change_case(*_operations))


@probe("a definition is replaced only with its resource version")
async def replaced(p: Probe) -> None:
    things = await own_kind(p, {"type": "object"})
    body = await p.do("GET", things.definition_path)
    await p.see("PUT", things.definition_path, body, note="unchanged")
    del body["metadata"]["resourceVersion"]
    await p.see("PUT", things.definition_path, body, note="without a resource version")


@probe("a strategic merge patch of a definition replaces the versions as a whole")
async def patched(p: Probe) -> None:
    things = await own_kind(p, {"type": "object"})
    version = {"name": "v1", "served": True, "storage": True, "schema": _spec_of("z")}
    body = {"spec": {"versions": [version], "names": {"categories": ["probes"]}}}
    await p.see("PATCH", things.definition_path, body, patch="strategic", pick=lambda b: b["spec"])


@probe("a stricter schema leaves stored objects alone and binds new ones")
async def stricter(p: Probe) -> None:
    things = await own_kind(p, object_of(a=TEXT))
    await p.do("POST", things.path(), things.new("old", {"a": "long"}))
    await things.alter(
        _replace(f"{_SCHEMA}/properties/spec/properties/a", {**TEXT, "maxLength": 2})
    )
    await things.until_refused(things.new("new", {"a": "long"}))
    await p.see("GET", things.path("old"))
    await p.see("POST", things.path(), things.new("new", {"a": "long"}))


@probe("requests to a deprecated version carry its warning")
async def deprecated(p: Probe) -> None:
    crd = own_definition(p, object_of(a=TEXT), deprecated=True)
    own_words = {"name": "v2", "deprecationWarning": "v2 of things goes away"}
    crd["spec"]["versions"].append({**crd["spec"]["versions"][0], "storage": False, **own_words})
    things = await install(p, crd)
    await p.see("POST", things.path(), things.new("x", {"a": "1"}), note="in the server's words")
    await p.see("GET", things.path(version="v2"), note="in the definition's words")
    await p.see("GET", things.path("none"), note="on a refusal")


@probe("a group of the project whose approval says unapproved is established and not conformant")
async def approved(p: Probe) -> None:
    group = f"{p.id}.k8s.io"
    said = {"api-approved.kubernetes.io": "unapproved, for a probe"}
    crd = definition(group, "things", "Thing", {"schema": schema()})
    crd["metadata"]["annotations"] = said
    p.cleanup.push_async_callback(remover(p, crd))
    await p.do("POST", DEFINITIONS, crd)
    path = f"{DEFINITIONS}/things.{group}"
    await p.until("GET", path, has_condition("Established", status="True"))
    await p.until("GET", path, has_condition("KubernetesAPIApprovalPolicyConformant"))
    # Two controllers write conditions, either may be first.
    await p.see("GET", path, pick=_conditions_by_type)
