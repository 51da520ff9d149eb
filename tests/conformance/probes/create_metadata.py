# SPDX-License-Identifier: Apache-2.0
"""POST: which names, labels, annotations, owners and finalizers an object may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.builders import config_map
from tests.conformance.kinds import WIDGETS, widget
from tests.conformance.natives import (
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    NAMESPACE,
    NODE,
    POD,
    PRIORITY_CLASS,
    RESOURCE_CLAIM,
    ROLE,
    SERVICE,
    SERVICE_ACCOUNT,
    STATEFUL_SET,
    Native,
)
from tests.conformance.probe import Body, Probe, probe

if TYPE_CHECKING:
    from collections.abc import Iterable

UID = "00000000-0000-4000-8000-000000000001"
OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": UID}

# Dots, an upper case letter, a digit first, too many characters: kinds differ in what they mind.
_NAMES = ("a.b", "Not_Ok", "1a", "x" * 64, "x" * 254)
_KINDS = (
    (CONFIG_MAP, "are named like subdomains"),
    (SERVICE_ACCOUNT, "are named like subdomains"),
    (NODE, "are named like subdomains"),
    (PRIORITY_CLASS, "are named like subdomains"),
    (RESOURCE_CLAIM, "are named like subdomains"),
    (POD, "are named like subdomains, with a warning if it is no label"),
    (DEPLOYMENT, "are named like subdomains, with a warning if it is no label"),
    (JOB, "are named like subdomains, of which a label must be made"),
    (CRON_JOB, "are named like subdomains of at most 52 characters"),
    (SERVICE, "are named like labels"),
    (STATEFUL_SET, "are named like labels"),
)
_TRIED_ONLY = {"dryRun": "All"}


def _name(body: dict[str, Any]) -> Any:
    return body["metadata"]["name"]


async def _see_names(p: Probe, native: Native, names: Iterable[str]) -> None:
    for name in names:
        body = native.new(p, name=name)
        shown = name if len(name) < 20 else f"{len(name)} characters"
        path = native.collection(p)
        await p.see("POST", path, body, query=_TRIED_ONLY, pick=_name, note=shown)


def _names_of(native: Native) -> Body:
    async def run(p: Probe) -> None:
        await _see_names(p, native, _NAMES)

    return run


for _native, _rule in _KINDS:
    probe(f"{_native.resource} {_rule}")(_names_of(_native))


@probe("namespaces are named like labels")
async def namespace_names(p: Probe) -> None:
    names = ("a.b", "Not_Ok", f"1-{p.id}", "x" * 64)
    await _see_names(p, NAMESPACE, names)


@probe("roles may have any name that fits into a path")
async def role_names(p: Probe) -> None:
    await _see_names(p, ROLE, ("system:a", "Not_Ok", "with space", "a/b", "a%b", ".."))


@probe("custom resources are named like subdomains")
async def custom_names(p: Probe) -> None:
    for name in (*_NAMES, ".."):
        path = p.path(WIDGETS, "widgets")
        await p.see("POST", path, widget(name), query=_TRIED_ONLY, pick=_name)


async def _see_metadata(p: Probe, **metadata: Any) -> None:
    """The same on a built-in kind and on a custom resource, which word some refusals otherwise."""
    await p.see("POST", p.path("v1", "configmaps"), config_map("a", **metadata))
    await p.see("POST", p.path(WIDGETS, "widgets"), widget("a", **metadata))


def _metadata(**metadata: Any) -> Body:
    async def run(p: Probe) -> None:
        await _see_metadata(p, **metadata)

    return run


_LONG = "x" * 64
_CASES: dict[str, dict[str, Any]] = {
    "a label's key is a qualified name": {
        "labels": {"bad key": "", "a/b/c": "", "": "", f"example.com/{_LONG}": "", "-a": ""}
    },
    "a label's value is short and has no spaces": {
        "labels": {"a": "bad value", "b": _LONG, "c": "-", "ok": "", "fine": "A.b_c-1"}
    },
    "an annotation's key is a qualified name, its value anything": {
        "annotations": {"bad key": "", "Example.com/a": "", "ok": "any value ü\n"}
    },
    "annotations have 256 KiB in all": {"annotations": {"a": "x" * (1 << 18)}},
    "labels are strings": {"labels": {"a": 1}},
    "annotations are strings": {"annotations": {"a": True}},
    "an owner needs an apiVersion, a kind, a name and a uid": {"ownerReferences": [{}]},
    "an owner's apiVersion is a group and a version": {
        "ownerReferences": [{**OWNER, "apiVersion": "a/b/c"}]
    },
    "an event cannot be an owner": {"ownerReferences": [{**OWNER, "kind": "Event"}]},
    "only one owner can be the controller": {
        "ownerReferences": [
            {**OWNER, "controller": True},
            {**OWNER, "controller": True, "name": "b", "uid": UID[:-1] + "2"},
        ]
    },
    "an owner named twice is kept once, with a warning": {"ownerReferences": [OWNER, OWNER]},
    "a finalizer without a domain is 422, but only a warning on a custom resource": {
        "finalizers": ["nonsense"]
    },
    "a finalizer is a qualified name": {"finalizers": ["bad finalizer", "a/b/c", ""]},
    "finalizers of the server may not go together": {
        "finalizers": ["orphan", "foregroundDeletion"]
    },
}
for _title, _given in _CASES.items():
    probe(_title)(_metadata(**_given))
