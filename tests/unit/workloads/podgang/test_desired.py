# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from tests.unit.workloads.podgang.builders import (
    DEFAULT,
    NOW,
    a_gang,
    a_pod,
    a_state,
    name_of,
    pods_of,
    wl2,
)
from trellis.api.annotation import FROM_TEMPLATE, KAI_SKIP_POD_GROUPER, POD_LEDGER
from trellis.api.meta import OwnerReference, to_builtins
from trellis.api.scheduler.podgang import (
    GangTopologyConstraint,
    GroupConstraint,
    PackConstraint,
    PodGang,
)
from trellis.workloads.outline import Outline
from trellis.workloads.podgang.backend import Backend
from trellis.workloads.podgang.desired import compare, desired
from trellis.workloads.podgang.membership import Place
from trellis.workloads.podgang.plan import plan
from trellis.workloads.podgang.recycle import NOTHING

if TYPE_CHECKING:
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.workloads.podgang.state import State

KAI = Backend(scheduler="kai-scheduler", queue="research")
SCALED = Place(replica=0, group=Outline(wl2()).groups["sg-x"], index=1)


def wanted(state: State, backend: Backend = DEFAULT) -> PodGang | None:
    return desired(state, plan(state, NOTHING, NOW), backend)


def made(state: State, backend: Backend = DEFAULT) -> PodGang:
    found = wanted(state, backend)
    assert found is not None
    return found


def test_the_base_gang_as_it_is_made() -> None:
    owner = wl2(priorityClassName="high")
    assert to_builtins(made(a_state(owner))) == {
        "metadata": {
            "name": "wl2-0",
            "namespace": "default",
            "labels": {
                "app.kubernetes.io/managed-by": "grove-operator",
                "app.kubernetes.io/part-of": "wl2",
                "app.kubernetes.io/component": "podgang",
                "grove.io/pcs-name": "wl2",
                "grove.io/podcliqueset-replica-index": "0",
                "grove.io/pcs-replica-index": "0",
                "grove.io/scheduler-name": "default-scheduler",
            },
            "ownerReferences": [
                {
                    "apiVersion": "grove.io/v1alpha1",
                    "kind": "PodCliqueSet",
                    "name": "wl2",
                    "uid": "uid-wl2",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {
            "podgroups": [
                a_group("wl2-0-pc-a", 2, least=1),
                a_group("wl2-0-sg-x-0-pc-b", 1, least=1),
                a_group("wl2-0-sg-x-0-pc-c", 3, least=1),
            ],
            "priorityClassName": "high",
        },
    }


def a_group(clique: str, count: int, least: int) -> dict[str, Any]:
    names = [name_of(clique, index) for index in range(count)]
    references = [{"namespace": "default", "name": name} for name in names]
    return {"name": clique, "podReferences": references, "minReplicas": least}


def test_a_scaled_gang_says_which_replica_of_its_group_it_is() -> None:
    found = made(a_state(place=SCALED)).metadata
    assert found.name == "wl2-0-sg-x-0"
    assert found.labels["grove.io/podcliquescalinggroup"] == "wl2-0-sg-x"
    assert found.labels["grove.io/podcliquescalinggroup-replica-index"] == "1"
    assert found.labels["grove.io/pcsg-name"] == "sg-x"
    assert "grove.io/base-podgang" not in found.labels


def test_a_clique_of_none_is_left_out_and_a_gang_of_none_is_none() -> None:
    found = made(a_state(pc_a=0))
    assert next(group.name for group in found.spec.podgroups) == "wl2-0-sg-x-0-pc-b"
    assert wanted(a_state(pc_a=0, pc_b=0, pc_c=0)) is None


def test_a_minimum_is_never_more_than_is_wanted() -> None:
    groups = made(a_state(pc_c=2, owner=wl2())).spec.podgroups
    assert [group.min_replicas for group in groups] == [1, 1, 1]
    strict = wl2()
    template = strict.spec.template
    cliques = tuple(
        structs.replace(one, spec=structs.replace(one.spec, min_available=one.spec.replicas))
        for one in template.cliques
    )
    spec = structs.replace(strict.spec, template=structs.replace(template, cliques=cliques))
    groups = made(a_state(structs.replace(strict, spec=spec), pc_c=2)).spec.podgroups
    assert [group.min_replicas for group in groups] == [2, 1, 2]


def marked(**metadata: Any) -> PodCliqueSet:
    return wl2(metadata=metadata)


def test_gangs_are_marked_as_their_set_but_for_what_means_something_else_there() -> None:
    owner = marked(
        labels={"team": "red", "grove.io/x": "1", "app.kubernetes.io/part-of": "theirs"},
        annotations={
            "note": "hello",
            "trellis.dev/placement": "wait",
            "grove.io/reconcile-trigger": "1",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
            "scheduling.grove.io/volcano-queue": "q",
        },
    )
    found = made(a_state(owner)).metadata
    assert found.labels["team"] == "red"
    assert found.labels["app.kubernetes.io/part-of"] == "wl2"
    assert "grove.io/x" not in found.labels
    kept = {"note": "hello", "scheduling.grove.io/volcano-queue": "q"}
    assert {key: found.annotations[key] for key in kept} == kept
    assert set(found.annotations) == {*kept, FROM_TEMPLATE}


def stored(gang: PodGang, **metadata: Any) -> PodGang:
    return structs.replace(gang, metadata=structs.replace(gang.metadata, **metadata))


def test_what_is_as_it_should_be_is_not_written() -> None:
    gang = a_gang()
    assert compare(gang, made(a_state(gang=gang))) == {}


def test_marks_of_others_stay_and_those_of_the_set_follow_it() -> None:
    before = a_gang(a_state(marked(labels={"team": "red", "tier": "1"})))
    gang = stored(before, labels={**before.metadata.labels, "theirs": "stays"})
    patch = compare(gang, made(a_state(marked(labels={"team": "blue"}), gang=gang)))
    assert patch == {
        "metadata": {
            "labels": {"team": "blue", "tier": None},
            "annotations": {FROM_TEMPLATE: '{"labels":["team"]}'},
        }
    }


def test_a_change_of_the_ledger_holds_for_the_version_that_was_read() -> None:
    gang = a_gang()
    lost = a_pod(name_of("wl2-0-pc-a", 0), 0, leaving=True)
    patch = compare(gang, made(a_state(gang=gang, pods=[lost])))
    assert patch["metadata"] == {"resourceVersion": "9"}
    first, *others = patch["spec"]["podgroups"]
    names = [reference["name"] for reference in first["podReferences"]]
    assert names == [
        name_of("wl2-0-pc-a", 0, lost.metadata.name),
        name_of("wl2-0-pc-a", 1),
    ]
    assert others == to_builtins(gang.spec)["podgroups"][1:]


def test_a_gang_of_another_operator_is_taken_over_in_one_write() -> None:
    ours = a_gang()
    theirs = stored(ours, labels={"app.kubernetes.io/part-of": "wl2"})
    live = a_pod("wl2-0-pc-a-x2zb9", 1)
    state = replace(a_state(gang=theirs, pods=[live]), listed_names={})
    state = replace(state, parts=tuple(replace(part, listed=None) for part in state.parts))
    patch = compare(theirs, made(state))
    assert patch["metadata"]["resourceVersion"] == "9"
    assert patch["metadata"]["labels"]["grove.io/pcs-name"] == "wl2"
    names = [each["name"] for each in patch["spec"]["podgroups"][0]["podReferences"]]
    assert names == [name_of("wl2-0-pc-a", 0), "wl2-0-pc-a-x2zb9"]


def rack(required: str = "rack") -> GangTopologyConstraint:
    return GangTopologyConstraint(pack_constraint=PackConstraint(required=required))


def test_constraints_that_others_set_stay() -> None:
    gang = a_gang()
    groups = tuple(
        structs.replace(group, topology_constraint=rack()) for group in gang.spec.podgroups
    )
    config = GroupConstraint(name="wl2-0-sg-x-0", pod_group_names=tuple(g.name for g in groups[1:]))
    spec = structs.replace(
        gang.spec,
        podgroups=groups,
        topology_constraint=rack("zone"),
        topology_constraint_group_configs=(config,),
    )
    gang = structs.replace(gang, spec=spec)
    found = made(a_state(gang=gang, pc_a=5))
    assert all(group.topology_constraint == rack() for group in found.spec.podgroups)
    assert found.spec.topology_constraint == rack("zone")
    assert found.spec.topology_constraint_group_configs == (config,)
    without = made(a_state(gang=gang, pc_c=0))
    (left,) = without.spec.topology_constraint_group_configs
    assert left.pod_group_names == ("wl2-0-sg-x-0-pc-b",)
    patch = compare(gang, made(a_state(gang=gang, pc_b=0, pc_c=0)))
    assert patch["spec"]["topologyConstraintGroupConfigs"] is None


def test_a_group_whose_podclique_is_being_put_back_stays_as_it_is() -> None:
    gang = a_gang()
    state = a_state(gang=gang)
    lacking = replace(state, parts=state.parts[1:])
    assert made(lacking).spec == gang.spec
    assert not lacking.is_complete


def test_a_priority_class_that_is_gone_from_the_set_goes_from_its_gangs() -> None:
    gang = a_gang(a_state(wl2(priorityClassName="high")))
    patch = compare(gang, made(a_state(gang=gang)))
    assert patch["spec"] == {"priorityClassName": None}


def ledger(gang: PodGang) -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(gang.metadata.annotations[POD_LEDGER])
    return found


def test_kai_is_told_only_of_pods_that_exist_and_the_ledger_is_beside_that() -> None:
    empty = made(a_state(), KAI)
    assert [group.pod_references for group in empty.spec.podgroups] == [(), (), ()]
    assert [group.min_replicas for group in empty.spec.podgroups] == [1, 1, 1]
    assert ledger(empty) == ledger(made(a_state(gang=stored(empty, uid="u")), KAI))
    assert [len(names) for names in ledger(empty).values()] == [2, 1, 3]
    assert empty.metadata.labels["kai.scheduler/queue"] == "research"
    pod = a_pod(name_of("wl2-0-pc-a", 1), 1)
    found = made(a_state(pods=[pod]), KAI)
    assert [each.name for each in found.spec.podgroups[0].pod_references] == [pod.metadata.name]
    assert ledger(found) == ledger(empty)


def test_a_gang_handed_over_as_a_podgroup_says_that_kai_need_not_look_at_it() -> None:
    found = made(a_state(), Backend(scheduler="kai-scheduler", as_pod_group=True))
    assert found.metadata.annotations[KAI_SKIP_POD_GROUPER] == "true"
    assert "kai.scheduler/queue" not in found.metadata.labels


def test_a_change_of_kais_ledger_alone_is_guarded_too() -> None:
    gang = a_gang(backend=KAI)
    pods = pods_of(a_gang())
    gang = structs.replace(gang, spec=made(a_state(pods=pods), KAI).spec)
    state = a_state(gang=gang, pods=pods, pc_a=3)
    patch = compare(gang, made(state, KAI))
    assert set(patch) == {"metadata"}
    assert patch["metadata"]["resourceVersion"] == "9"
    assert list(patch["metadata"]["annotations"]) == [POD_LEDGER]


@pytest.mark.parametrize("foreign", [True, False])
def test_only_gangs_are_compared(foreign: bool) -> None:
    gang: Any = a_gang()
    other: Any = wl2()
    with pytest.raises(TypeError, match="is none"):
        compare(other if foreign else gang, gang if foreign else other)


def test_its_owner_is_the_set() -> None:
    (reference,) = made(a_state()).metadata.owner_references
    assert isinstance(reference, OwnerReference)
    assert (reference.kind, reference.uid, reference.controller) == (
        "PodCliqueSet",
        "uid-wl2",
        True,
    )
