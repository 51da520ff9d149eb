# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter

from tests.support.virtual import virtual
from tests.unit.workloads.kubelets import kubelets
from tests.unit.workloads.podclique.story import (
    Story,
    a_running_story,
    a_story,
    pod_names,
)
from tests.unit.workloads.sets import POD_SPEC, a_clique, a_group
from trellis.api.core.pod import Pod
from trellis.api.core.resourceclaim import ResourceClaim
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.labels import CLIQUE_FINALIZER, GANG_GATE, SCALING_GROUP_POD_INDEX
from trellis.api.scheduler.podgang import PodGang
from trellis.workloads.departed import LAPSE_SECONDS


@virtual
async def test_exactly_the_listed_pods_are_made_gated_and_counted() -> None:
    story, clique, listed = await a_running_story(3)
    async with story.operator():
        assert await story.pods() == sorted(listed)
        gates = (await story.pod(listed[0]))["spec"]["schedulingGates"]
        assert gates == [{"name": GANG_GATE}]
        found = await story.status(clique)
        assert found["replicas"] == found["scheduleGatedReplicas"] == 3
        assert found["observedGeneration"] == 1
        assert (await story.stage.conditions(PodClique, clique))["Ready"] == (
            "False",
            "WaitingForGang",
        )


@virtual
async def test_a_settled_clique_is_not_written_again_not_even_after_a_restart() -> None:
    story, _, _ = await a_running_story(3)
    async with story.operator():
        await story.stage.settle(60)
    story.stage.forget()
    async with story.operator():
        await story.stage.settle(600)
    assert story.stage.writes() == []


@virtual
async def test_writes_are_few_one_a_pod_and_a_status() -> None:
    story, clique, _ = await a_running_story(20)
    async with story.operator():
        counted = Counter(story.stage.writes())
    assert counted == {"POST pods": 20, f"PATCH podcliques/{clique}/status": 1}
    assert await story.stage.events(clique) == []


@virtual
async def test_nothing_is_made_before_the_gang_is_there() -> None:
    story = await a_story()
    clique = await story.make_clique(story.member("worker"))
    async with story.operator():
        assert await story.pods() == []
        ready = (await story.stage.conditions(PodClique, clique))["Ready"]
        assert ready == ("False", "GangMissing")
        await story.make_gang()
        await story.list_pods(clique, pod_names(clique, 2))
        await story.stage.settle(0.1)
        assert await story.pods() == sorted(pod_names(clique, 2))


@virtual
async def test_a_gang_whose_lists_somebody_emptied_costs_no_pod() -> None:
    story, clique, listed = await a_running_story(3)
    async with story.operator():
        await story.stage.settle(1)
        story.stage.forget()
        await story.list_pods(clique, [])
        await story.stage.settle(60)
        assert await story.pods() == sorted(listed)
        assert [write for write in story.stage.writes() if write.startswith("DELETE")] == []


@virtual
async def test_pods_that_become_ready_are_told_within_half_a_second() -> None:
    story, clique, listed = await a_running_story(2)
    async with story.operator():
        for name in listed:
            await story.stage.patch(Pod, name, {"spec": {"schedulingGates": None}})
            await story.stage.bind(name)
            await story.stage.ready(name)
        await story.stage.settle(0.5)
        found = await story.status(clique)
        assert (found["readyReplicas"], found["scheduledReplicas"]) == (2, 2)
        assert found["firstAvailableTime"]
        conditions = await story.stage.conditions(PodClique, clique)
        assert conditions["Ready"] == ("True", "AllReplicasAvailable")
        assert conditions["MinAvailableBreached"] == ("False", "SufficientReadyPods")


@virtual
async def test_a_pod_that_failed_and_left_comes_back_under_its_name_if_nobody_lists_another() -> (
    None
):
    """The gang controller, which lists another at once, is not here."""
    story, _, listed = await a_running_story(2)
    async with story.operator():
        before = (await story.pod(listed[0]))["metadata"]["uid"]
        await story.stage.end(listed[0], "Failed")
        await story.stage.settle(1)
        await story.stage.delete(Pod, listed[0], grace=0)
        await story.stage.settle(1)
        assert await story.pods() == [listed[1]]
        await story.stage.settle(LAPSE_SECONDS)
        assert (await story.pod(listed[0]))["metadata"]["uid"] != before


@virtual
async def test_what_the_ledger_lists_no_more_goes_and_what_it_lists_anew_comes() -> None:
    story, clique, listed = await a_running_story(2)
    async with story.operator():
        fresh = pod_names(clique, 2, "anew")
        await story.list_pods(clique, [fresh[0], listed[1]])
        await story.stage.settle(1)
        assert await story.pods() == sorted([fresh[0], listed[1]])
        deleted = [note for reason, note in await story.stage.events() if "Delete" in reason]
        assert deleted == [f"deleted 1 pod: {listed[0]}"]


@virtual
async def test_a_failed_pod_is_replaced_and_its_count_goes_on() -> None:
    story, clique, listed = await a_running_story(1)
    async with story.operator():
        await story.stage.end(listed[0])
        await story.stage.settle(1)
        assert await story.pods() == listed
        (fresh,) = pod_names(clique, 1, "anew")
        await story.list_pods(clique, [fresh])
        await story.stage.settle(1)
        assert await story.pods() == [fresh]
        annotations = (await story.pod(fresh))["metadata"]["annotations"]
        assert annotations["trellis.dev/attempt"] == "1"


@virtual
async def test_pods_of_another_operator_are_counted_and_left_alone() -> None:
    story = await a_story()
    clique = await story.make_clique(story.member("worker"))
    controller = await story.stage.get(PodClique, clique)
    reference = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodClique",
        "name": clique,
        "uid": controller["metadata"]["uid"],
        "controller": True,
    }
    theirs = [f"{clique}-x7k2p", f"{clique}-b9wqz"]
    for index, name in enumerate(theirs):
        labels = {
            "app.kubernetes.io/managed-by": "grove-operator",
            "app.kubernetes.io/part-of": "llm",
            "grove.io/podclique-pod-index": str(index),
        }
        metadata = {"name": name, "labels": labels, "ownerReferences": [reference]}
        await story.stage.make(Pod, {"metadata": metadata, "spec": POD_SPEC})
        await story.stage.bind(name)
        await story.stage.ready(name)
    # As Grove writes it: without our label, and the second pod is not on its list yet.
    await story.make_gang(labels={"app.kubernetes.io/part-of": "llm"})
    await story.list_pods(clique, theirs[:1])
    async with story.operator():
        assert await story.pods() == sorted(theirs)
        assert (await story.status(clique))["readyReplicas"] == 2
        label = {"metadata": {"labels": {"grove.io/pcs-name": "llm"}}}
        await story.list_pods(clique, theirs)
        await story.stage.patch(PodGang, "llm-0", label)
        await story.stage.settle(60)
        assert await story.pods() == sorted(theirs)
        found = await story.status(clique)
        assert (found["replicas"], found["readyReplicas"]) == (2, 2)
    assert not [one for one in story.stage.writes() if " pods" in one]


@virtual
async def test_placement_that_says_wait_holds_pods_back_until_it_says_where() -> None:
    story = await a_story(a_clique("worker", 2))
    clique = await story.make_clique(story.member("worker"))
    await story.make_gang(annotations={"trellis.dev/placement": "wait"})
    await story.list_pods(clique, pod_names(clique, 2))
    async with story.operator():
        assert await story.pods() == []
        ready = (await story.stage.conditions(PodClique, clique))["Ready"]
        assert ready == ("False", "WaitingForPlacement")
        verdict = {"trellis.dev/placement": f'{{"{clique}":[["n1",1]]}}'}
        await story.stage.patch(PodGang, "llm-0", {"metadata": {"annotations": verdict}})
        await story.stage.settle(0.1)
        pinned, gated = [(await story.pod(name))["spec"] for name in pod_names(clique, 2)]
        assert pinned["nodeSelector"] == {"kubernetes.io/hostname": "n1"}
        assert "schedulingGates" not in pinned
        assert gated["schedulingGates"] == [{"name": GANG_GATE}]


@virtual
async def test_scaling_to_nothing_ends_all_pods_with_or_without_the_gang() -> None:
    story, clique, _ = await a_running_story(2)
    async with story.operator():
        await story.stage.patch(PodClique, clique, {"spec": {"replicas": 0}})
        await story.stage.delete(PodGang, "llm-0")
        await story.stage.settle(2)
        assert await story.pods() == []
        ready = (await story.stage.conditions(PodClique, clique))["Ready"]
        assert ready == ("True", "ScaledToZero")


@virtual
async def test_nothing_is_made_for_a_set_that_is_going() -> None:
    story, clique, _ = await a_running_story(2)
    await story.stage.patch(PodCliqueSet, "llm", {"metadata": {"finalizers": ["example.com/x"]}})
    await story.stage.delete(PodCliqueSet, "llm")
    async with story.operator():
        await story.stage.settle(60)
        assert await story.pods() == []
        assert await story.status(clique) == {}


@virtual
async def test_the_finalizer_of_another_operator_does_not_hold_a_clique() -> None:
    story, clique, _ = await a_running_story(1)
    finalizers = {"metadata": {"finalizers": [CLIQUE_FINALIZER]}}
    await story.stage.patch(PodClique, clique, finalizers)
    async with story.operator():
        await story.stage.delete(PodClique, clique)
        await story.stage.settle(1)
        assert await story.stage.find(PodClique, clique) is None


@virtual
async def test_a_clique_that_its_set_does_not_know_gets_no_pods() -> None:
    story, clique, _ = await a_running_story(1)
    await story.stage.patch(
        PodClique, clique, {"metadata": {"labels": {"grove.io/podcliqueset-replica-index": "7"}}}
    )
    async with story.operator():
        assert await story.pods() == []
        conditions = await story.stage.conditions(PodClique, clique)
        assert conditions["Stalled"] == ("True", "NotInTemplate")


async def a_group_story(lead: int = 1) -> Story:
    cliques = (a_clique("lead", lead), a_clique("gpu", 2), a_clique("worker", 2))
    groups = (a_group("sg", "lead", "gpu", "worker", replicas=1),)
    return await a_story(*cliques, groups=groups)


@virtual
async def test_pods_of_a_scaling_group_are_numbered_by_the_live_replicas_before_them() -> None:
    story = await a_group_story()
    members = story.outline.grouped(0, story.outline.groups["sg"], 0)
    group = await story.make_group(members[0])
    for member in members:
        await story.make_clique(member, group)
    await story.stage.patch(PodClique, members[1].name, {"spec": {"replicas": 5}})
    await story.make_gang()
    listed = pod_names(members[2].name, 2)
    await story.list_pods(members[2].name, listed)
    async with story.operator():
        indices = [
            (await story.pod(name))["metadata"]["labels"][SCALING_GROUP_POD_INDEX]
            for name in listed
        ]
        assert indices == ["6", "7"]
        assert (await story.status(members[2].name)).get("hpaPodSelector") is None


@virtual
async def test_a_clique_of_a_group_that_is_read_later_is_not_forgotten() -> None:
    story = await a_group_story()
    member = story.outline.grouped(0, story.outline.groups["sg"], 0)[0]
    group = await story.make_group(member)
    clique = await story.make_clique(member, group)
    await story.stage.delete(type(group), group.metadata.name)
    await story.make_gang()
    await story.list_pods(clique, pod_names(clique, 1))
    async with story.operator():
        assert await story.pods() == []
        again = await story.make_group(member)
        reference = {
            "apiVersion": "grove.io/v1alpha1",
            "kind": "PodCliqueScalingGroup",
            "name": again.metadata.name,
            "uid": again.metadata.uid,
            "controller": True,
        }
        await story.stage.patch(PodClique, clique, {"metadata": {"ownerReferences": [reference]}})
        await story.stage.settle(1)
        assert await story.pods() == pod_names(clique, 1)


@virtual
async def test_a_clique_that_starts_after_others_waits_for_those_that_are_there() -> None:
    cliques = (a_clique("lead", 3, 2), a_clique("worker", 1))
    story = await a_story(*cliques, startup="CliqueStartupTypeInOrder")
    lead, worker = [await story.make_clique(one) for one in story.outline.alone(0)]
    await story.make_gang()
    listed = pod_names(worker, 1)
    await story.list_pods(worker, listed)
    async with story.operator():
        (waiter,) = (await story.pod(listed[0]))["spec"]["initContainers"]
        assert waiter["args"] == [f"--podcliques={lead}:2"]
        assert waiter["image"] == "example.com/trellis:test"
        await story.stage.patch(Pod, listed[0], {"spec": {"schedulingGates": None}})
        await story.stage.bind(listed[0])
        await story.stage.settle(1)
        ready = (await story.stage.conditions(PodClique, worker))["Ready"]
        assert ready == ("False", "WaitingForStartupOrder")
        assert lead in await story.stage.message(PodClique, worker, "Ready")
        await story.stage.patch(PodClique, lead, {"spec": {"replicas": 0}})
        await story.stage.delete(Pod, listed[0], grace=0)
        await story.stage.settle(LAPSE_SECONDS + 1)
        assert "initContainers" not in (await story.pod(listed[0]))["spec"]


@virtual
async def test_claims_of_each_pod_are_made_before_it_and_go_with_its_index() -> None:
    clique_body = a_clique("worker", 2)
    clique_body["resourceSharing"] = [{"name": "gpu", "scope": "PerReplica"}]
    template = {"name": "gpu", "templateSpec": {"spec": {"devices": {}}}}
    story = await a_story(clique_body, resourceClaimTemplates=[template])
    clique = await story.make_clique(story.member("worker"))
    await story.make_gang()
    listed = pod_names(clique, 2)
    await story.list_pods(clique, listed)
    async with story.operator():
        claims = [f"{clique}-0-gpu", f"{clique}-1-gpu"]
        assert await story.stage.names(ResourceClaim) == claims
        writes = [one for one in story.stage.writes() if one.startswith("POST")]
        assert writes == ["POST resourceclaims"] * 2 + ["POST pods"] * 2
        spec = (await story.pod(listed[1]))["spec"]
        assert spec["resourceClaims"][0]["resourceClaimName"] == claims[1]
        await story.stage.patch(PodClique, clique, {"spec": {"replicas": 1}})
        await story.list_pods(clique, listed[:1])
        await story.stage.settle(2)
        assert await story.stage.names(ResourceClaim) == claims[:1]


@virtual
async def test_a_breach_is_told_at_once_with_its_deadline_and_its_end_too() -> None:
    story, clique, listed = await a_running_story(2, terminationDelay="1h")
    async with story.operator(), kubelets(story.stage):
        for name in listed:
            await story.stage.patch(Pod, name, {"spec": {"schedulingGates": None}})
        await story.stage.settle(2)
        await story.stage.crash(listed[0])
        await story.stage.settle(0.05)
        conditions = await story.stage.conditions(PodClique, clique)
        assert conditions["MinAvailableBreached"] == ("True", "InsufficientReadyPods")
        message = await story.stage.message(PodClique, clique, "MinAvailableBreached")
        assert "made anew with its gang at 2026-01-01T01:00:07Z" in message
        await story.stage.ready(listed[0])
        await story.stage.settle(0.05)
        conditions = await story.stage.conditions(PodClique, clique)
        assert conditions["MinAvailableBreached"] == ("False", "SufficientReadyPods")
        told = {reason for reason, _ in await story.stage.events(clique)}
        assert told == {"InsufficientReadyPods", "SufficientReadyPods"}


@virtual
async def test_pods_without_the_label_that_we_read_by_are_made_with_it_all_the_same() -> None:
    story, clique, listed = await a_running_story(1)
    stripped = {"metadata": {"labels": {"app.kubernetes.io/managed-by": None}}}
    await story.stage.patch(PodClique, clique, stripped)
    async with story.operator():
        labels = (await story.pod(listed[0]))["metadata"]["labels"]
        assert labels["app.kubernetes.io/managed-by"] == "grove-operator"
