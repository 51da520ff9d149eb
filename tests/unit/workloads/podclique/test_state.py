# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from tests.unit.workloads.podclique.builders import MOST, NOW, Scene, a_pod, a_scene, pod_name
from tests.unit.workloads.sets import a_clique, a_group, a_set
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup, PodCliqueScalingGroupSpec
from trellis.api.meta import Metadata, OwnerReference, owner
from trellis.kube.events import Snapshot
from trellis.workloads.caches import Caches
from trellis.workloads.outline import Outline, Parent
from trellis.workloads.outlines import Outlines
from trellis.workloads.podclique.desired import plan
from trellis.workloads.podclique.state import member_of, observe
from trellis.workloads.podclique.surroundings import surroundings

if TYPE_CHECKING:
    from trellis.api.grove.podclique import PodClique
    from trellis.api.meta import Object
    from trellis.api.scheduler.podgang import PodGang
    from trellis.runtime.cache import Cache
    from trellis.workloads.outline import Member
    from trellis.workloads.podclique.state import State


def fill(cache: Cache[Any], *found: Object | None) -> None:
    objects = [one for one in found if one is not None]
    cache.replace(Snapshot(objects=objects, resource_version="5"))


def seen(scene: Scene, gang: PodGang | None = None) -> State | None:
    caches = Caches()
    fill(caches.sets, scene.set)
    fill(caches.cliques, scene.clique)
    fill(caches.gangs, gang or scene.gang)
    fill(caches.pods, *scene.pods)
    return observe(caches, Outlines(), scene.clique, MOST)


def changed(scene: Scene, **metadata: Any) -> PodGang:
    assert scene.gang is not None
    return structs.replace(scene.gang, metadata=structs.replace(scene.gang.metadata, **metadata))


def test_a_run_sees_the_gang_its_ledger_and_the_pods() -> None:
    pod = a_pod(pod_name("llm-0-worker", 0), 0)
    state = seen(a_scene(2, pods=(pod,)))
    assert state is not None
    assert state.pods == (pod,)
    assert state.gang is not None
    assert list(state.listed) == [0, 1]
    assert state.member is not None
    assert state.member.name == "llm-0-worker"


def test_pods_that_name_the_clique_as_one_of_several_owners_are_not_its_own() -> None:
    scene = a_scene(1)
    pod = a_pod("stray", 0)
    other = OwnerReference(api_version="v1", kind="X", name="x", uid="u", controller=True)
    mere = structs.replace(pod.metadata.owner_references[0], controller=False)
    both = structs.replace(pod.metadata, owner_references=(mere, other))
    state = seen(scene.but(pods=(structs.replace(pod, metadata=both),)))
    assert state is not None
    assert state.pods == ()


@pytest.mark.parametrize("owner_name", ["llm-0-worker", "squatter"])
def test_a_name_that_the_pod_of_a_predecessor_holds_is_left_to_the_ledger(owner_name: str) -> None:
    first = pod_name("llm-0-worker", 0)
    pod = a_pod(first, 0)
    before = structs.replace(pod.metadata.owner_references[0], uid="u", name=owner_name)
    held = structs.replace(pod.metadata, owner_references=(before,))
    state = seen(a_scene(2, pods=(structs.replace(pod, metadata=held),)))
    assert state is not None
    inherited = owner_name == "llm-0-worker"
    assert state.inherited == ({first} if inherited else set())
    assert [birth.index for birth in plan(state).create] == ([1] if inherited else [0, 1])


@pytest.mark.parametrize("deleted", [True, False], ids=["going", "gone"])
def test_there_is_nothing_to_look_at_when_the_set_goes(deleted: bool) -> None:
    scene = a_scene(1)
    caches = Caches()
    if deleted:
        metadata = structs.replace(scene.set.metadata, deletion_timestamp=NOW)
        fill(caches.sets, structs.replace(scene.set, metadata=metadata))
    assert observe(caches, Outlines(), scene.clique, MOST) is None


def test_a_set_that_was_made_anew_under_the_same_name_is_another_one() -> None:
    scene = a_scene(1)
    caches = Caches()
    metadata = structs.replace(scene.set.metadata, uid="another")
    fill(caches.sets, structs.replace(scene.set, metadata=metadata))
    assert observe(caches, Outlines(), scene.clique, MOST) is None


def test_a_gang_that_another_operator_wrote_or_that_is_going_is_not_obeyed() -> None:
    scene = a_scene(1)
    for gang in (changed(scene, labels={}), changed(scene, deletion_timestamp=NOW)):
        state = seen(scene, gang)
        assert state is not None
        assert (state.gang, state.conflict) == (None, None)
        assert not state.ledger_is_known


def test_a_gang_of_somebody_else_is_a_conflict_and_one_of_a_former_set_just_goes() -> None:
    scene = a_scene(1)
    former = structs.replace(owner(scene.set), uid="former")
    state = seen(scene, changed(scene, owner_references=(former,)))
    assert state is not None
    assert (state.gang, state.conflict) == (None, None)
    state = seen(scene, changed(scene, owner_references=()))
    assert state is not None
    assert state.gang is None
    assert str(state.conflict) == "llm-0 belongs to nobody"


def test_no_pods_are_listed_where_none_are_wanted_whatever_the_gang_still_says() -> None:
    state = seen(a_scene(2, spec={"replicas": 0}))
    assert state is not None
    assert state.listed == {}
    assert state.ledger_is_known


def cliques_like_each_other() -> Outline:
    return Outline(
        a_set(
            "llm",
            a_clique("worker"),
            a_clique("gpu-worker"),
            a_clique("lead"),
            groups=(a_group("sg", "gpu-worker", "lead", replicas=3),),
        )
    )


def test_cliques_whose_names_end_alike_are_never_mixed_up() -> None:
    outline = cliques_like_each_other()
    group = outline.groups["sg"]
    for member in (*outline.alone(0), *outline.grouped(0, group, 0), *outline.grouped(1, group, 2)):
        clique = Scene(outline.set, member).clique
        assert member_of(outline, clique) == member


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param({"grove.io/podcliqueset-replica-index": "1"}, id="of another replica"),
        pytest.param({"grove.io/podcliqueset-replica-index": "-1"}, id="no index"),
        pytest.param({"grove.io/podcliqueset-replica-index": "9" * 40}, id="a huge index"),
        pytest.param({"grove.io/podcliquescalinggroup-replica-index": "2"}, id="another of group"),
        pytest.param({"grove.io/podcliquescalinggroup-replica-index": ""}, id="none of group"),
    ],
)
def test_a_clique_whose_labels_say_something_else_than_its_name_is_nobody(
    labels: dict[str, str],
) -> None:
    outline = cliques_like_each_other()
    clique = Scene(outline.set, outline.grouped(0, outline.groups["sg"], 1)[0]).clique
    metadata = structs.replace(clique.metadata, labels=clique.metadata.labels | labels)
    assert member_of(outline, structs.replace(clique, metadata=metadata)) is None


def a_live_group(outline: Outline, replicas: int) -> PodCliqueScalingGroup:
    template = outline.groups["sg"]
    return PodCliqueScalingGroup(
        metadata=Metadata(
            name="llm-0-sg", namespace="default", owner_references=(owner(outline.set),)
        ),
        spec=PodCliqueScalingGroupSpec(replicas=replicas, clique_names=template.clique_names),
    )


def around(outline: Outline, member: Member, *live: PodClique, group: int | None = None) -> Any:
    caches = Caches()
    fill(caches.cliques, *live)
    fill(caches.groups, None if group is None else a_live_group(outline, group))
    return surroundings(caches, Scene(outline.set, member).state, member)


def scaled(outline: Outline, member: Member, replicas: int) -> PodClique:
    return Scene(outline.set, member, spec={"replicas": replicas}).clique


def test_pods_of_a_group_are_counted_by_what_is_live_and_else_by_the_template() -> None:
    cliques = (a_clique("a", 1), a_clique("b", 2), a_clique("c", 1))
    # The order is that of the group, which need not be that of the set.
    outline = Outline(a_set("llm", *cliques, groups=(a_group("sg", "b", "a", "c"),)))
    first, second, third = outline.grouped(0, outline.groups["sg"], 0)
    assert around(outline, first).pods_before == 0
    assert around(outline, second).pods_before == 2
    assert around(outline, third).pods_before == 3
    assert around(outline, third, scaled(outline, first, 7)).pods_before == 8


def test_parents_in_replicas_that_a_group_does_not_have_now_are_not_waited_for() -> None:
    outline = Outline(
        a_set(
            "llm",
            a_clique("lead", 2),
            a_clique("after", 1),
            groups=(a_group("sg", "lead", replicas=2, least=2),),
            startup="CliqueStartupTypeInOrder",
        )
    )
    (member,) = outline.alone(0)
    both = ["llm-0-sg-0-lead", "llm-0-sg-1-lead"]
    assert [one.name for one in around(outline, member).parents] == both
    assert [one.name for one in around(outline, member, group=1).parents] == both[:1]
    assert around(outline, member, group=0).parents == ()


def test_in_the_place_of_a_parent_without_pods_what_it_would_wait_for_is_waited_for() -> None:
    cliques = (a_clique("a", 2), a_clique("b", 1), a_clique("c", 1), a_clique("d", 1))
    outline = Outline(a_set("llm", *cliques, startup="CliqueStartupTypeInOrder"))
    _, second, third, last = outline.alone(0)
    no_second, no_third = scaled(outline, second, 0), scaled(outline, third, 0)
    assert around(outline, third, no_second).parents == (Parent("llm-0-a", 2),)
    assert around(outline, last, no_second, no_third).parents == (Parent("llm-0-a", 2),)
    assert around(outline, last, no_second).parents == (Parent("llm-0-c", 1),)


def test_two_parents_without_pods_have_those_before_them_waited_for_once() -> None:
    cliques = (
        a_clique("a", 1),
        a_clique("b", 1, startsAfter=["a"]),
        a_clique("c", 1, startsAfter=["a"]),
        a_clique("d", 1, startsAfter=["b", "c"]),
    )
    outline = Outline(a_set("llm", *cliques, startup="CliqueStartupTypeExplicit"))
    _, second, third, last = outline.alone(0)
    live = (scaled(outline, second, 0), scaled(outline, third, 0))
    assert around(outline, last, *live).parents == (Parent("llm-0-a", 1),)


def test_a_parent_need_not_have_more_ready_than_it_has_pods() -> None:
    cliques = (a_clique("lead", 3, 3), a_clique("after", 1))
    outline = Outline(a_set("llm", *cliques, startup="CliqueStartupTypeInOrder"))
    lead, member = outline.alone(0)
    (parent,) = around(outline, member, scaled(outline, lead, 2)).parents
    assert (parent.name, parent.needed) == ("llm-0-lead", 2)
    assert around(outline, member, scaled(outline, lead, 0)).parents == ()
