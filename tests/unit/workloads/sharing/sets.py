# SPDX-License-Identifier: Apache-2.0
"""A set that shares claims at every level, with templates of its own and of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tests.unit.workloads.sets import a_clique, a_group, a_set, a_set_body
from trellis.api.core.resourceclaim import ResourceClaimTemplate
from trellis.api.meta import Key

if TYPE_CHECKING:
    from trellis.api.grove.podcliqueset import PodCliqueSet

Json = dict[str, Any]

INLINE = tuple(f"int-{number}" for number in range(1, 7))


def shared(name: str, scope: str, **more: Any) -> Json:
    return {"name": name, "scope": scope, **more}


def for_all(name: str, **more: Any) -> Json:
    return shared(name, "AllReplicas", **more)


def for_each(name: str, **more: Any) -> Json:
    return shared(name, "PerReplica", **more)


def a_spec(device_class: str, *more: Json) -> Json:
    """What a ResourceClaimTemplate says, wherever it is. `more` are requests beside the first."""
    request = {"name": "dev", "exactly": {"deviceClassName": device_class}}
    return {"spec": {"devices": {"requests": [request, *more]}}}


_SHARING: Json = {
    "resourceClaimTemplates": [
        {"name": name, "templateSpec": a_spec(f"class-{name}")} for name in INLINE
    ],
    "resourceSharing": [
        for_all("int-1"),
        for_each("ext"),
        for_each("int-2", filter={"childCliqueNames": ["alone"]}),
        for_all("int-3", filter={"childScalingGroupNames": ["pd"]}),
    ],
}
_CLIQUES = (
    a_clique("alone", replicas=1)
    | {"resourceSharing": [for_each("int-4"), for_all("far", namespace="other")]},
    a_clique("worker") | {"resourceSharing": [for_all("int-5")]},
    a_clique("helper"),
)
_GROUP = a_group(
    "pd",
    "worker",
    "helper",
    replicas=2,
    resourceSharing=[
        for_all("int-2"),
        for_each("int-3"),
        for_all("int-6", filter={"childCliqueNames": ["worker"]}),
    ],
)


def a_sharing_body(replicas: int = 1) -> Json:
    return a_set_body("rs", *_CLIQUES, groups=(_GROUP,), replicas=replicas, **_SHARING)


def a_sharing_set(replicas: int = 1) -> PodCliqueSet:
    return a_set("rs", *_CLIQUES, groups=(_GROUP,), replicas=replicas, **_SHARING)


def a_template(name: str, namespace: str = "default", **metadata: Any) -> ResourceClaimTemplate:
    """A ResourceClaimTemplate object. `metadata` is what it gives to its claims."""
    body = {
        "metadata": {"name": name, "namespace": namespace},
        "spec": a_spec(f"class-{name}") | ({"metadata": metadata} if metadata else {}),
    }
    return msgspec.json.decode(msgspec.json.encode(body), type=ResourceClaimTemplate)


EXTERNAL = {
    Key("default", "ext"): a_template("ext"),
    Key("other", "far"): a_template("far", "other"),
}
