# SPDX-License-Identifier: Apache-2.0
"""What of a stored set may change. The schema refuses most of it first; the webhook does alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.workloads.admission.builders import a_review, causes, defaulted, fields
from tests.unit.workloads.admission.corpus import a_clique, a_set, changed
from trellis.api.config.types import SchedulerProfile, Schedulers, Topology
from trellis.webhooks.verdict import Allowed, Verdict
from trellis.workloads.admission.podcliqueset import validating
from trellis.workloads.admission.policy import Policy

CLIQUE, GROUP = "/spec/template/cliques/0", "/spec/template/podCliqueScalingGroups/0"
OLD = defaulted(a_set())
HANDLE = validating(Policy(fabric=True, topology=Topology(enabled=True)))
SHARED = [{"name": "a", "scope": "AllReplicas"}]


def updated(new: dict[str, Any], old: dict[str, Any] = OLD) -> Verdict:
    return HANDLE(a_review("UPDATE", new, old))


@pytest.mark.parametrize(
    ("at", "field"),
    [
        (f"{CLIQUE}/spec/roleName", "spec.template.cliques[0].spec.roleName"),
        (f"{CLIQUE}/spec/minAvailable", "spec.template.cliques[0].spec.minAvailable"),
        (f"{CLIQUE}/spec/startsAfter", "spec.template.cliques[0].spec.startsAfter"),
        (f"{CLIQUE}/resourceSharing", "spec.template.cliques[0].resourceSharing"),
        (f"{GROUP}/minAvailable", "spec.template.podCliqueScalingGroups[0].minAvailable"),
        (f"{GROUP}/cliqueNames", "spec.template.podCliqueScalingGroups[0].cliqueNames"),
        (f"{GROUP}/resourceSharing", "spec.template.podCliqueScalingGroups[0].resourceSharing"),
        ("/spec/template/cliqueStartupType", "spec.template.cliqueStartupType"),
        ("/spec/template/resourceSharing", "spec.template.resourceSharing"),
        ("/spec/template/topologyConstraint", "spec.template.topologyConstraint"),
        (
            f"{GROUP}/topologyConstraint",
            "spec.template.podCliqueScalingGroups[0].topologyConstraint",
        ),
        (f"{CLIQUE}/topologyConstraint", "spec.template.cliques[0].topologyConstraint"),
    ],
)
def test_a_field_that_must_stay_is_said_to_be_immutable(at: str, field: str) -> None:
    values: dict[str, Any] = {
        "roleName": "chief",
        "minAvailable": 2,
        "startsAfter": ["worker"],
        "cliqueNames": ["helper", "worker"],
        "resourceSharing": SHARED,
        "cliqueStartupType": "CliqueStartupTypeInOrder",
        "topologyConstraint": {"packDomain": "rack"},
    }
    found = dict(causes(updated(changed(OLD, {at: values[at.rpartition("/")[2]]}, []))))
    assert "field is immutable; delete the PodCliqueSet and make it anew" in found[field]


KAI = Schedulers(
    profiles=(SchedulerProfile(name="kai-scheduler"),), default_profile_name="kai-scheduler"
)
SCHEDULERS = [f"spec.template.cliques[{n}].spec.podSpec.schedulerName" for n in range(3)]


def scheduled_by(name: str | None) -> dict[str, Any]:
    at = {f"/spec/template/cliques/{n}/spec/podSpec/schedulerName": name for n in range(3)}
    queue = {"/metadata/labels": {"kai.scheduler/queue": "q"}}
    named = {place: value for place, value in at.items() if value}
    found: dict[str, Any] = changed(OLD, queue | named, [])
    return found


@pytest.mark.parametrize(
    ("was", "now", "schedulers", "refused"),
    [
        pytest.param(None, "default-scheduler", Schedulers(), [], id="the default is named"),
        pytest.param("default-scheduler", None, Schedulers(), [], id="the default is left out"),
        pytest.param(None, "kai-scheduler", KAI, [], id="the operator's default is named"),
        pytest.param(None, "default-scheduler", KAI, SCHEDULERS, id="another than the default"),
        pytest.param("kai-scheduler", "default-scheduler", KAI, SCHEDULERS, id="another"),
        pytest.param("default-scheduler", None, KAI, SCHEDULERS, id="the default for another"),
    ],
)
def test_the_scheduler_of_all_pods_stays(
    was: str | None, now: str | None, schedulers: Schedulers, refused: list[str]
) -> None:
    handle = validating(Policy(schedulers=schedulers))
    review = a_review("UPDATE", scheduled_by(now), scheduled_by(was))
    assert fields(handle(review)) == refused


def test_claim_templates_are_compared_by_what_they_say() -> None:
    request = {"name": "a", "exactly": {"deviceClassName": "b"}}
    spec = {"spec": {"devices": {"requests": [request]}}}
    old = changed(
        OLD, {"/spec/template/resourceClaimTemplates": [{"name": "t", "templateSpec": spec}]}, []
    )
    other = {"devices": {"requests": [dict(reversed(request.items()))]}}
    template = [{"templateSpec": {"spec": other}, "name": "t"}]
    new = changed(old, {"/spec/template/resourceClaimTemplates": template, "/spec/replicas": 2}, [])
    assert fields(updated(new, old)) == []
    request["name"] = "c"
    assert fields(
        updated(
            new, changed(old, {"/spec/template/resourceClaimTemplates/0/templateSpec": spec}, [])
        )
    ) == ["spec.template.resourceClaimTemplates"]


@pytest.mark.parametrize(
    ("at", "drop", "words"),
    [
        pytest.param(
            {"/spec/template/cliques/3": a_clique("new", minAvailable=1)},
            [],
            "not allowed to change clique composition: new 'new' is not allowed",
            id="a clique more",
        ),
        pytest.param(
            {},
            [CLIQUE],
            "not allowed to change clique composition: 'leader' must stay",
            id="a clique less",
        ),
        pytest.param(
            {f"{GROUP}/name": "band"},
            [],
            "not allowed to change scaling group composition: new 'band' is not allowed, "
            "'gang' must stay",
            id="a group renamed",
        ),
    ],
)
def test_composition(at: dict[str, Any], drop: list[str], words: str) -> None:
    said = [message for _, message in causes(updated(changed(OLD, at, drop)))]
    assert any(message.startswith(f"Forbidden: {words}") for message in said), said


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        ("CliqueStartupTypeAnyOrder", []),
        ("CliqueStartupTypeInOrder", ["spec.template.cliques"]),
        ("CliqueStartupTypeExplicit", ["spec.template.cliques"]),
    ],
)
def test_the_order_of_cliques_stays_where_it_means_something(kind: str, want: list[str]) -> None:
    old = changed(OLD, {"/spec/template/cliqueStartupType": kind}, [])
    new = changed(old, {}, [])
    new["spec"]["template"]["cliques"].reverse()
    found = causes(updated(new, old))
    assert [field for field, _ in found] == want
    assert all("clique order cannot be changed when StartupType" in said for _, said in found)


@pytest.mark.parametrize(
    ("old", "new", "allowed"),
    [
        pytest.param({"packDomain": "rack"}, {"pack": {"required": "rack"}}, True, id="new form"),
        pytest.param({"pack": {"required": "rack"}}, {"packDomain": "rack"}, True, id="old form"),
        pytest.param(
            {"packDomain": "rack"}, {"packDomain": "rack", "topologyName": "x"}, True, id="named"
        ),
        pytest.param(
            {"packDomain": "rack", "topologyName": "x"},
            {"packDomain": "rack", "topologyName": "y"},
            False,
            id="renamed",
        ),
        pytest.param({"packDomain": "rack"}, {"packDomain": "host"}, False, id="another level"),
        pytest.param(
            {"packDomain": "rack"},
            {"packDomain": "rack", "pack": {"preferred": "host"}},
            False,
            id="a preference more",
        ),
        pytest.param({"packDomain": "rack"}, None, False, id="left out"),
    ],
)
def test_a_topology_constraint_keeps_its_meaning(old: Any, new: Any, allowed: bool) -> None:
    at = "/spec/template/topologyConstraint"
    before = changed(OLD, {at: old}, [])
    after = changed(before, {at: new, "/spec/replicas": 2}, [] if new else [at])
    assert isinstance(updated(after, before), Allowed) is allowed


KEY = "grove.io/mnnvl-group"


@pytest.mark.parametrize(
    ("place", "field"),
    [
        ("/metadata/annotations", f"metadata.annotations[{KEY}]"),
        (f"{GROUP}/annotations", f"spec.template.podCliqueScalingGroups[0].annotations[{KEY}]"),
        (f"{CLIQUE}/annotations", f"spec.template.cliques[0].annotations[{KEY}]"),
    ],
)
def test_the_fabric_group_stays_at_every_layer(place: str, field: str) -> None:
    with_group = changed(OLD, {place: {KEY: "a"}}, [])
    for new in (with_group, changed(OLD, {place: {KEY: "b"}}, []), OLD):
        for old in (OLD, with_group):
            if new is not old:
                assert fields(updated(new, old)) == [field]


@pytest.mark.parametrize(
    "at",
    [
        pytest.param({"/spec/replicas": 5}, id="replicas"),
        pytest.param({f"{CLIQUE}/spec/podSpec/containers/0/image": "b"}, id="pods"),
        pytest.param({f"{CLIQUE}/labels": {"a": "b"}}, id="labels"),
        pytest.param({"/spec/template/priorityClassName": "high"}, id="the priority class"),
        pytest.param({"/spec/template/terminationDelay": "1m"}, id="the delay"),
        pytest.param({"/spec/updateStrategy": {"type": "OnDelete"}}, id="the strategy"),
        pytest.param({f"{GROUP}/scaleConfig": {"minReplicas": 1, "maxReplicas": 3}}, id="scaling"),
        pytest.param({f"{GROUP}/replicas": 3}, id="the replicas of a group"),
        pytest.param(
            {"/spec/template/headlessServiceConfig": {"publishNotReadyAddresses": False}},
            id="the Service",
        ),
    ],
)
def test_what_may_change_may(at: dict[str, Any]) -> None:
    assert isinstance(updated(changed(OLD, at, [])), Allowed)


def test_a_minimum_may_be_set_where_none_was_stored() -> None:
    old = changed(OLD, {}, [f"{CLIQUE}/spec/minAvailable"])
    assert isinstance(updated(OLD, old), Allowed)
