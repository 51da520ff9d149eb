# SPDX-License-Identifier: Apache-2.0
"""Jobs, cron jobs and scales beyond what goldens show."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.natives import DAEMON_SET, DEPLOYMENT, JOB, merged
from tests.unit.embedded.natives.desk import NOW, PROBE, UID, Desk
from trellis.embedded.copying import copied
from trellis.embedded.natives.batch.cronjobs import schedule_problem
from trellis.embedded.natives.scale import get_scale, put_scale
from trellis.embedded.patches import merge_patch
from trellis.embedded.refusals import Refusal


def _job(**spec: Any) -> dict[str, Any]:
    made = Desk().create(JOB, JOB.new(PROBE, {"spec": {"suspend": False, **spec}}))
    made["metadata"]["resourceVersion"] = "1"
    return made


def _conditions(*types: str) -> list[dict[str, str]]:
    return [{"type": each, "status": "True"} for each in types]


def test_a_job_that_has_labels_keeps_just_those() -> None:
    made = Desk().create(JOB, JOB.new(PROBE, labels={"a": "b"}))
    assert made["metadata"]["labels"] == {"a": "b"}


def test_a_job_without_labels_has_those_of_its_pods_with_the_servers_own() -> None:
    template = {"metadata": {"labels": {"x": "y"}}}
    made = Desk().create(JOB, JOB.new(PROBE, {"spec": {"template": template}}))
    labels = made["spec"]["template"]["metadata"]["labels"]
    assert labels["x"] == "y"
    assert labels["batch.kubernetes.io/controller-uid"] == UID
    assert made["metadata"]["labels"] == labels
    assert made["metadata"]["labels"] is not labels


def test_a_started_job_s_template_is_fixed() -> None:
    old = _job()
    change = {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}}
    with pytest.raises(Refusal, match=r"spec\.template: Invalid value: .*field is immutable"):
        Desk().change(JOB, old, merge_patch(old, change))


@pytest.mark.parametrize(
    ("status", "said"),
    [
        pytest.param(
            {"conditions": _conditions("Failed"), "startTime": NOW},
            "cannot set Failed=True condition without the FailureTarget=true condition",
            id="failure without its target",
        ),
        pytest.param(
            {"conditions": _conditions("Failed", "FailureTarget"), "startTime": NOW, "active": 1},
            "active>0 is invalid for finished job",
            id="finished with pods",
        ),
        pytest.param({"completedIndexes": "0"}, "when non-indexed completion mode", id="indexes"),
        pytest.param(
            {"uncountedTerminatedPods": {"failed": ["a", "a"]}}, "Duplicate value", id="twice"
        ),
    ],
)
def test_a_status_that_cannot_be_is_refused(status: dict[str, Any], said: str) -> None:
    old = _job()
    with pytest.raises(Refusal) as refused:
        Desk().change(JOB, old, merge_patch(old, {"status": status}), "status")
    assert said in refused.value.message


def test_a_finished_job_stays_finished() -> None:
    done = {
        "conditions": _conditions("Complete", "SuccessCriteriaMet"),
        "startTime": NOW,
        "completionTime": NOW,
        "succeeded": 1,
    }
    old = _job()
    held = Desk().change(JOB, old, merge_patch(old, {"status": done}), "status")
    with pytest.raises(Refusal, match="cannot disable the terminal Complete=True condition"):
        Desk().change(JOB, held, merged(copied(held), {"status": {"conditions": []}}), "status")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("*/5 0-6,12 1 jan-mar MON", "", id="all forms"),
        pytest.param("@hourly", "", id="a name"),
        pytest.param("@every 1h30m", "", id="a duration"),
        pytest.param("60 * * * *", "end of range (60) above maximum (59): 60", id="too large"),
        pytest.param("* * 0 * *", "beginning of range (0) below minimum (1): 0", id="too small"),
        pytest.param(
            "5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1", id="backwards"
        ),
        pytest.param("1-2-3 * * * *", "too many hyphens: 1-2-3", id="hyphens"),
        pytest.param(
            "x * * * *",
            'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax',
            id="no number",
        ),
        pytest.param("* *", "expected exactly 5 fields, found 2: [* *]", id="too few"),
    ],
)
def test_schedules_are_read_as_the_server_reads_them(text: str, problem: str) -> None:
    assert schedule_problem(text) == problem


def test_a_scale_shows_replicas_and_selector_and_takes_replicas_alone() -> None:
    made = Desk().create(DEPLOYMENT, DEPLOYMENT.new(PROBE, {"spec": {"replicas": 3}}))
    shown = get_scale("apps", "Deployment", made)
    assert shown["spec"] == {"replicas": 3}
    assert shown["status"] == {"replicas": 0, "selector": "app=a"}
    put_scale("apps", "Deployment", made, {"spec": {"replicas": 0}, "status": {"replicas": 9}})
    assert made["spec"]["replicas"] == 0
    assert get_scale("apps", "Deployment", made)["spec"] == {}


def test_a_replication_controller_s_selector_is_a_plain_map() -> None:
    held = {"metadata": {"name": "a"}, "spec": {"selector": {"b": "1", "a": "2"}}}
    assert get_scale("", "ReplicationController", held)["status"]["selector"] == "a=2,b=1"


def test_a_daemon_set_counts_its_templates() -> None:
    old = Desk().create(DAEMON_SET, DAEMON_SET.new(PROBE))
    old["metadata"]["resourceVersion"] = "1"
    key = "deprecated.daemonset.template.generation"
    change = {"spec": {"template": {"metadata": {"labels": {"x": "y"}}}}}
    new = Desk().change(DAEMON_SET, old, merge_patch(old, change))
    assert (old["metadata"]["annotations"][key], new["metadata"]["annotations"][key]) == ("1", "2")
