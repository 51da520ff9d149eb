# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.builders import pod
from tests.conformance.natives import POD
from tests.unit.embedded.natives.desk import NOW, UID, Desk
from trellis.embedded.natives.pod.eviction import check_eviction, delete_options, evict
from trellis.embedded.refusals import Refusal

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
UNREADY = {"phase": "Running"}


def _pod(status: dict[str, Any] = READY, **metadata: Any) -> dict[str, Any]:
    made = Desk().create(POD, pod("a", {"nodeName": "n1"}, labels={"app": "a"}))
    made["metadata"] |= {"resourceVersion": "7", **metadata}
    made["status"] |= status
    return made


def _budget(name: str = "budget", policy: str | None = None, **status: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"selector": {"matchLabels": {"app": "a"}}, "minAvailable": 1}
    if policy:
        spec["unhealthyPodEvictionPolicy"] = policy
    seen = {"observedGeneration": 1, "disruptionsAllowed": 0, **status}
    return {"metadata": {"name": name, "generation": 1}, "spec": spec, "status": seen}


def test_without_a_budget_the_pod_is_marked_and_deleted() -> None:
    decision = evict(_pod(), [], {"gracePeriodSeconds": 7}, NOW)
    assert decision.budget is None
    assert decision.options == {"gracePeriodSeconds": 7}
    assert decision.pod["status"]["conditions"][-1] == {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
        "lastProbeTime": None,
        "lastTransitionTime": NOW,
    }


def test_a_budget_of_other_pods_has_no_say() -> None:
    other = _budget()
    other["spec"]["selector"] = {"matchLabels": {"app": "b"}}
    assert evict(_pod(), [other], {}, NOW).budget is None


def test_an_eviction_that_a_budget_allows_is_counted_in_it() -> None:
    budget = _budget(disruptionsAllowed=1, currentHealthy=2, desiredHealthy=1)
    counted = evict(_pod(), [budget], {}, NOW).budget
    assert counted is not None
    assert counted["status"]["disruptionsAllowed"] == 0
    assert counted["status"]["disruptedPods"] == {"a": NOW}
    assert counted["status"]["conditions"] == [
        {
            "type": "DisruptionAllowed",
            "status": "False",
            "reason": "InsufficientPods",
            "message": "",
            "observedGeneration": 1,
            "lastTransitionTime": NOW,
        }
    ]
    assert budget["status"]["disruptionsAllowed"] == 1


def test_more_disruptions_left_leave_the_condition_alone() -> None:
    counted = evict(_pod(), [_budget(disruptionsAllowed=2)], {}, NOW).budget
    assert counted is not None
    assert "conditions" not in counted["status"]


@pytest.mark.parametrize(
    ("status", "metadata"),
    [
        pytest.param({"phase": "Succeeded"}, {}, id="finished"),
        pytest.param({"phase": "Failed"}, {}, id="failed"),
        pytest.param({"phase": "Pending"}, {}, id="pending"),
        pytest.param(READY, {"deletionTimestamp": NOW}, id="going already"),
    ],
)
def test_what_does_not_run_is_evicted_whatever_its_budget_says(
    status: dict[str, Any], metadata: dict[str, Any]
) -> None:
    assert evict(_pod(status, **metadata), [_budget()], {}, NOW).budget is None


@pytest.mark.parametrize(
    "budget",
    [
        pytest.param(_budget(policy="AlwaysAllow"), id="always allowed"),
        pytest.param(_budget(currentHealthy=2, desiredHealthy=2), id="enough others"),
    ],
)
def test_a_pod_that_is_not_ready_may_go(budget: dict[str, Any]) -> None:
    assert evict(_pod(UNREADY), [budget], {}, NOW).budget is None


@pytest.mark.parametrize(
    ("status", "budget", "cause", "retry"),
    [
        pytest.param(
            UNREADY,
            _budget(currentHealthy=0, desiredHealthy=1),
            "The disruption budget budget needs 1 healthy pods and has 0 currently",
            None,
            id="too few healthy",
        ),
        pytest.param(
            READY,
            _budget(currentHealthy=2, desiredHealthy=1),
            "The disruption budget budget does not allow evicting pods currently",
            None,
            id="used up",
        ),
        pytest.param(
            READY,
            _budget(observedGeneration=0, disruptionsAllowed=5),
            "The disruption budget budget is still being processed by the server.",
            10,
            id="not looked at yet",
        ),
    ],
)
def test_an_eviction_that_a_budget_forbids_is_429(
    status: dict[str, Any], budget: dict[str, Any], cause: str, retry: int | None
) -> None:
    with pytest.raises(Refusal) as refused:
        evict(_pod(status), [budget], {}, NOW)
    assert (refused.value.code, refused.value.reason) == (429, "TooManyRequests")
    details = refused.value.details or {}
    assert details["causes"] == [{"reason": "DisruptionBudget", "message": cause}]
    assert details.get("retryAfterSeconds") == retry
    assert refused.value.headers == ({"Retry-After": str(retry)} if retry else {})


def test_two_budgets_are_one_too_many() -> None:
    with pytest.raises(Refusal) as refused:
        evict(_pod(), [_budget("one"), _budget("two")], {}, NOW)
    assert (refused.value.code, refused.value.reason) == (500, "")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        pytest.param(
            {"uid": "other"}, f"(other) does not match the UID in record ({UID})", id="uid"
        ),
        pytest.param(
            {"resourceVersion": "1"},
            "(1) does not match the ResourceVersion in record (7)",
            id="version",
        ),
    ],
)
def test_preconditions_are_heeded(wanted: dict[str, str], said: str) -> None:
    with pytest.raises(Refusal) as refused:
        evict(_pod(), [], {"preconditions": wanted}, NOW)
    assert refused.value.details == {"name": "a", "kind": "Pod"}
    assert said in refused.value.message


def test_a_dry_run_of_the_request_is_that_of_the_deletion() -> None:
    assert delete_options({}, ["All"]) == {"dryRun": ["All"]}
    own = {"deleteOptions": {"dryRun": ["All"], "gracePeriodSeconds": 1}}
    assert delete_options(own, []) == own["deleteOptions"]


def test_an_eviction_in_the_name_of_another_pod_is_refused() -> None:
    check_eviction({"metadata": {"name": "a"}}, "a")
    with pytest.raises(Refusal, match="name in URL does not match name in Eviction object"):
        check_eviction({}, "a")
