# SPDX-License-Identifier: Apache-2.0
"""Admission over a handful of objects, with webhooks that are functions."""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable, Iterator
from random import Random
from typing import TYPE_CHECKING, Any

from tests.unit.embedded.access.builders import Shelves, golden
from trellis.embedded.admission import Admission, Callers, Plugins, Surroundings
from trellis.embedded.asking import Attributes, Object, Review, User
from trellis.embedded.refusals import Refusal
from trellis.embedded.schema.node import native_of, resource
from trellis.embedded.served import Circumstances, Served

if TYPE_CHECKING:
    from trellis.embedded.fielderrors import FieldError

__all__ = ["golden"]
REGISTRATION = "admissionregistration.k8s.io"
ADMIN = User(name="admin", uid="admin", groups=("system:masters", "system:authenticated"))
WIDGETS = "conformance.trellis.dev"


class Plain:
    """A kind without specials, that gives new objects a default."""

    def default(self, new: Object) -> None:
        new.setdefault("immutable", False) if new.get("kind") == "Defaulted" else None

    def prepare_create(self, new: Object, about: Circumstances) -> None: ...

    def prepare_update(self, new: Object, old: Object, about: Circumstances) -> None: ...

    def validate_create(self, new: Object, about: Circumstances) -> list[FieldError]:  # noqa: ARG002
        return []

    def validate_update(
        self,
        new: Object,  # noqa: ARG002
        old: Object,  # noqa: ARG002
        about: Circumstances,  # noqa: ARG002
    ) -> list[FieldError]:
        return []

    def warnings(self, new: Object, old: Object | None) -> list[str]:  # noqa: ARG002
        return []


def a_kind(kind: str, plural: str, *, group: str = "", version: str = "v1", **more: Any) -> Served:
    custom = more.get("custom", False)
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    whole: dict[str, Any] = {
        "namespaced": True,
        "schema": resource(free) if custom else native_of(group, version, kind),
        "strategy": Plain(),
        "singular": kind.lower(),
        "list_kind": f"{kind}List",
        **more,
    }
    return Served(group=group, version=version, kind=kind, plural=plural, **whole)


MAPS = a_kind("ConfigMap", "configmaps")
NAMESPACES = a_kind("Namespace", "namespaces", namespaced=False)
PODS = a_kind("Pod", "pods")
NODES = a_kind("Node", "nodes", namespaced=False)
DEPLOYMENTS = a_kind("Deployment", "deployments", group="apps")
DAEMON_SETS = a_kind("DaemonSet", "daemonsets", group="apps")
WIDGETS_V1 = a_kind("Widget", "widgets", group=WIDGETS, custom=True)
WIDGETS_V2 = a_kind("Widget", "widgets", group=WIDGETS, version="v2", custom=True)
CONFIGURATIONS = a_kind(
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    group=REGISTRATION,
    namespaced=False,
)
KINDS = (MAPS, NAMESPACES, PODS, NODES, DEPLOYMENTS, DAEMON_SETS, WIDGETS_V1, WIDGETS_V2)


class Kinds:
    def __init__(self) -> None:
        self.epoch = 0

    def __iter__(self) -> Iterator[Served]:
        return iter(KINDS)

    def find(self, group: str, version: str, plural: str) -> Served | None:
        wanted = (group, version, plural)
        return next((k for k in KINDS if (k.group, k.version, k.plural) == wanted), None)

    def of_kind(self, group: str, kind: str, version: str = "") -> Served | None:
        for each in KINDS:
            if (each.group, each.kind) == (group, kind) and version in ("", each.version):
                return each
        return None


Answer = Callable[[Object], Object | Awaitable[Object]]


class Room:
    """The admission of a cluster with one namespace, and what its webhooks were sent."""

    def __init__(self, plugins: Plugins | None = None) -> None:
        self.shelves = Shelves()
        self.callers = Callers()
        self.calls: list[tuple[str, Object]] = []
        self.allowed: set[str] = set()
        about = Surroundings(reader=self.shelves, catalogue=Kinds(), authorize=self._authorize)
        self.admission = Admission(
            about,
            caller=self.callers,
            random=Random(3),  # noqa: S311
            plugins=plugins or Plugins(),
        )
        labels = {"kubernetes.io/metadata.name": "team", "tier": "high"}
        self.put("", NAMESPACES, {"name": "team", "labels": labels})

    def _authorize(self, wanted: Attributes) -> tuple[bool, str]:
        return wanted.verb in self.allowed or wanted.user == ADMIN, ""

    def put(self, namespace: str, served: Served | str, metadata: Object, **rest: Any) -> None:
        plural = served if isinstance(served, str) else served.plural
        group = REGISTRATION if isinstance(served, str) else served.group
        item = {"metadata": {"namespace": namespace, **metadata}, **rest}
        if isinstance(served, Served):
            item = {"apiVersion": served.api_version, "kind": served.kind, **item}
        self.shelves.items[group, plural, namespace, metadata["name"]] = item
        self.admission.invalidate(group, plural, namespace, metadata["name"])

    def hook(self, name: str, answer: Answer | None = None, **settings: Any) -> None:
        """A validating webhook; `kind="mutating"` for the other sort.

        `served_as` is a service that the answer is given for, None if nobody gives it.
        """
        kind = settings.pop("kind", "validating")
        served_as = settings.pop("served_as", name)
        entry = {
            "name": name,
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "clientConfig": {"url": f"https://127.0.0.1:1/{name}"},
            "rules": [a_rule()],
            "failurePolicy": "Fail",
            **settings,
        }
        self.put("", f"{kind}webhookconfigurations", {"name": name}, webhooks=[entry])

        async def handler(body: bytes) -> bytes:
            review = json.loads(body)
            self.calls.append((name, review["request"]))
            said = answer(review["request"]) if answer else {"allowed": True}
            if isinstance(said, Awaitable):
                said = await said
            if "raw" in said:
                return bytes(said["raw"])
            response = {"uid": review["request"]["uid"], **said}
            return json.dumps({**envelope(), "response": response}).encode()

        if isinstance(served_as, str):
            self.callers.handle_webhook(served_as, handler)
        elif served_as:
            namespace, service, path = served_as
            self.callers.handle_service(namespace, service, path, handler)

    def policy(self, *validations: Object, bound: Object | None = None, **spec: Any) -> None:
        whole = {
            "matchConstraints": {"resourceRules": [a_rule()]},
            "validations": list(validations),
            **spec,
        }
        self.put("", "validatingadmissionpolicies", {"name": "policy"}, spec=whole)
        binding = {"policyName": "policy", "validationActions": ["Deny"], **(bound or {})}
        self.put("", "validatingadmissionpolicybindings", {"name": "binding"}, spec=binding)

    async def refusal(self, review: Review, *, mutating: bool = False) -> Refusal:
        try:
            if mutating:
                await self.admission.mutate(review)
            else:
                await self.admission.validate(review)
        except Refusal as refused:
            return refused
        raise AssertionError("it was admitted")


def envelope() -> Object:
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}


def a_rule(resource: str = "configmaps", *operations: str, group: str = "", **more: Any) -> Any:
    return {
        "apiGroups": [group],
        "apiVersions": ["v1"],
        "resources": [resource],
        "operations": list(operations) or ["*"],
        **more,
    }


def patch(*operations: Object) -> Object:
    encoded = base64.b64encode(json.dumps(list(operations)).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": encoded}


def add(path: str, value: Any) -> Object:
    return {"op": "add", "path": path, "value": value}


def a_map(name: str = "a", **metadata: Any) -> Object:
    return an_object(MAPS, name, data={"a": "1"}, **metadata)


def an_object(served: Served, name: str = "a", **rest: Any) -> Object:
    body: Object = {key: rest.pop(key) for key in ("data", "spec", "status") if key in rest}
    metadata = {"name": name, **rest}
    if served.namespaced:
        metadata["namespace"] = "team"
    about = {"apiVersion": served.api_version, "kind": served.kind}
    return {**about, "metadata": metadata, **body}


def a_review(
    new: Object | None = None, old: Object | None = None, served: Served = MAPS, **more: Any
) -> Review:
    """A CREATE of a config map unless told otherwise."""
    if new is None and old is None:
        new = a_map()
    item = new or old or {}
    operation = "CREATE" if old is None else "UPDATE" if new else "DELETE"
    fields: dict[str, Any] = {
        "user": ADMIN,
        "subresource": "",
        "operation": operation,
        "namespace": item["metadata"].get("namespace", ""),
        "name": item["metadata"].get("name", ""),
        "options": {"kind": f"{operation.capitalize()}Options", "apiVersion": "meta.k8s.io/v1"},
        "dry_run": False,
        **more,
    }
    return Review(served=served, new=new, old=old, **fields)


def seen(area: str, title: str, which: int = 0) -> Object:
    """The body of a golden, its names those of this room."""
    text = json.dumps(golden(area, title)[which]["body"])
    for golden_word, ours in (
        (".<id>.example.com", ""),
        ("policy-<id>' with binding 'policy-<id>", "policy' with binding 'binding"),
        ("probe-<id>", "team"),
    ):
        text = text.replace(golden_word, ours)
    body: Object = json.loads(text)
    return body


async def called(room: Room, review: Review) -> bool:
    room.calls.clear()
    await room.admission.validate(review)
    return bool(room.calls)
