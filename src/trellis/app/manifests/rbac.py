# SPDX-License-Identifier: Apache-2.0
"""From what is declared to RBAC: merged, sorted, and never more than what was asked for."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from trellis.api.core.rbac import GROUP
from trellis.api.permissions import Where

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trellis.api.permissions import Grant
    from trellis.app.manifests.declarations import Manifest
    from trellis.app.manifests.installation import Installation

API_VERSION = f"{GROUP}/v1"
ROLE = "grove:system:grove-operator"

ALL = ""
# Who holds one of these holds everything.
_WAYS_UP = ("bind", "escalate", "impersonate")
# Requests for these name no object, so that a rule with names never matches them.
_NAMELESS = ("create", "deletecollection")

Target: TypeAlias = tuple[str, str, str]
"""A group, a resource of it, and the name of one object; without a name, all of them."""
Rights: TypeAlias = dict[Target, set[str]]


class Unfit(ValueError):
    """A grant that must not be handed out, or that would never apply. The message says why."""


def roles(grants: Iterable[Grant], installation: Installation) -> Iterator[Manifest]:
    """The ServiceAccount of the operator and all that it may do."""
    everywhere, own = _rights(grants)
    yield {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": installation.namespaced(installation.name, "serviceaccount"),
        "automountServiceAccountToken": False,
    }
    yield _role("ClusterRole", rules(everywhere), installation.metadata(ROLE, "clusterrole"))
    yield _binding("ClusterRole", installation.metadata(ROLE, "clusterrolebinding"), installation)
    yield _role("Role", rules(own), installation.namespaced(ROLE, "role"))
    yield _binding("Role", installation.namespaced(ROLE, "rolebinding"), installation)


def rules(rights: Rights) -> list[Manifest]:
    """Names with the same verbs share a rule, and then resources with the same names and verbs."""
    named: dict[tuple[str, str, tuple[str, ...]], list[str]] = defaultdict(list)
    for (group, resource, name), verbs in sorted(rights.items()):
        if verbs:
            named[group, resource, tuple(sorted(verbs))].append(name)
    shared: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = defaultdict(list)
    for (group, resource, same), names in named.items():
        shared[group, tuple(names), same].append(resource)
    return [
        {"apiGroups": [group], "resources": resources}
        | ({"resourceNames": list(names)} if names != (ALL,) else {})
        | {"verbs": list(same)}
        for (group, names, same), resources in shared.items()
    ]


def _rights(grants: Iterable[Grant]) -> tuple[Rights, Rights]:
    """What is granted everywhere, and what beyond that in our own namespace."""
    everywhere: Rights = defaultdict(set)
    own: Rights = defaultdict(set)
    for grant in grants:
        _refuse_unfit(grant)
        rights = everywhere if grant.where is Where.EVERYWHERE else own
        for resource, name in product(grant.resources, grant.names or (ALL,)):
            rights[grant.group, resource, name].update(grant.verbs)
    return _beyond(everywhere, {}), _beyond(own, everywhere)


def _beyond(rights: Rights, wider: Rights) -> Rights:
    """The rights without what they say twice: of one name and of all, here and everywhere."""
    remaining: Rights = {}
    for target, verbs in rights.items():
        group, resource, name = target
        every = (group, resource, ALL)
        held = wider.get(target, set()) | wider.get(every, set())
        if name != ALL:
            held |= rights.get(every, set())
        remaining[target] = verbs - held
    return remaining


def _refuse_unfit(grant: Grant) -> None:
    if ways_up := [verb for verb in grant.verbs if verb in _WAYS_UP]:
        raise Unfit(f"{grant}: {', '.join(ways_up)} would let the operator take any right")
    if grant.where is Where.EVERYWHERE and "secrets" in grant.resources and not grant.group:
        raise Unfit(f"{grant}: the Secrets of all tenants are none of ours; use Where.OWN")
    if grant.names and (nameless := [verb for verb in grant.verbs if verb in _NAMELESS]):
        raise Unfit(f"{grant}: {', '.join(nameless)} cannot be narrowed to names; grant it apart")


def _role(kind: str, rules: list[Manifest], metadata: Manifest) -> Manifest:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "rules": rules}


def _binding(kind: str, metadata: Manifest, installation: Installation) -> Manifest:
    return {
        "apiVersion": API_VERSION,
        "kind": f"{kind}Binding",
        "metadata": metadata,
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": ROLE},
        "subjects": [installation.subject],
    }
