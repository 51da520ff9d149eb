# SPDX-License-Identifier: Apache-2.0
"""The controller of whole sets at work on an API server, in virtual time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.virtual import run, virtual
from tests.unit.workloads.podcliqueset.making import in_turn, make_gang, make_well, status, the_set
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from tests.unit.workloads.stage import a_stage
from trellis.api.core.pod import Pod
from trellis.api.core.priorityclass import PriorityClass
from trellis.api.core.rbac import Role, RoleBinding
from trellis.api.core.resourceclaim import ResourceClaim, ResourceClaimTemplate
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.labels import PART_OF, SET_FINALIZER
from trellis.api.scheduler.podgang import PodGang
from trellis.kube.errors import Failure, Forbidden, Unreachable
from trellis.workloads.podclique.reconciler import controller as podcliques
from trellis.workloads.podcliqueset.reconciler import controllers
from trellis.workloads.podgang.reconciler import controller as podgangs

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.kube.transport import Request

Json = dict[str, Any]
ROLE = "grove.io:pcs:llm"
NEWER = {"containers": [{"name": "main", "image": "registry.example/app:2"}]}


@virtual
async def test_a_set_from_its_making_to_its_being_well() -> None:
    stage = await a_stage()
    async with stage.operator(controllers):
        await stage.make(PodCliqueSet, a_set_body("llm", a_clique("worker", 2), replicas=2))
        await stage.settle()
        found = await status(stage)
        assert found["observedGeneration"] == 1
        assert (found["replicas"], found["availableReplicas"]) == (2, 0)
        conditions = await stage.conditions(PodCliqueSet, "llm")
        assert conditions["Ready"] == ("False", "ReplicasUnavailable")

        await make_gang(stage, "llm-0", "Running")
        await make_gang(stage, "llm-1", "Starting")
        await make_well(stage)
        await stage.settle(1)
        found = await status(stage)
        assert (found["availableReplicas"], found["updatedReplicas"]) == (2, 2)
        assert found["podGangStatuses"] == [
            {"name": "llm-1", "phase": "Starting"},
            {"name": "llm-0", "phase": "Running"},
        ]
        assert (await stage.conditions(PodCliqueSet, "llm"))["Ready"] == (
            "True",
            "AllReplicasAvailable",
        )
        assert await stage.message(PodCliqueSet, "llm", "Ready") == (
            "2 of 2 replicas are available; gangs: 1 Running, 1 Starting"
        )
        stage.forget()
        await stage.settle(600)
        assert stage.writes() == []
    async with stage.operator(controllers):
        await stage.settle(60)
        assert stage.writes() == []


@virtual
async def test_a_generation_counts_as_observed_when_all_children_bear_it() -> None:
    stage = await a_stage()
    held = [True]

    def hold(request: Request) -> None:
        if held[0] and request.method == "PATCH" and "/podcliques/llm-1-worker" in request.path:
            raise Unreachable("held")

    async with stage.operator(controllers):
        await stage.make(PodCliqueSet, a_set_body("llm", a_clique("worker"), replicas=2))
        await stage.settle()
        stage.watched.before = hold
        newer = a_set_body("llm", a_clique("worker", podSpec=NEWER), replicas=2)
        newer["spec"]["updateStrategy"] = {"type": "OnDelete"}
        await stage.patch(PodCliqueSet, "llm", {"spec": newer["spec"]})
        await stage.settle()
        assert (await status(stage))["observedGeneration"] == 1
        held[0] = False
        await stage.settle(30)
        assert (await status(stage))["observedGeneration"] == 2
        images = [
            one["spec"]["podSpec"]["containers"][0]["image"] for one in await stage.all(PodClique)
        ]
        assert images == ["registry.example/app:2"] * 2


QUIET: Json = {"headlessServiceConfig": {"publishNotReadyAddresses": False}}


def scaled(most: int) -> Json:
    return a_clique("worker", autoScalingConfig={"minReplicas": 1, "maxReplicas": most})


@pytest.mark.parametrize(
    ("newer", "held"),
    [
        pytest.param(a_set_body("llm", scaled(5), **QUIET), "/services/llm-0", id="Service"),
        pytest.param(
            a_set_body("llm", scaled(9)),
            "/horizontalpodautoscalers/llm-0-worker",
            id="HorizontalPodAutoscaler",
        ),
    ],
)
def test_a_generation_is_not_observed_before_what_serves_pods_bears_it(
    newer: Json, held: str
) -> None:
    async def story() -> None:
        stage = await a_stage()

        def refuse(request: Request) -> None:
            if request.method == "PATCH" and request.path.endswith(held):
                raise Forbidden(str(request), Failure(code=403, message="not today"))

        async with stage.operator(controllers):
            await stage.make(PodCliqueSet, a_set_body("llm", scaled(5)))
            await stage.settle()
            assert (await status(stage))["observedGeneration"] == 1
            stage.watched.before = refuse
            await stage.patch(PodCliqueSet, "llm", {"spec": newer["spec"]})
            await stage.settle()
            assert (await status(stage))["observedGeneration"] == 1
            stage.watched.before = lambda _: None
            await stage.settle(60)
            assert (await status(stage))["observedGeneration"] == 2

    run(story())


@virtual
async def test_a_service_that_comes_late_is_told_of_and_waited_for() -> None:
    stage = await a_stage()
    held = asyncio.Event()
    async with stage.operator(controllers):
        await stage.make(PodCliqueSet, a_set_body("llm", scaled(5)))
        await stage.settle()
        stage.watched.until["/services/llm-0"] = held
        newer = a_set_body("llm", scaled(5), **QUIET)
        await stage.patch(PodCliqueSet, "llm", {"spec": newer["spec"]})
        await stage.settle()
        assert (await status(stage))["observedGeneration"] == 1
        assert "waiting for Service llm-0" in await stage.message(PodCliqueSet, "llm", "Ready")
        held.set()
        await stage.settle(1)
        assert (await status(stage))["observedGeneration"] == 2


@virtual
async def test_a_generation_is_not_observed_before_the_members_of_groups_bear_it() -> None:
    stage = await a_stage()
    async with stage.operator(controllers):
        made = a_set_body("llm", a_clique("m"), groups=(a_group("g", "m"),))
        await stage.make(PodCliqueSet, made)
        await stage.settle()
        assert "observedGeneration" not in await status(stage)
        assert "waiting for llm-0-g-0-m" in await stage.message(PodCliqueSet, "llm", "Ready")


@virtual
async def test_a_stream_of_changes_is_few_writes() -> None:
    stage = await a_stage()
    async with stage.operator(controllers):
        await stage.make(PodCliqueSet, a_set_body("llm", a_clique("worker"), replicas=40))
        await stage.settle()
        stage.forget()
        for index in range(40):
            ready = {"readyReplicas": 1, "updatedReplicas": 0, "scheduleGatedReplicas": 0}
            await stage.patch(
                PodClique,
                f"llm-{index}-worker",
                {"status": {**ready, "scheduledReplicas": 1}},
                part="status",
            )
            await stage.settle(0.02)
        await stage.settle(1)
        assert (await status(stage))["availableReplicas"] == 40
        assert set(stage.writes()) == {"PATCH podcliquesets/llm/status"}
        assert len(stage.writes()) <= 4


@virtual
async def test_a_priority_class_that_is_missing_is_told_and_heard_of_when_it_comes() -> None:
    stage = await a_stage()
    async with stage.operator(controllers):
        made = a_set_body("llm", a_clique("worker"), priorityClassName="gold")
        await stage.make(PodCliqueSet, made)
        await stage.settle()
        conditions = await stage.conditions(PodCliqueSet, "llm")
        assert conditions["Stalled"] == ("True", "PriorityClassMissing")
        assert "gold" in await stage.message(PodCliqueSet, "llm", "Stalled")
        assert [reason for reason, _ in await stage.events("llm")].count(
            "PriorityClassMissing"
        ) == 1
        # The PodCliques are there all the same: only pods need the class.
        assert await stage.names(PodClique) == ["llm-0-worker"]

        await stage.make(PriorityClass, {"metadata": {"name": "gold"}, "value": 7})
        await stage.settle(1)
        conditions = await stage.conditions(PodCliqueSet, "llm")
        assert conditions["Stalled"] == ("False", "ReplicasUnavailable")
        assert "lastErrors" not in await status(stage)


CLAIM = {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "g"}}]}}}


@virtual
async def test_shared_claims_follow_the_replicas_of_the_set() -> None:
    stage = await a_stage()
    sharing = [
        {"name": "one", "scope": "AllReplicas"},
        {"name": "each", "scope": "PerReplica"},
    ]
    made = a_set_body(
        "llm",
        replicas=2,
        resourceClaimTemplates=[{"name": "one", "templateSpec": CLAIM}],
        resourceSharing=sharing,
    )
    async with stage.operator(controllers):
        await stage.make(PodCliqueSet, made)
        await stage.settle()
        assert await stage.names(ResourceClaim) == ["llm-all-one"]
        conditions = await stage.conditions(PodCliqueSet, "llm")
        assert conditions["Stalled"] == ("True", "ClaimTemplateMissing")

        template = {"metadata": {"name": "each"}, "spec": CLAIM}
        await stage.make(ResourceClaimTemplate, template)
        await stage.settle(1)
        assert await stage.names(ResourceClaim) == ["llm-0-each", "llm-1-each", "llm-all-one"]
        assert (await stage.conditions(PodCliqueSet, "llm"))["Stalled"][0] == "False"

        await stage.delete(ResourceClaim, "llm-1-each")
        await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 1}})
        await stage.settle()
        assert await stage.names(ResourceClaim) == ["llm-0-each", "llm-all-one"]
        stage.forget()
        await make_well(stage)
        await stage.settle()
        assert stage.writes() == ["PATCH podcliquesets/llm/status"]


@virtual
async def test_groves_finalizer_is_taken_off_a_set_that_goes_and_no_other() -> None:
    stage = await a_stage()
    held = a_set_body("llm")
    held["metadata"]["finalizers"] = [SET_FINALIZER, "example.com/other"]
    async with stage.operator(controllers):
        await stage.make(PodCliqueSet, held)
        await stage.settle()
        assert SET_FINALIZER in (await the_set(stage))["metadata"]["finalizers"]
        await stage.delete(PodCliqueSet, "llm")
        await stage.settle()
        assert (await the_set(stage))["metadata"]["finalizers"] == ["example.com/other"]
        await stage.patch(PodCliqueSet, "llm", {"metadata": {"finalizers": None}})
        await stage.settle()
        assert await stage.find(PodCliqueSet, "llm") is None


@virtual
async def test_nothing_is_left_of_a_set_that_was_deleted() -> None:
    stage = await a_stage()
    async with stage.collector(), stage.operator(controllers):
        await stage.make(PodCliqueSet, in_turn(replicas=2))
        await stage.settle()
        assert await stage.names(PodClique)
        await stage.delete(PodCliqueSet, "llm")
        await stage.settle(30)
        for kind in (PodClique, Role, RoleBinding):
            left = [
                one
                for one in await stage.all(kind)
                if one["metadata"].get("labels", {}).get(PART_OF) == "llm"
            ]
            assert left == []


@virtual
async def test_a_set_made_anew_waits_for_what_its_predecessor_had() -> None:
    stage = await a_stage()
    async with stage.operator(controllers):
        await stage.make(PodCliqueSet, in_turn())
        await stage.settle()
        before = {one["metadata"]["uid"] for one in await stage.all(PodClique)}
        await stage.delete(PodCliqueSet, "llm")
        await stage.make(PodCliqueSet, in_turn())
        await stage.settle(60)
        assert {one["metadata"]["uid"] for one in await stage.all(PodClique)} == before
        conditions = await stage.conditions(PodCliqueSet, "llm")
        assert conditions["Ready"] == ("False", "CreatingChildren")
        assert not [reason for reason, _ in await stage.events() if "Fail" in reason]
        async with stage.collector():
            await stage.settle(10)
            after = {one["metadata"]["uid"] for one in await stage.all(PodClique)}
            assert len(after) == 2
            assert not after & before
            assert (await status(stage))["observedGeneration"] == 1
            owners = (await stage.get(Role, ROLE))["metadata"]["ownerReferences"]
            assert owners[0]["uid"] == (await the_set(stage))["metadata"]["uid"]


@virtual
async def test_conditions_of_others_stay() -> None:
    stage = await a_stage()
    async with stage.operator(controllers):
        await stage.make(PodCliqueSet, a_set_body("llm"))
        await stage.settle()
        now = "2026-01-01T00:00:00Z"
        foreign = {"type": "Theirs", "status": "True", "reason": "So", "message": ""}
        conditions = [*(await status(stage))["conditions"], foreign | {"lastTransitionTime": now}]
        await stage.patch(
            PodCliqueSet, "llm", {"status": {"conditions": conditions}}, part="status"
        )
        await make_well(stage)
        await stage.settle()
        found = await stage.conditions(PodCliqueSet, "llm")
        assert found["Theirs"] == ("True", "So")
        assert found["Ready"][0] == "True"


@virtual
async def test_a_set_at_zero_is_well_and_says_so() -> None:
    stage = await a_stage()
    async with stage.operator(controllers):
        await stage.make(PodCliqueSet, a_set_body("llm", replicas=0))
        await stage.settle()
        assert (await stage.conditions(PodCliqueSet, "llm"))["Ready"] == ("True", "ScaledToZero")
        assert (await status(stage))["observedGeneration"] == 1


@virtual
async def test_a_foreign_gang_under_a_name_of_ours_is_left_alone_and_told_of() -> None:
    stage = await a_stage()
    theirs = await stage.make(PodGang, {"metadata": {"name": "llm-0"}, "spec": {"podgroups": []}})
    async with stage.operator(controllers, podgangs):
        await stage.make(PodCliqueSet, a_set_body("llm", a_clique("worker", 2)))
        await stage.settle()
        assert (await stage.get(PodGang, "llm-0"))["metadata"] == theirs["metadata"]
        conditions = await stage.conditions(PodCliqueSet, "llm")
        assert conditions["Stalled"] == ("True", "NameConflict")
        told = "PodGang llm-0 belongs to nobody and is left alone: remove or rename it"
        assert await stage.message(PodCliqueSet, "llm", "Stalled") == told
        await stage.delete(PodGang, "llm-0")
        await stage.settle()
        assert (await stage.get(PodGang, "llm-0"))["metadata"]["ownerReferences"]
        conditions = await stage.conditions(PodCliqueSet, "llm")
        assert conditions["Stalled"][0] == "False"
        assert "lastErrors" not in await status(stage)


@virtual
async def test_what_keeps_a_podclique_from_having_pods_is_told_on_the_set() -> None:
    stage = await a_stage()
    refused = {"type": "Stalled", "status": "True", "reason": "QuotaRefused", "message": "no more"}
    async with stage.operator(controllers):
        await stage.make(PodCliqueSet, a_set_body("llm", a_clique("worker")))
        await stage.settle()
        stalled = {
            **refused,
            "observedGeneration": 1,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        await stage.patch(
            PodClique, "llm-0-worker", {"status": {"conditions": [stalled]}}, part="status"
        )
        await stage.settle()
        conditions = await stage.conditions(PodCliqueSet, "llm")
        assert conditions["Stalled"] == ("True", "QuotaRefused")
        told = await stage.message(PodCliqueSet, "llm", "Stalled")
        assert told == "PodClique llm-0-worker: no more"
        assert ("QuotaRefused", told) in await stage.events("llm")


def over_quota(method: str, path: str) -> Callable[[Request], None]:
    def refuse(request: Request) -> None:
        if request.method == method and path in request.path and "status" not in request.path:
            raise Forbidden(str(request), Failure(code=403, message="exceeded quota: small"))

    return refuse


@pytest.mark.parametrize(
    ("refuse", "told"),
    [
        pytest.param(
            over_quota("POST", "/podgangs"),
            "PodClique llm-0-worker: PodGang: create llm-0: exceeded quota: small",
            id="a gang that cannot be made",
        ),
        pytest.param(
            over_quota("PATCH", "/pods/"),
            "PodGang llm-0: Pod: patch llm-0-worker-",
            id="a gate that cannot be lifted",
        ),
    ],
)
def test_what_keeps_a_gang_from_starting_is_told_on_the_set_until_it_is_over(
    refuse: Callable[[Request], None], told: str
) -> None:
    async def story() -> None:
        stage = await a_stage()
        stage.watched.before = refuse
        async with stage.operator(controllers, podgangs, podcliques):
            await stage.make(PodCliqueSet, a_set_body("llm", a_clique("worker")))
            await stage.settle()
            conditions = await stage.conditions(PodCliqueSet, "llm")
            assert conditions["Stalled"] == ("True", "QuotaRefused")
            (error,) = (await status(stage))["lastErrors"]
            assert error["code"] == "QuotaRefused"
            assert error["description"].startswith(told)
            stage.watched.before = lambda _: None
            await stage.settle(120)
            assert (await stage.conditions(PodCliqueSet, "llm"))["Stalled"][0] == "False"
            assert "lastErrors" not in await status(stage)
            assert "PodGangRefused" not in await stage.conditions(PodClique, "llm-0-worker")
            (pod,) = await stage.all(Pod)
            assert not pod["spec"].get("schedulingGates")

    run(story())
