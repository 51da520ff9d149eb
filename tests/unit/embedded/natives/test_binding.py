# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.builders import pod
from tests.conformance.natives import POD
from tests.unit.embedded.natives.desk import NOW, PROBE, Desk
from trellis.embedded.copying import copied
from trellis.embedded.natives.pod.binding import bind, check_binding
from trellis.embedded.refusals import Refusal

NODE = {"kind": "Node", "name": "n1"}


def _pod(**changes: Any) -> dict[str, Any]:
    made = Desk().create(POD, pod("a", changes.pop("spec", None)))
    made["metadata"] |= {"resourceVersion": "7", **changes.pop("metadata", {})}
    made["status"] |= changes.pop("status", {})
    return made


def _binding(**changes: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a"}, "target": NODE, **changes}


def test_a_bound_pod_has_a_node_and_is_scheduled() -> None:
    before = _pod(status={"nominatedNodeName": "n0"})
    kept = copied(before)
    bound = bind(before, _binding(), NOW)
    assert bound["spec"]["nodeName"] == "n1"
    assert "nominatedNodeName" not in bound["status"]
    assert bound["status"]["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": NOW,
        }
    ]
    assert bound["metadata"]["generation"] == 1
    assert before == kept


def test_a_binding_replaces_what_said_unschedulable() -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    bound = bind(_pod(status={"conditions": [condition]}), _binding(), NOW)
    assert [each["status"] for each in bound["status"]["conditions"]] == ["True"]
    assert "reason" not in bound["status"]["conditions"][0]


def test_labels_and_annotations_of_a_binding_go_over_those_of_the_pod() -> None:
    before = _pod(metadata={"labels": {"l": "old", "keep": "1"}})
    given = {"name": "a", "labels": {"l": "new"}, "annotations": {"x": "y"}}
    bound = bind(before, _binding(metadata=given), NOW)
    assert bound["metadata"]["labels"] == {"l": "new", "keep": "1"}
    assert bound["metadata"]["annotations"] == {"x": "y"}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        pytest.param({"spec": {"nodeName": "n0"}}, 'already assigned to node "n0"', id="bound"),
        pytest.param(
            {"spec": {"schedulingGates": [{"name": "a.b/c"}]}},
            "pod a has non-empty .spec.schedulingGates",
            id="gated",
        ),
        pytest.param(
            {"metadata": {"deletionTimestamp": NOW}},
            "pod a is being deleted, cannot be assigned to a host",
            id="going",
        ),
    ],
)
def test_a_pod_that_cannot_be_bound_is_a_conflict(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(Refusal) as refused:
        bind(_pod(**changes), _binding(), NOW)
    assert (refused.value.code, refused.value.reason) == (409, "Conflict")
    assert refused.value.message.startswith('Operation cannot be fulfilled on pods/binding "a": ')
    assert why in refused.value.message


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        pytest.param({"uid": "other"}, "UID in precondition: other", id="uid"),
        pytest.param({"resourceVersion": "1"}, "ResourceVersion in precondition: 1", id="version"),
    ],
)
def test_a_binding_for_another_pod_of_that_name_is_a_conflict(
    metadata: dict[str, str], said: str
) -> None:
    with pytest.raises(Refusal) as refused:
        bind(_pod(), _binding(metadata={"name": "a", **metadata}), NOW)
    assert refused.value.code == 409
    assert f"Key: /registry/pods/{PROBE.ns}/a" in refused.value.message
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("binding", "code", "message"),
    [
        pytest.param(
            _binding(target={"kind": "Node"}), 500, "target.name: Required value", id="no name"
        ),
        pytest.param(_binding(target=None), 500, "target.name: Required value", id="no target"),
        pytest.param(
            _binding(target={"kind": "Pod", "name": "a"}),
            500,
            'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
            id="no node",
        ),
        pytest.param(
            _binding(metadata={"name": "b"}),
            400,
            "name in URL does not match name in Binding object",
            id="another name",
        ),
    ],
)
def test_a_malformed_binding_is_refused(binding: dict[str, Any], code: int, message: str) -> None:
    with pytest.raises(Refusal) as refused:
        check_binding(binding, "a")
    assert (refused.value.code, refused.value.message) == (code, message)


def test_a_target_may_leave_its_kind_out() -> None:
    check_binding(_binding(target={"name": "Not A Name"}), "a")
