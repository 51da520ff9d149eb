# SPDX-License-Identifier: Apache-2.0
"""What is to become of one object, by what its owners and dependents are. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Literal

from trellis.embedded.controllers.collecting.graph import FOREGROUND, ORPHAN

if TYPE_CHECKING:
    from trellis.api.meta import Resource
    from trellis.embedded.controllers.collecting.directory import Directory
    from trellis.embedded.controllers.collecting.graph import Graph, Head, Node, Reference

    Policy = Literal["Background", "Foreground", "Orphan"]


@dataclass(frozen=True, slots=True)
class Ask:
    """An owner that the graph does not have: only the server knows whether it is there."""

    resource: Resource
    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Delete:
    node: Node
    policy: Policy = "Background"


@dataclass(frozen=True, slots=True)
class Disown:
    """Some of its owners are to be struck off its list; with `unblock` they only stop waiting."""

    node: Node
    owners: frozenset[str]
    unblock: bool = False


@dataclass(frozen=True, slots=True)
class Release:
    """A finalizer of the collector has done its work."""

    node: Node
    finalizer: str


@dataclass(frozen=True, slots=True)
class LookAt:
    """Others are to be decided on first."""

    uids: tuple[str, ...]


Action = Ask | Delete | Disown | Release | LookAt


class Standing(Enum):
    SOLID = auto()
    DANGLING = auto()
    WAITING = auto()
    """It is going, and only waits for its dependents."""
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Findings:
    """What the server said of owners that the graph does not have, by uid."""

    there: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Owners:
    solid: list[Reference] = field(default_factory=list)
    dangling: list[Reference] = field(default_factory=list)
    waiting: list[Reference] = field(default_factory=list)
    unknown: list[Ask] = field(default_factory=list)


class CannotTell(Exception):
    """A reference that can never be resolved: the object is left alone."""


def decide(graph: Graph, directory: Directory, uid: str, findings: Findings) -> tuple[Action, ...]:
    node = graph.get(uid)
    if node is None:
        return ()
    if node.head.deleting:
        return _going(graph, node)
    try:
        owners = _owners(graph, directory, node.head, findings)
    except CannotTell:
        return ()
    if owners.unknown or not node.head.owner_references:
        return tuple(owners.unknown)
    lost = frozenset(one.uid for one in (*owners.dangling, *owners.waiting))
    if owners.solid:
        return (Disown(node, lost),) if lost else ()
    return _abandoned(graph, node, owners)


def _going(graph: Graph, node: Node) -> tuple[Action, ...]:
    uid, finalizers = node.head.uid, node.head.finalizers
    dependents = graph.dependents(uid)
    if ORPHAN in finalizers:
        freed = [Disown(one, frozenset({uid})) for one in dependents]
        return (*freed, Release(node, ORPHAN))
    if FOREGROUND in finalizers:
        blocking = [one for one in dependents if _blocks(one.head, uid)]
        if not blocking:
            return (Release(node, FOREGROUND),)
        waited = tuple(one.head.uid for one in blocking if not one.head.deleting)
        return (LookAt(waited),) if waited else ()
    return ()


def _abandoned(graph: Graph, node: Node, owners: _Owners) -> tuple[Action, ...]:
    dependents = graph.dependents(node.head.uid)
    if owners.waiting and dependents:
        foreground = Delete(node, "Foreground")
        if any(one.head.waits_for_dependents for one in dependents):
            # Each waits for the other: somebody must stop waiting.
            waiting = frozenset(one.uid for one in owners.waiting)
            return Disown(node, waiting, unblock=True), foreground
        return (foreground,)
    if ORPHAN in node.head.finalizers:
        return (Delete(node, "Orphan"),)
    return (Delete(node, "Foreground" if FOREGROUND in node.head.finalizers else "Background"),)


def _owners(graph: Graph, directory: Directory, head: Head, findings: Findings) -> _Owners:
    found = _Owners()
    for one in head.owner_references:
        resource = directory.find(one.api_version, one.kind)
        if resource is None:
            # Its kind is unknown, perhaps not any more in a moment: it counts as there.
            found.solid.append(one)
            continue
        if resource.namespaced and not head.namespace:
            raise CannotTell(one.name)
        namespace = head.namespace if resource.namespaced else ""
        match _standing(graph, resource, namespace, one, findings):
            case Standing.SOLID:
                found.solid.append(one)
            case Standing.WAITING:
                found.waiting.append(one)
            case Standing.DANGLING:
                found.dangling.append(one)
            case Standing.UNKNOWN:
                found.unknown.append(Ask(resource, namespace, one.name, one.uid))
    return found


def _standing(
    graph: Graph, resource: Resource, namespace: str, one: Reference, findings: Findings
) -> Standing:
    owner = graph.get(one.uid)
    if (
        owner is not None
        and owner.resource.full_name == resource.full_name
        and (owner.head.namespace, owner.head.name) == (namespace, one.name)
    ):
        return Standing.WAITING if owner.head.waits_for_dependents else Standing.SOLID
    if one.uid in findings.gone or graph.saw_go(one.uid):
        return Standing.DANGLING
    return Standing.SOLID if one.uid in findings.there else Standing.UNKNOWN


def _blocks(head: Head, owner: str) -> bool:
    return any(one.uid == owner and one.block_owner_deletion for one in head.owner_references)
