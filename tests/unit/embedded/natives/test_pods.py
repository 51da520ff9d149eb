# SPDX-License-Identifier: Apache-2.0
"""Pods after their creation: status, subresources, how long they stay, what is warned of."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.builders import IMAGE, pod
from tests.conformance.natives import DEPLOYMENT, JOB, POD, POD_TEMPLATE
from tests.unit.embedded.natives.desk import PROBE, Desk
from trellis.embedded.copying import copied
from trellis.embedded.natives import strategy_of
from trellis.embedded.natives.pod.deletion import grace_of_pod
from trellis.embedded.natives.pod.status import quality
from trellis.embedded.patches import merge_patch
from trellis.embedded.refusals import Refusal


def _pod(spec: dict[str, Any] | None = None) -> dict[str, Any]:
    made = Desk().create(POD, pod("a", spec))
    made["metadata"]["resourceVersion"] = "1"
    return made


def _status(old: dict[str, Any], **status: Any) -> dict[str, Any]:
    return Desk().change(POD, old, merge_patch(old, {"status": status}), "status")


@pytest.mark.parametrize(
    ("spec", "phase", "asked", "seconds"),
    [
        pytest.param({}, "Running", 100, 0, id="without a node"),
        pytest.param({"nodeName": "n"}, "Succeeded", 100, 0, id="ended well"),
        pytest.param({"nodeName": "n"}, "Failed", None, 0, id="ended badly"),
        pytest.param({"nodeName": "n"}, "Running", None, 30, id="its own"),
        pytest.param({"nodeName": "n"}, "Running", 7, 7, id="as asked"),
        pytest.param({"nodeName": "n"}, "Running", 0, 0, id="none, as asked"),
        pytest.param({"nodeName": "n"}, "Running", -5, 1, id="negative is one"),
    ],
)
def test_a_running_pod_gets_time_to_end(
    spec: dict[str, Any], phase: str, asked: int | None, seconds: int
) -> None:
    made = _pod(spec)
    made["status"]["phase"] = phase
    assert grace_of_pod(made, asked) == seconds


def test_a_write_of_the_status_takes_metadata_but_no_spec() -> None:
    old = _pod()
    change = {
        "metadata": {"labels": {"a": "b"}, "ownerReferences": []},
        "spec": {"activeDeadlineSeconds": 5},
        "status": {"phase": "Running"},
    }
    new = Desk().change(POD, old, merge_patch(old, change), "status")
    assert new["spec"] == old["spec"]
    assert new["metadata"]["labels"] == {"a": "b"}
    assert new["metadata"]["generation"] == 1
    assert new["status"]["phase"] == "Running"
    assert new["status"]["qosClass"] == "BestEffort"


def test_a_write_of_the_pod_leaves_its_status() -> None:
    old = _pod()
    new = Desk().change(POD, old, merge_patch(old, {"status": {"phase": "Failed"}}))
    assert new["status"] == old["status"]
    assert new["metadata"]["generation"] == 1


def test_a_writer_that_does_not_know_what_was_observed_does_not_forget_it() -> None:
    seen = {"type": "Ready", "status": "False", "observedGeneration": 3}
    old = _status(_pod(), observedGeneration=3, conditions=[seen])
    new = _status(old, observedGeneration=None, conditions=[{"type": "Ready", "status": "True"}])
    assert new["status"]["observedGeneration"] == 3
    assert new["status"]["conditions"][0]["observedGeneration"] == 3


def test_a_container_that_ended_for_good_does_not_run_again() -> None:
    ended = {"name": "app", "state": {"terminated": {"exitCode": 0}}}
    old = _status(_pod({"restartPolicy": "OnFailure"}), containerStatuses=[ended])
    with pytest.raises(Refusal, match="may not be transitioned to non-terminated state"):
        _status(old, containerStatuses=[{"name": "app", "state": {"running": {}}}])


def test_a_container_that_failed_may_be_started_again() -> None:
    ended = {"name": "app", "state": {"terminated": {"exitCode": 1}}}
    old = _status(_pod({"restartPolicy": "OnFailure"}), containerStatuses=[ended])
    _status(old, containerStatuses=[{"name": "app", "state": {"running": {}}}])


def test_a_nomination_ends_with_the_binding() -> None:
    with pytest.raises(Refusal, match="may not be set on pods that are already bound to a node"):
        _status(_pod({"nodeName": "n"}), nominatedNodeName="m")


def test_only_ephemeral_containers_come_by_their_own_way() -> None:
    old = _pod()
    debug = {"name": "debug", "image": IMAGE, "targetContainerName": "app"}
    change = {"metadata": {"labels": {"a": "b"}}, "spec": {"ephemeralContainers": [debug]}}
    new = Desk().change(POD, old, merge_patch(old, change), "ephemeralcontainers")
    assert [each["name"] for each in new["spec"]["ephemeralContainers"]] == ["debug"]
    assert "labels" not in new["metadata"]
    assert new["metadata"]["generation"] == 2
    gone = merge_patch(new, {"spec": {"ephemeralContainers": None}})
    with pytest.raises(Refusal, match='existing ephemeral containers "debug" may not be removed'):
        Desk().change(POD, new, gone, "ephemeralcontainers")


def test_a_resize_changes_cpu_and_memory_alone() -> None:
    old = _pod({"containers": [_sized(cpu="1")]})
    new = copied(old)
    new["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2"}}
    new["spec"]["containers"][0]["image"] = "other"
    resized = Desk().change(POD, old, new, "resize")
    assert resized["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2"}
    assert resized["spec"]["containers"][0]["image"] == IMAGE
    new["spec"]["containers"][0]["resources"] = {"limits": {"example.com/gpu": "1"}}
    with pytest.raises(Refusal, match="only cpu and memory resources are mutable"):
        Desk().change(POD, old, new, "resize")


def _sized(**requests: str) -> dict[str, Any]:
    return {"name": "app", "image": IMAGE, "resources": {"requests": requests}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({"containers": [{}]}, "BestEffort", id="nothing"),
        pytest.param(
            {"containers": [{"resources": {"requests": {"cpu": "0"}}}]}, "BestEffort", id="zero"
        ),
        pytest.param({"containers": [_sized(cpu="1")]}, "Burstable", id="a request"),
        pytest.param({"containers": [_sized(**{"a.b/gpu": "1"})]}, "BestEffort", id="not compute"),
        pytest.param(
            {
                "resources": {
                    "limits": {"cpu": "1", "memory": "1"},
                    "requests": {"cpu": "1", "memory": "1"},
                }
            },
            "Guaranteed",
            id="as a whole",
        ),
    ],
)
def test_quality_of_service_follows_from_resources(spec: dict[str, Any], expected: str) -> None:
    assert quality(spec) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(
            {
                "containers": [
                    {"name": "app", "image": IMAGE, "env": [{"name": "A"}, {"name": "A"}]}
                ]
            },
            'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped '
            "when using apply",
            id="a variable twice",
        ),
        pytest.param(
            {"nodeSelector": {"beta.kubernetes.io/os": "linux"}},
            "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "
            '"kubernetes.io/os" instead',
            id="an old label",
        ),
        pytest.param(
            {
                "containers": [
                    {"name": name, "image": IMAGE, "ports": [{"containerPort": 80, "name": "web"}]}
                    for name in ("a", "b")
                ]
            },
            'spec.containers[1].ports[0]: duplicate port name "web" with '
            "spec.containers[0].ports[0], services and probes that select ports by name "
            "will use spec.containers[0].ports[0]",
            id="a port's name twice",
        ),
    ],
)
def test_what_is_odd_is_warned_of(spec: dict[str, Any], expected: str) -> None:
    assert expected in strategy_of("", "Pod").warnings(_pod(spec), None)


def test_a_plain_pod_is_not_warned_of_and_a_changed_one_never_is() -> None:
    strategy, plain = strategy_of("", "Pod"), _pod()
    assert strategy.warnings(plain, None) == []
    named = copied(plain)
    named["metadata"]["name"] = "a.b"
    assert len(strategy.warnings(named, None)) == 1
    assert strategy.warnings(named, plain) == []


@pytest.mark.parametrize("native", [DEPLOYMENT, JOB, POD_TEMPLATE], ids=lambda each: each.kind)
def test_templates_are_warned_of_when_they_change(native: Any) -> None:
    strategy = strategy_of(native.version.rpartition("/")[0], native.kind)
    made = Desk().create(native, native.new(PROBE))
    assert strategy.warnings(made, None) == []
    odd = copied(made)
    template = odd["template"] if native is POD_TEMPLATE else odd["spec"]["template"]
    template["spec"]["topologySpreadConstraints"] = [{"topologyKey": "zone"}]
    assert len(strategy.warnings(odd, made)) == 1
    assert strategy.warnings(odd, odd) == []
