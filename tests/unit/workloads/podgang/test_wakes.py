# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from tests.unit.workloads.podgang.builders import (
    a_gang,
    a_pod,
    a_podclique,
    a_state,
    a_status,
    ago,
    gated,
    wl2,
)
from trellis.api.conditions import Condition
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup, PodCliqueScalingGroupSpec
from trellis.api.labels import POD_CLIQUE, POD_GANG, of_set_replica
from trellis.api.meta import Key, Metadata, Object, owner
from trellis.api.scheduler.podgang import PodGangStatus
from trellis.kube.events import Snapshot
from trellis.workloads.caches import Caches
from trellis.workloads.outline import Outline
from trellis.workloads.podgang.backend import Backend
from trellis.workloads.podgang.membership import Place
from trellis.workloads.podgang.wakes import (
    Waking,
    matters_of_base_gang,
    matters_of_clique,
    matters_of_placement,
    matters_of_pod,
    matters_of_size,
    matters_of_spec,
)

if TYPE_CHECKING:
    from trellis.api.grove.podclique import PodClique
    from trellis.runtime.cache import Cache

SET = wl2()
OUTLINE = Outline(SET)
GROUP = OUTLINE.groups["sg-x"]
ALONE = a_podclique(SET, OUTLINE.alone(0)[0])
MEMBERS = [
    a_podclique(SET, member) for index in range(2) for member in OUTLINE.grouped(0, GROUP, index)
]
BASE = a_gang()
SCALED = a_gang(a_state(place=Place(replica=0, group=GROUP, index=1)))


def filled(cache: Cache[Any], *objects: Object) -> None:
    cache.replace(Snapshot(objects=list(objects), resource_version="1"))


@pytest.fixture
def caches() -> Caches:
    made = Caches()
    filled(made.cliques, ALONE, *MEMBERS)
    filled(made.gangs, BASE, SCALED)
    return made


def names(keys: Any) -> list[str]:
    return list(dict.fromkeys(str(key) for key in keys))


def test_a_podclique_wakes_its_gang_and_the_one_that_falls_with_it(caches: Caches) -> None:
    waking = Waking(caches)
    assert names(waking.of_clique(ALONE)) == ["default/wl2-0"]
    assert names(waking.of_clique(MEMBERS[-1])) == ["default/wl2-0-sg-x-0", "default/wl2-0"]


def labelled(**labels: str) -> Any:
    pod = a_pod("p", 0)
    return structs.replace(pod, metadata=structs.replace(pod.metadata, labels=labels))


def test_a_pod_wakes_the_gang_it_names_and_that_of_its_podclique(caches: Caches) -> None:
    waking = Waking(caches)
    pod = labelled(**{POD_GANG: "wl2-0-epoch", POD_CLIQUE: ALONE.metadata.name})
    assert names(waking.of_pod(pod)) == ["default/wl2-0-epoch", "default/wl2-0"]
    assert names(waking.of_pod(labelled(**{POD_CLIQUE: "stranger"}))) == []


def test_a_base_gang_wakes_those_that_come_after_it(caches: Caches) -> None:
    waking = Waking(caches)
    assert names(waking.of_base_gang(BASE)) == ["default/wl2-0-sg-x-0"]
    assert names(waking.of_base_gang(SCALED)) == []


def test_a_pod_of_a_base_gang_that_has_a_node_wakes_those_that_come_after_it(
    caches: Caches,
) -> None:
    """Also when the status of that gang never told that it lacked one."""
    waking = Waking(caches)
    labels = {POD_GANG: "wl2-0", POD_CLIQUE: ALONE.metadata.name}
    bound = labelled(**labels)
    unbound = structs.replace(bound, spec=structs.replace(bound.spec, node_name=""))
    assert names(waking.after_pod(bound)) == ["default/wl2-0-sg-x-0"]
    assert names(waking.after_pod(unbound)) == []
    assert matters_of_placement(unbound, bound)
    assert not matters_of_placement(bound, bound)


def a_group(replicas: int, **labels: str) -> PodCliqueScalingGroup:
    return PodCliqueScalingGroup(
        metadata=Metadata(
            name="wl2-0-sg-x",
            namespace="default",
            labels=labels or of_set_replica("wl2", 0),
            owner_references=(owner(SET),),
        ),
        spec=PodCliqueScalingGroupSpec(replicas=replicas, clique_names=("pc-b", "pc-c")),
    )


def test_a_scaling_group_wakes_the_base_gang_and_what_it_has_no_more(caches: Caches) -> None:
    waking = Waking(caches)
    assert names(waking.of_group(a_group(2))) == ["default/wl2-0"]
    assert names(waking.of_group(a_group(1))) == ["default/wl2-0", "default/wl2-0-sg-x-0"]
    assert names(waking.of_group(a_group(2, other="1"))) == []


def test_a_scaling_group_below_its_minimum_wakes_what_comes_after_the_base_gang(
    caches: Caches,
) -> None:
    """The base gang is to have less than before, and need not change for that: it never grew."""
    filled(caches.gangs, BASE)
    assert names(Waking(caches).of_group(a_group(0))) == ["default/wl2-0", "default/wl2-0-sg-x-0"]


def scaled_to(clique: PodClique, replicas: int) -> PodClique:
    return structs.replace(clique, spec=structs.replace(clique.spec, replicas=replicas))


@pytest.mark.parametrize(
    ("clique", "woken"),
    [
        pytest.param(scaled_to(ALONE, 0), ["default/wl2-0-sg-x-0"], id="of the base gang"),
        pytest.param(ALONE, [], id="it is to have pods"),
        pytest.param(scaled_to(MEMBERS[-1], 0), [], id="of a scaled gang"),
    ],
)
def test_a_podclique_that_is_to_have_no_pods_wakes_what_comes_after_the_base_gang(
    caches: Caches, clique: PodClique, woken: list[str]
) -> None:
    assert names(Waking(caches).after_clique(clique)) == woken
    assert matters_of_size(ALONE, scaled_to(ALONE, 0))
    assert not matters_of_size(ALONE, ALONE)


def test_a_set_wakes_the_gangs_it_has_and_those_to_come(caches: Caches) -> None:
    filled(caches.gangs)
    waking = Waking(caches)
    assert names(waking.of_set(SET)) == ["default/wl2-0", "default/wl2-0-sg-x-0"]


def test_what_kai_becomes_wakes_the_gangs_for_it(caches: Caches) -> None:
    filled(caches.gangs, BASE, a_gang(backend=Backend(scheduler="kai-scheduler"), name="for-kai"))
    assert list(Waking(caches).of_kai(BASE)) == [Key("default", "for-kai")]


def with_status(clique: PodClique, **status: Any) -> PodClique:
    return structs.replace(clique, status=structs.replace(clique.status, **status))


UP = with_status(ALONE, conditions=a_status(ago(9)).conditions, first_available_time=ago(9))


@pytest.mark.parametrize(
    ("new", "matters"),
    [
        pytest.param(with_status(UP, ready_replicas=9), False, id="how many are ready"),
        pytest.param(
            with_status(UP, conditions=a_status(ago(9), ago(1)).conditions), True, id="it broke"
        ),
        pytest.param(with_status(UP, first_available_time=ago(1)), True, id="it was up"),
        pytest.param(
            structs.replace(UP, spec=structs.replace(UP.spec, replicas=9)), True, id="its scale"
        ),
        pytest.param(
            structs.replace(UP, metadata=structs.replace(UP.metadata, deletion_timestamp=ago(1))),
            True,
            id="it is going",
        ),
    ],
)
def test_what_of_a_podclique_matters(new: PodClique, matters: bool) -> None:
    assert matters_of_clique(UP, new) is matters


def test_what_of_a_pod_matters() -> None:
    pod = a_pod("p", 0)
    assert not matters_of_pod(
        pod, structs.replace(pod, status=structs.replace(pod.status, container_statuses=()))
    )
    assert matters_of_pod(pod, a_pod("p", 0, ready=False))
    assert matters_of_pod(pod, a_pod("p", 0, leaving=True))
    assert matters_of_pod(gated("p", 0), a_pod("p", 0, node="", phase="Pending", ready=False))


def test_what_of_a_base_gang_matters() -> None:
    def told(type_: str, status: str) -> Any:
        condition = Condition(type=type_, status=status, reason="Test")
        return structs.replace(BASE, status=PodGangStatus(conditions=(condition,)))

    assert matters_of_base_gang(told("Scheduled", "False"), told("Scheduled", "True"))
    assert matters_of_base_gang(told("Unhealthy", "False"), told("Unhealthy", "True"))
    assert not matters_of_base_gang(told("Ready", "False"), told("Ready", "True"))


def test_the_status_of_a_set_is_none_of_a_gangs_business() -> None:
    later = structs.replace(SET, status=structs.replace(SET.status, replicas=5))
    assert not matters_of_spec(SET, later)
    marked = structs.replace(SET.metadata, labels={"team": "red"})
    assert matters_of_spec(SET, structs.replace(SET, metadata=marked))
    changed = structs.replace(SET.metadata, generation=2)
    assert matters_of_spec(SET, structs.replace(SET, metadata=changed))
