# SPDX-License-Identifier: Apache-2.0
"""What the controller does where it may not, or cannot, do what it should."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.virtual import virtual
from tests.unit.workloads.podclique.story import a_running_story, a_story, pod_names
from tests.unit.workloads.refusals import allowing, refusing
from tests.unit.workloads.sets import POD_SPEC, a_clique
from trellis.api.core.pod import Pod
from trellis.api.core.priorityclass import PriorityClass
from trellis.api.core.resourceclaim import ResourceClaimTemplate
from trellis.api.grove.podclique import PodClique
from trellis.kube.errors import Ambiguous, Failure, Unavailable

if TYPE_CHECKING:
    from trellis.kube.transport import Request


@virtual
async def test_a_gang_of_somebody_else_is_a_conflict_and_nothing_is_made_for_it() -> None:
    story = await a_story()
    clique = await story.make_clique(story.member("worker"))
    other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u", "controller": True}
    await story.make_gang(owner=other)
    await story.list_pods(clique, pod_names(clique, 2))
    async with story.operator():
        assert await story.pods() == []
        conditions = await story.stage.conditions(PodClique, clique)
        assert conditions["Stalled"] == ("True", "NameConflict")


@virtual
async def test_a_pod_of_somebody_else_under_a_listed_name_is_a_conflict_and_untouched() -> None:
    story, clique, listed = await a_running_story(2)
    await story.stage.make(Pod, {"metadata": {"name": listed[0]}, "spec": POD_SPEC})
    async with story.operator():
        await story.stage.settle(60)
        found = await story.pod(listed[0])
        assert "ownerReferences" not in found["metadata"]
        conditions = await story.stage.conditions(PodClique, clique)
        assert conditions["Stalled"] == ("True", "NameConflict")
        await story.stage.delete(Pod, listed[0], grace=0)
        await story.stage.settle(60)
        assert (await story.stage.conditions(PodClique, clique))["Stalled"][0] == "False"
        assert (await story.status(clique)).get("lastErrors", []) == []


@virtual
async def test_a_quota_is_told_and_not_run_into_again_and_again() -> None:
    story, clique, listed = await a_running_story(10)
    story.stage.watched.before = refusing("/pods", "pods is forbidden: exceeded quota: small")
    async with story.operator():
        await story.stage.settle(50)
        conditions = await story.stage.conditions(PodClique, clique)
        assert conditions["Stalled"] == ("True", "QuotaRefused")
        (error,) = (await story.status(clique))["lastErrors"]
        assert error["code"] == "QuotaRefused"
        tries = [one for one in story.stage.writes() if one == "POST pods"]
        assert len(tries) <= 8
        events = [reason for reason, _ in await story.stage.events(clique)]
        assert events == ["PodCreateFailed"]
        story.stage.watched.before = allowing
        await story.stage.settle(60)
        assert await story.pods() == sorted(listed)
        assert (await story.status(clique)).get("lastErrors", []) == []


@virtual
async def test_pods_that_come_and_go_are_no_reason_to_ask_again_what_was_refused() -> None:
    story, clique, listed = await a_running_story(6)
    await story.list_pods(clique, listed[:3])
    async with story.operator():
        story.stage.watched.before = refusing("/pods", "exceeded quota: small")
        await story.list_pods(clique, listed)
        await story.stage.settle(1)
        story.stage.forget()
        for name in listed[:3]:
            await story.stage.patch(Pod, name, {"spec": {"schedulingGates": None}})
            await story.stage.bind(name)
            await story.stage.settle(1)
        assert "POST pods" not in story.stage.writes()


@virtual
async def test_an_invalid_pod_is_told_by_the_field_at_fault() -> None:
    spec = {"containers": [{"name": "NOT_A_NAME", "image": "x"}]}
    story, clique, _ = await a_running_story(1, podSpec=spec)
    async with story.operator():
        conditions = await story.stage.conditions(PodClique, clique)
        assert conditions["Stalled"] == ("True", "Refused")
        message = await story.stage.message(PodClique, clique, "Stalled")
        assert "spec.containers[0].name" in message


@virtual
async def test_a_missing_priority_class_is_told_and_its_coming_wakes() -> None:
    story, clique, listed = await a_running_story(2, priorityClassName="urgent")
    async with story.operator():
        assert (await story.stage.conditions(PodClique, clique))["Stalled"] == (
            "True",
            "PriorityClassMissing",
        )
        await story.stage.settle(60)
        assert "POST pods" not in story.stage.writes()
        await story.stage.make(PriorityClass, {"metadata": {"name": "urgent"}, "value": 7})
        await story.stage.settle(0.1)
        assert await story.pods() == sorted(listed)
        assert (await story.pod(listed[0]))["spec"]["priority"] == 7


@virtual
async def test_a_claim_template_that_is_missing_is_told_and_its_coming_wakes() -> None:
    clique_body = a_clique("worker", 1)
    clique_body["resourceSharing"] = [{"name": "gpu", "scope": "AllReplicas"}]
    story = await a_story(clique_body)
    clique = await story.make_clique(story.member("worker"))
    await story.make_gang()
    await story.list_pods(clique, pod_names(clique, 1))
    async with story.operator():
        assert await story.pods() == []
        stalled = (await story.stage.conditions(PodClique, clique))["Stalled"]
        assert stalled == ("True", "ClaimTemplateMissing")
        template = {"metadata": {"name": "gpu"}, "spec": {"spec": {"devices": {}}}}
        await story.stage.make(ResourceClaimTemplate, template)
        await story.stage.settle(0.5)
        assert await story.pods() == pod_names(clique, 1)


@virtual
async def test_a_server_that_fails_is_told_and_asked_again() -> None:
    story, clique, listed = await a_running_story(2)

    def failing(request: Request) -> None:
        if request.method == "POST" and request.path.endswith("/pods"):
            raise Unavailable(str(request), Failure(code=503, message="try later"))

    story.stage.watched.before = failing
    async with story.operator():
        await story.stage.settle(20)
        ready = (await story.stage.conditions(PodClique, clique))["Ready"]
        assert ready == ("False", "Retrying")
        story.stage.watched.before = allowing
        await story.stage.settle(120)
        assert await story.pods() == sorted(listed)
        assert (await story.status(clique)).get("lastErrors", []) == []


@virtual
async def test_a_create_of_unknown_fate_is_looked_up_and_makes_no_second_pod() -> None:
    story, _, listed = await a_running_story(3)
    lost: list[Request] = []

    def losing(request: Request) -> None:
        if request.method == "POST" and request.path.endswith("/pods") and not lost:
            lost.append(request)
            raise Ambiguous(f"{request}: timed out")

    story.stage.watched.after = losing
    async with story.operator():
        await story.stage.settle(60)
        assert lost
        assert await story.pods() == sorted(listed)
