# SPDX-License-Identifier: Apache-2.0
"""Start order: the init container that waits for parents, and the rights that it needs. Pure.

A waiter may read the PodCliques that are waited for in its set, by name, and nothing else. Its
token is its own pod's, mounted into no other container.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from trellis.api import labels, names
from trellis.api.core.rbac import PolicyRule, Role, RoleBinding, RoleReference, Subject
from trellis.api.grove.podclique import PodClique
from trellis.api.labels import Component
from trellis.api.meta import Metadata, Value, owner
from trellis.api.permissions import READ

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.grove.template import ScalingGroupTemplate
    from trellis.workloads.outline import Member, Outline, Parent

WAITER = "grove-initc"
VOLUME = "grove-initc-access"
# Where a service account is always mounted: admission mounts no second one over it.
MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
DEFAULT_ACCOUNT = "default"

_COMMAND = ("trellis", "wait")
_USER = 10001
_TOKEN_SECONDS = 3607
_CPU = "100m"
# A waiter takes 25 MB, and 0.3 MB more for the connection to each parent: a third stays free.
_MEBIBYTES, _PARENTS_FOR_THEM = 32, 64


def with_waiter(spec: dict[str, Any], parents: Sequence[Parent], image: str) -> dict[str, Any]:
    """The pod spec with the waiter as its last init container; without parents, as it is."""
    if not parents:
        return spec
    initial = [one for one in spec.get("initContainers") or () if one.get("name") != WAITER]
    volumes = [one for one in spec.get("volumes") or () if one.get("name") != VOLUME]
    return {
        **spec,
        "initContainers": [*initial, _waiter(spec, parents, image)],
        "volumes": [*volumes, _access()],
    }


def waited_for(outline: Outline, live: Mapping[str, int]) -> tuple[str, ...]:
    """The PodCliques that others of the set wait for, each once.

    `live`: how many replicas each PodCliqueScalingGroup has now, by its own name. One that is not
    there yet will have as many as its template says.
    """
    if not outline.waits:
        return ()
    members = (one for replica in range(outline.replicas) for one in _all(outline, replica, live))
    return tuple(dict.fromkeys(one.name for member in members for one in outline.parents(member)))


def accounts(outline: Outline) -> tuple[str, ...]:
    """The service accounts under which pods wait, in the order of their names."""
    waiting = (one for one in _kinds_of_members(outline) if outline.parents(one))
    return tuple(sorted({account(one.template.spec.pod_spec) for one in waiting}))


def role(owning: PodCliqueSet, cliques: Iterable[str]) -> Role:
    """What waiters of the set may read. A list or watch of one name counts as of that name."""
    rule = PolicyRule(
        api_groups=(PodClique.resource.group,),
        resources=(PodClique.resource.plural,),
        resource_names=tuple(cliques),
        verbs=READ,
    )
    return Role(metadata=_metadata(owning, Component.ROLE), rules=(rule,))


def binding(owning: PodCliqueSet, account_names: Iterable[str]) -> RoleBinding:
    """Who may read it: the service accounts that pods wait under."""
    namespace = owning.metadata.namespace
    return RoleBinding(
        metadata=_metadata(owning, Component.ROLE_BINDING),
        role_ref=RoleReference(kind=Role.resource.kind, name=names.role(owning.metadata.name)),
        subjects=tuple(
            Subject(kind="ServiceAccount", name=name, namespace=namespace) for name in account_names
        ),
    )


class _Identity(Value, frozen=True, kw_only=True):
    """Under whom a pod runs. The second name is the older one, and still read by servers."""

    service_account_name: str = ""
    service_account: str = ""


_IDENTITY = msgspec.json.Decoder(_Identity)


def account(pod_spec: msgspec.Raw) -> str:
    """The service account that pods made from it run under."""
    found = _IDENTITY.decode(pod_spec)
    return found.service_account_name or found.service_account or DEFAULT_ACCOUNT


def _all(outline: Outline, replica: int, live: Mapping[str, int]) -> Iterator[Member]:
    yield from outline.alone(replica)
    for group in outline.groups.values():
        count = live.get(outline.group_name(replica, group), group.replicas)
        yield from _members(outline, replica, group, range(count))


def _kinds_of_members(outline: Outline) -> Iterator[Member]:
    """Each clique once for each way in which it can wait: in a base gang, and in a scaled one."""
    yield from outline.alone(0)
    for group in outline.groups.values():
        yield from _members(outline, 0, group, sorted({0, group.min_available}))


def _members(
    outline: Outline, replica: int, group: ScalingGroupTemplate, indices: Iterable[int]
) -> Iterator[Member]:
    for index in indices:
        yield from outline.grouped(replica, group, index)


def _metadata(owning: PodCliqueSet, component: Component) -> Metadata:
    set_name = owning.metadata.name
    name = names.role(set_name)
    return Metadata(
        name=name,
        namespace=owning.metadata.namespace,
        labels=labels.common(set_name, name, component),
        owner_references=(owner(owning),),
    )


def _waiter(spec: Mapping[str, Any], parents: Sequence[Parent], image: str) -> dict[str, Any]:
    return {
        "name": WAITER,
        "image": image,
        "command": list(_COMMAND),
        "args": [f"--podcliques={one.name}:{one.needed}" for one in parents],
        # The same asked for and allowed: a pod whose own containers are Guaranteed stays so.
        "resources": {"requests": _resources(parents), "limits": _resources(parents)},
        "securityContext": _restricted(spec),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [{"name": VOLUME, "mountPath": MOUNT_PATH, "readOnly": True}],
    }


def _resources(parents: Sequence[Parent]) -> dict[str, str]:
    memory = _MEBIBYTES * (1 + -(-len(parents) // _PARENTS_FOR_THEM))
    return {"cpu": _CPU, "memory": f"{memory}Mi"}


def _restricted(spec: Mapping[str, Any]) -> dict[str, Any]:
    """What the strictest namespaces ask for, whatever the pod's own containers may do."""
    context: dict[str, Any] = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    if (spec.get("securityContext") or {}).get("runAsUser") == 0:
        # Else the pod's word would hold for the waiter too, and no kubelet would start it.
        context |= {"runAsUser": _USER, "runAsGroup": _USER}
    return context


def _access() -> dict[str, Any]:
    """What a pod's own service account is given, also where its pods do not mount it themselves."""
    token = {"path": "token", "expirationSeconds": _TOKEN_SECONDS}
    authority = {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    namespace = {"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}
    sources = [
        {"serviceAccountToken": token},
        {"configMap": authority},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": VOLUME, "projected": {"sources": sources}}
