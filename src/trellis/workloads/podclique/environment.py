# SPDX-License-Identifier: Apache-2.0
"""The variables by which the containers of a pod know who they are and where the others are. Pure.

What differs from pod to pod is read from its labels, so that all pods of a clique are made of one
spec.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.api import names
from trellis.api.labels import (
    POD_INDEX,
    SCALING_GROUP,
    SCALING_GROUP_POD_INDEX,
    SCALING_GROUP_REPLICA_INDEX,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trellis.workloads.outline import Member, Outline

Variable = dict[str, Any]

_CONTAINERS = ("initContainers", "containers")


def variables(outline: Outline, member: Member, domain: str) -> list[Variable]:
    """`domain` is the DNS domain of the cluster."""
    replica, namespace = member.place.set_replica, outline.set.metadata.namespace
    return [
        _value("GROVE_PCS_NAME", outline.name),
        _value("GROVE_PCS_INDEX", str(replica)),
        _value("GROVE_PCLQ_NAME", member.name),
        _value(
            "GROVE_HEADLESS_SERVICE", names.service_host(outline.name, replica, namespace, domain)
        ),
        _label("GROVE_PCLQ_POD_INDEX", POD_INDEX),
        *_of_group(outline, member),
    ]


def with_variables(spec: Mapping[str, Any], ours: Sequence[Variable]) -> dict[str, Any]:
    """Ours come first, so that a user's own may refer to them; one of the same name goes."""
    known = {one["name"] for one in ours}
    containers = {
        kind: [_container(one, ours, known) for one in spec[kind]]
        for kind in _CONTAINERS
        if spec.get(kind)
    }
    return {**spec, **containers}


def _of_group(outline: Outline, member: Member) -> list[Variable]:
    if member.group is None:
        return []
    members = (outline.cliques[name] for name in member.group.clique_names)
    pods = sum(clique.spec.replicas for clique in members)
    return [
        _label("GROVE_PCSG_NAME", SCALING_GROUP),
        _label("GROVE_PCSG_INDEX", SCALING_GROUP_REPLICA_INDEX),
        _value("GROVE_PCSG_TEMPLATE_NUM_PODS", str(pods)),
        _label("GROVE_PCSG_POD_INDEX", SCALING_GROUP_POD_INDEX),
    ]


def _container(
    container: dict[str, Any], ours: Sequence[Variable], known: set[str]
) -> dict[str, Any]:
    theirs = [one for one in container.get("env") or () if one.get("name") not in known]
    return {**container, "env": [*ours, *theirs]}


def _value(name: str, value: str) -> Variable:
    return {"name": name, "value": value}


def _label(name: str, label: str) -> Variable:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{label}']"}}}
