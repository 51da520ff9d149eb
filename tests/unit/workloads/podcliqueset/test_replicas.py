# SPDX-License-Identifier: Apache-2.0
"""The controller of replicas at work on an API server, in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.virtual import run, virtual
from tests.unit.workloads.sets import POD_SPEC, a_clique, a_group, a_set_body
from tests.unit.workloads.stage import a_stage
from trellis.api.annotation import RECONCILE_TRIGGER
from trellis.api.core.autoscaler import HorizontalPodAutoscaler
from trellis.api.core.service import Service
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.labels import MANAGED_BY, PART_OF, SET_REPLICA_INDEX
from trellis.kube.errors import Ambiguous, Unreachable
from trellis.workloads.podcliqueset.reconciler import controllers

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.workloads.stage import Stage
    from trellis.api.meta import Object
    from trellis.kube.transport import Request
    from trellis.runtime.controller import Controller
    from trellis.workloads.caches import Caches
    from trellis.workloads.means import Means

Json = dict[str, Any]
KINDS: tuple[type[Object], ...] = (
    Service,
    PodClique,
    PodCliqueScalingGroup,
    HorizontalPodAutoscaler,
)
SCALED = {"minReplicas": 1, "maxReplicas": 5}


def replicas_only(means: Means, caches: Caches) -> Controller[PodCliqueSet]:
    return controllers(means, caches)[1]


def body(replicas: int = 2, **template: Any) -> Json:
    """Each replica: an autoscaled clique, one that is not, and an autoscaled group of two."""
    cliques = (
        a_clique("worker", 2, autoScalingConfig=SCALED),
        a_clique("gpu-worker"),
        a_clique("lead"),
        a_clique("m"),
    )
    group = a_group("g", "lead", "m", replicas=2, scaleConfig=SCALED)
    return a_set_body("llm", *cliques, groups=(group,), replicas=replicas, **template)


async def ours(stage: Stage) -> dict[str, list[str]]:
    """The names of all children, by kind."""
    return {
        kind.resource.kind: [
            name for name in await stage.names(kind) if not name.startswith("kubernetes")
        ]
        for kind in KINDS
    }


def expected(*replicas: int) -> dict[str, list[str]]:
    def named(*parts: str) -> list[str]:
        return sorted(f"llm-{replica}{part}" for replica in replicas for part in parts)

    return {
        "Service": named(""),
        "PodClique": named("-worker", "-gpu-worker"),
        "PodCliqueScalingGroup": named("-g"),
        "HorizontalPodAutoscaler": named("-worker", "-g"),
    }


@virtual
async def test_a_replica_is_made_service_first_in_as_few_writes_as_there_are_objects() -> None:
    stage = await a_stage()
    async with stage.operator(replicas_only):
        await stage.make(PodCliqueSet, body(1))
        await stage.settle()
        assert await ours(stage) == expected(0)
        writes = stage.writes()
        assert writes[0] == "POST services"
        assert len(writes) == 6
        stage.forget()
        await stage.settle(600)
        assert stage.writes() == []


@virtual
async def test_each_clique_has_the_spec_of_its_own_template() -> None:
    stage = await a_stage()
    other = {"containers": [{"name": "gpu", "image": "registry.example/gpu:1"}]}
    made = a_set_body("llm", a_clique("worker"), a_clique("gpu-worker", podSpec=other))
    async with stage.operator(replicas_only):
        await stage.make(PodCliqueSet, made)
        await stage.settle()
        specs = {
            name: (await stage.get(PodClique, name))["spec"]["podSpec"]
            for name in ("llm-0-worker", "llm-0-gpu-worker")
        }
        assert specs == {"llm-0-worker": POD_SPEC, "llm-0-gpu-worker": other}


@virtual
async def test_scaling_in_takes_all_of_the_last_replicas_and_nothing_of_others() -> None:
    stage = await a_stage()
    async with stage.operator(replicas_only):
        await stage.make(PodCliqueSet, body(3))
        await stage.settle()
        kept = {
            kind: {one["metadata"]["name"]: one["metadata"]["uid"] for one in await stage.all(kind)}
            for kind in KINDS
        }
        stage.forget()
        await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 1}})
        await stage.settle()
        assert await ours(stage) == expected(0)
        assert len(stage.writes()) == 12
        assert all(write.startswith("DELETE ") for write in stage.writes())
        for kind in KINDS:
            for one in await stage.all(kind):
                assert kept[kind][one["metadata"]["name"]] == one["metadata"]["uid"]

        await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 0}})
        await stage.settle()
        assert await ours(stage) == expected()
        await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 2}})
        await stage.settle()
        assert await ours(stage) == expected(0, 1)


@virtual
async def test_what_was_scaled_in_while_nobody_looked_goes_at_the_start() -> None:
    stage = await a_stage()
    async with stage.operator(replicas_only):
        await stage.make(PodCliqueSet, body(3))
        await stage.settle()
    await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 1}})
    # As Grove made them: its autoscalers do not say of which replica they are.
    for replica in range(3):
        gone = {"metadata": {"labels": {SET_REPLICA_INDEX: None}}}
        await stage.patch(HorizontalPodAutoscaler, f"llm-{replica}-worker", gone)
    async with stage.operator(replicas_only):
        assert await ours(stage) == expected(0)
        kept = await stage.get(HorizontalPodAutoscaler, "llm-0-worker")
        assert kept["metadata"]["labels"][SET_REPLICA_INDEX] == "0"


@virtual
async def test_what_lost_its_labels_goes_with_its_replica() -> None:
    stage = await a_stage()
    async with stage.operator(replicas_only):
        await stage.make(PodCliqueSet, body(3))
        await stage.settle()
    unlabelled = {"metadata": {"labels": None}}
    await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 2}})
    await stage.patch(Service, "llm-2", unlabelled)
    await stage.patch(HorizontalPodAutoscaler, "llm-2-worker", unlabelled)
    async with stage.operator(replicas_only):
        await stage.settle()
        assert await ours(stage) == expected(0, 1)


@virtual
async def test_the_last_of_a_replica_goes_though_it_lost_its_label_while_nobody_looked() -> None:
    stage = await a_stage()
    async with stage.operator(replicas_only):
        await stage.make(PodCliqueSet, body(2))
        await stage.settle()
    await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 1}})
    last: list[tuple[type[Object], str]] = [
        (Service, "llm-1"),
        (HorizontalPodAutoscaler, "llm-1-worker"),
    ]
    for kind, name in last:
        await stage.patch(kind, name, {"metadata": {"labels": {MANAGED_BY: None}}})
    # As if somebody had crashed on the way.
    await stage.delete(PodClique, "llm-1-worker")
    await stage.delete(PodCliqueScalingGroup, "llm-1-g")
    foreign = {"name": "foreign", "labels": {PART_OF: "llm"}}
    await stage.make(Service, {"metadata": foreign, "spec": {"clusterIP": "None"}})
    async with stage.operator(replicas_only):
        await stage.settle()
        assert [one for kind, name in last if (one := await stage.find(kind, name))] == []
        assert (await stage.get(Service, "foreign"))["metadata"]["labels"] == {PART_OF: "llm"}


@virtual
async def test_nothing_goes_before_it_is_known_whether_anything_lost_its_labels() -> None:
    stage = await a_stage()
    async with stage.operator(replicas_only):
        await stage.make(PodCliqueSet, body(2))
        await stage.settle()
    await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 1}})
    await stage.patch(Service, "llm-1", {"metadata": {"labels": None}})
    unanswered = [Unreachable("not there")] * 20

    def before(request: Request) -> None:
        if request.method == "GET" and request.path.endswith("services/llm-1") and unanswered:
            assert not any(write.startswith("DELETE") for write in stage.writes())
            raise unanswered.pop()

    stage.watched.before = before
    async with stage.operator(replicas_only):
        await stage.settle(60)
        assert unanswered == []
        assert await ours(stage) == expected(0)


@virtual
async def test_what_somebody_deletes_comes_back() -> None:
    stage = await a_stage()
    async with stage.operator(replicas_only):
        await stage.make(PodCliqueSet, body())
        await stage.settle()
        for kind, name in zip(KINDS, ("llm-0", "llm-1-worker", "llm-0-g", "llm-1-g"), strict=True):
            before = (await stage.get(kind, name))["metadata"]["uid"]
            stage.forget()
            await stage.delete(kind, name)
            await stage.settle(1)
            assert (await stage.get(kind, name))["metadata"]["uid"] != before
            assert stage.writes() == [f"POST {kind.resource.plural}"]


@virtual
async def test_what_somebody_changes_goes_back_and_what_others_add_stays() -> None:
    stage = await a_stage()
    async with stage.operator(replicas_only):
        await stage.make(PodCliqueSet, body(1))
        await stage.settle()
        stage.forget()
        changed = {
            "metadata": {"labels": {SET_REPLICA_INDEX: None, "theirs": "1"}},
            "spec": {"publishNotReadyAddresses": False},
        }
        await stage.patch(Service, "llm-0", changed)
        await stage.patch(PodCliqueScalingGroup, "llm-0-g", {"spec": {"minAvailable": 2}})
        await stage.settle()
        service = await stage.get(Service, "llm-0")
        assert service["spec"]["publishNotReadyAddresses"] is True
        assert service["metadata"]["labels"][SET_REPLICA_INDEX] == "0"
        assert service["metadata"]["labels"]["theirs"] == "1"
        group = await stage.get(PodCliqueScalingGroup, "llm-0-g")
        assert group["spec"]["minAvailable"] == 1
        assert stage.writes() == ["PATCH services/llm-0", "PATCH podcliquescalinggroups/llm-0-g"]


@virtual
async def test_runtime_scaling_survives_a_new_template() -> None:
    stage = await a_stage()
    async with stage.operator(replicas_only):
        await stage.make(PodCliqueSet, body(1))
        await stage.settle()
        for kind, name in ((PodClique, "llm-0-worker"), (PodCliqueScalingGroup, "llm-0-g")):
            await stage.patch(kind, name, {"spec": {"replicas": 4}})
        newer = body(1)
        newer["spec"]["updateStrategy"] = {"type": "OnDelete"}
        for clique in newer["spec"]["template"]["cliques"]:
            clique["spec"] |= {
                "replicas": 1,
                "podSpec": {"containers": [{"name": "main", "image": "registry.example/app:2"}]},
            }
        newer["spec"]["template"]["podCliqueScalingGroups"][0]["replicas"] = 7
        await stage.patch(PodCliqueSet, "llm", {"spec": newer["spec"]})
        await stage.settle()
        worker = (await stage.get(PodClique, "llm-0-worker"))["spec"]
        assert worker["replicas"] == 4
        assert worker["podSpec"]["containers"][0]["image"] == "registry.example/app:2"
        assert (await stage.get(PodCliqueScalingGroup, "llm-0-g"))["spec"]["replicas"] == 4


@virtual
async def test_a_foreign_object_under_a_name_of_ours_is_left_alone_and_keeps_up_nothing_else() -> (
    None
):
    stage = await a_stage()
    theirs = await stage.make(
        Service, {"metadata": {"name": "llm-0"}, "spec": {"clusterIP": "None"}}
    )
    async with stage.operator(controllers):
        await stage.make(PodCliqueSet, body(1))
        await stage.settle()
        assert (await ours(stage)) == expected(0)
        assert (await stage.get(Service, "llm-0"))["metadata"] == theirs["metadata"]
        conditions = await stage.conditions(PodCliqueSet, "llm")
        assert conditions["Stalled"] == ("True", "NameConflict")
        assert "Service: llm-0 belongs to nobody" in await stage.message(
            PodCliqueSet, "llm", "Stalled"
        )
        stage.forget()
        await stage.settle(25)
        assert [write for write in stage.writes() if "status" in write] == []
        await stage.delete(Service, "llm-0")
        await stage.settle(60)
        assert (await stage.get(Service, "llm-0"))["metadata"]["ownerReferences"]
        conditions = await stage.conditions(PodCliqueSet, "llm")
        assert conditions["Stalled"][0] == "False"
        assert "lastErrors" not in (await stage.get(PodCliqueSet, "llm"))["status"]


def refusing(what: str) -> Callable[[Request], None]:
    def refuse(request: Request) -> None:
        if request.method == "POST" and request.path.endswith(what):
            raise Unreachable(f"{what} cannot be made today")

    return refuse


@pytest.mark.parametrize("failing", ["services", "podcliques", "podcliquescalinggroups"])
def test_a_kind_that_fails_keeps_no_other_from_being_made(failing: str) -> None:
    async def story() -> None:
        stage = await a_stage()
        stage.watched.before = refusing(failing)
        async with stage.operator(controllers):
            await stage.make(PodCliqueSet, body(1))
            await stage.settle()
            made = {kind.resource.plural: await stage.names(kind) for kind in KINDS}
            assert "llm-0" not in "".join(made.pop(failing))
            assert all("llm-0" in "".join(names) for names in made.values())
            assert (await stage.conditions(PodCliqueSet, "llm"))["Ready"] == ("False", "Retrying")
            stage.watched.before = lambda _: None
            await stage.settle(60)
            assert (await ours(stage)) == expected(0)
            assert "lastErrors" not in (await stage.get(PodCliqueSet, "llm"))["status"]

    run(story())


@virtual
async def test_nothing_is_made_for_a_set_that_is_being_deleted() -> None:
    stage = await a_stage()
    going = body(1)
    going["metadata"]["finalizers"] = ["example.com/held"]
    await stage.make(PodCliqueSet, going)
    await stage.delete(PodCliqueSet, "llm")
    async with stage.operator(controllers):
        await stage.settle()
        assert stage.writes() == []


@virtual
async def test_metadata_alone_reaches_the_replicas() -> None:
    stage = await a_stage()
    async with stage.operator(replicas_only):
        await stage.make(PodCliqueSet, body(1))
        await stage.settle()
        annotations = {"grove.io/mnnvl-group": "fast", RECONCILE_TRIGGER: "now"}
        await stage.patch(PodCliqueSet, "llm", {"metadata": {"annotations": annotations}})
        await stage.settle()
        group = await stage.get(PodCliqueScalingGroup, "llm-0-g")
        assert group["metadata"]["annotations"]["grove.io/mnnvl-group"] == "fast"
        clique = await stage.get(PodClique, "llm-0-worker")
        assert clique["metadata"]["annotations"]["grove.io/mnnvl-group"] == "fast"


@virtual
async def test_the_same_done_for_many_replicas_is_one_event_of_a_kind() -> None:
    stage = await a_stage()
    async with stage.operator(replicas_only):
        await stage.make(PodCliqueSet, body(20))
        await stage.settle(30)
        assert sorted(await stage.events("llm")) == [
            ("PodCliqueCreateOrUpdateSuccessful", "2 PodCliques made"),
            ("PodCliqueScalingGroupCreateSuccessful", "1 PodCliqueScalingGroup made"),
        ]
        await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 1}})
        await stage.settle(30)
        assert sorted(reason for reason, _ in await stage.events("llm"))[1:3] == [
            "PodCliqueDeleteSuccessful",
            "PodCliqueScalingGroupCreateSuccessful",
        ]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_write_that_is_lost_or_whose_answer_is_lost_changes_nothing_in_the_end(
    moment: str,
) -> None:
    async def story() -> None:
        stage = await a_stage()
        async with stage.operator(replicas_only):
            for number in range(6):
                setattr(stage.watched, moment, losing(number, moment))
                stage.forget()
                await stage.make(PodCliqueSet, body(1))
                await stage.settle(20)
                assert await ours(stage) == expected(0)
                made = sum(write.startswith("POST ") for write in stage.writes())
                assert made == (7 if moment == "before" else 6)
                await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 0}})
                await stage.settle()
                await stage.delete(PodCliqueSet, "llm")

    run(story())


def losing(number: int, moment: str) -> Callable[[Request], None]:
    """Cuts the line at that write: before it gets through, or before its answer does."""
    left = [number]

    def lose(request: Request) -> None:
        if request.method != "GET" and "/events" not in request.path:
            left[0] -= 1
            if left[0] == -1:
                raise Unreachable("cut") if moment == "before" else Ambiguous("cut")

    return lose


@virtual
async def test_two_operators_at_once_make_everything_once() -> None:
    stage = await a_stage()
    async with stage.operator(controllers), stage.operator(controllers):
        await stage.make(PodCliqueSet, body(3))
        await stage.settle(60)
        assert await ours(stage) == expected(0, 1, 2)
        await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 1}})
        await stage.settle(60)
        assert await ours(stage) == expected(0)
        stage.forget()
        await stage.settle(600)
        assert stage.writes() == []
