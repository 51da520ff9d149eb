# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec import inspect

from trellis.api.conditions import Condition
from trellis.api.core.autoscaler import HorizontalPodAutoscaler
from trellis.api.core.event import Event
from trellis.api.core.job import Job
from trellis.api.core.node import Node
from trellis.api.core.pod import Container, Pod, PodSpec, Resources
from trellis.api.core.priorityclass import PriorityClass
from trellis.api.core.rbac import Role, RoleBinding
from trellis.api.core.requests import effective
from trellis.api.core.resourceclaim import ResourceClaim, ResourceClaimTemplate
from trellis.api.core.service import Service
from trellis.api.core.serviceaccount import ServiceAccount
from trellis.api.meta import Object, encode
from trellis.api.quantity import UNIT
from trellis.api.schema.builtin import data

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS: list[type[Object]] = [Pod, Node, Service, Job, HorizontalPodAutoscaler, ResourceClaim]
KINDS += [ResourceClaimTemplate, Event, PriorityClass, ServiceAccount, Role, RoleBinding]

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "llm-0-router-1-x2zb9",
        "namespace": "team",
        "uid": "u-1",
        "labels": {"grove.io/podclique": "llm-0-router"},
        "creationTimestamp": "2026-03-01T12:00:00Z",
        "managedFields": [{"manager": "trellis"}],
    },
    "spec": {
        "nodeName": "n-1",
        "hostname": "llm-0-router-1",
        "schedulingGates": [{"name": "grove.io/podgang-pending-creation"}],
        "containers": [
            {"name": "main", "image": "a", "resources": {"requests": {"nvidia.com/gpu": 8}}}
        ],
        "volumes": [{"name": "unread"}],
    },
    "status": {
        "phase": "Running",
        "conditions": [
            {"type": "Initialized", "status": "True", "lastTransitionTime": None},
            {"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": "long"},
            {"type": "PodScheduled", "status": "True"},
            {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"},
        ],
        "containerStatuses": [
            {"name": "main", "started": True, "ready": False, "state": {"running": {}}},
            {
                "name": "restarted",
                "started": None,
                "ready": True,
                "state": {"running": {}},
                "lastState": {"terminated": {"exitCode": 137}},
            },
            {"name": "ended", "ready": False, "state": {"terminated": {"exitCode": 0}}},
        ],
    },
}


def decoded(pod: dict[str, Any]) -> Pod:
    return msgspec.json.decode(msgspec.json.encode(pod), type=Pod)


def test_a_pod_is_what_the_design_says_and_no_more() -> None:
    pod = decoded(POD)
    assert pod.metadata.name == "llm-0-router-1-x2zb9"
    assert (pod.spec.node_name, pod.spec.hostname) == ("n-1", "llm-0-router-1")
    assert pod.gates == ("grove.io/podgang-pending-creation",)
    assert [(one.type, one.status, one.reason) for one in pod.status.conditions] == [
        ("Ready", "False", "ContainersNotReady"),
        ("PodScheduled", "True", ""),
        ("DisruptionTarget", "True", "PreemptionByScheduler"),
    ]
    assert [one.started for one in pod.status.container_statuses] == [True, None, None]
    assert pod.last_exit_codes == (137, 0)
    for unread in (b"volumes", b"managedFields", b"long", b"Initialized"):
        assert unread not in encode(pod)


def test_a_pod_that_nobody_has_touched_can_be_read() -> None:
    pod = decoded({"metadata": {"name": "a"}})
    assert pod.gates == ()
    assert pod.last_exit_codes == ()
    assert effective(pod.spec) == {}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.resource.kind)
def test_every_slice_has_fields_that_the_server_has(kind: type[Object]) -> None:
    resource = kind.resource
    (definition,) = (
        schema
        for schema in data()["definitions"].values()
        if {"group": resource.group, "version": resource.version, "kind": resource.kind}
        in schema.get("x-kubernetes-group-version-kind", [])
    )
    struct = inspect.type_info(kind)
    assert isinstance(struct, inspect.StructType)
    assert_known(struct, definition)


def assert_known(struct: inspect.StructType, definition: dict[str, Any]) -> None:
    for field in struct.fields:
        name = field.encode_name
        assert name in definition["properties"], f"{struct.cls.__name__}.{name}"
        below = referred(definition["properties"][name])
        for inner in inside(field.type):
            # Conditions are one type to us, whatever a kind calls its own.
            if below is not None and inner.cls is not Condition:
                assert_known(inner, below)


def inside(found: inspect.Type) -> Iterator[inspect.StructType]:
    """The struct that a field is, may be, or is a list of."""
    match found:
        case inspect.StructType():
            yield found
        case inspect.UnionType(types=types):
            for one in types:
                yield from inside(one)
        case inspect.VarTupleType(item_type=item):
            yield from inside(item)


def referred(schema: dict[str, Any]) -> dict[str, Any] | None:
    one = schema.get("items", schema)
    reference = one.get("$ref") or (one.get("allOf") or [{}])[0].get("$ref")
    return data()["definitions"][reference.rpartition("/")[2]] if reference else None


def asking(**amounts: str | int) -> Container:
    return Container(resources=Resources(requests=dict(amounts)))


def sidecar(**amounts: str | int) -> Container:
    return Container(resources=Resources(requests=dict(amounts)), restart_policy="Always")


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param(
            PodSpec(containers=(asking(cpu="500m", gpu=4), asking(cpu=1))),
            {"cpu": 1.5, "gpu": 4},
            id="containers run together",
        ),
        pytest.param(
            PodSpec(
                containers=(asking(cpu=1),), init_containers=(asking(cpu=3), asking(cpu=2, gpu=8))
            ),
            {"cpu": 3, "gpu": 8},
            id="init containers one after another, before",
        ),
        pytest.param(
            PodSpec(containers=(asking(cpu=1),), init_containers=(sidecar(cpu=2),)),
            {"cpu": 3},
            id="a sidecar runs beside",
        ),
        pytest.param(
            PodSpec(
                containers=(asking(cpu=1),),
                init_containers=(asking(cpu=4), sidecar(cpu=2), asking(cpu=3)),
            ),
            {"cpu": 5},
            id="an init container after a sidecar runs beside it",
        ),
        pytest.param(
            PodSpec(containers=(asking(cpu=1),), overhead={"cpu": "250m", "memory": "1Ki"}),
            {"cpu": 1.25, "memory": 1024},
            id="the sandbox comes on top",
        ),
        pytest.param(
            PodSpec(
                containers=(asking(cpu=1, gpu=2),),
                resources=Resources(requests={"cpu": 8}),
                overhead={"cpu": 1},
            ),
            {"cpu": 9, "gpu": 2},
            id="what the pod asks for as a whole goes before its containers",
        ),
    ],
)
def test_what_a_pod_takes_of_a_node(spec: PodSpec, want: dict[str, float]) -> None:
    assert effective(spec) == {name: round(amount * UNIT) for name, amount in want.items()}


def test_a_node_is_ready_when_its_kubelet_says_so() -> None:
    text = b"""{"metadata": {"name": "n"},
      "spec": {"unschedulable": true, "taints": [{"key": "a", "effect": "NoSchedule"}]},
      "status": {"allocatable": {"cpu": "64", "nvidia.com/gpu": "8"},
                 "conditions": [{"type": "Ready", "status": "%s"}]}}"""
    node = msgspec.json.decode(text % b"True", type=Node)
    assert node.is_ready
    assert node.spec.taints[0].effect == "NoSchedule"
    assert not msgspec.json.decode(text % b"Unknown", type=Node).is_ready
