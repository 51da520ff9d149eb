# SPDX-License-Identifier: Apache-2.0
"""What is agreed with KAI: queues, marks, the way a gang is handed over, its PodGroup."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import structs

from tests.unit.workloads.podgang.builders import a_bare_gang, a_gang, a_pod_group, a_state, wl2
from tests.unit.workloads.sets import POD_SPEC, a_clique, a_set
from trellis.api.annotation import KAI_SKIP_POD_GROUPER
from trellis.api.config.types import Kai, OperatorConfiguration, Schedulers, Trellis
from trellis.api.labels import KAI_QUEUE
from trellis.api.meta import to_builtins
from trellis.api.scheduler.podgang import (
    GangTopologyConstraint,
    GroupConstraint,
    PackConstraint,
    PodGang,
)
from trellis.workloads.kai import PodMarks, is_for_kai, pod_marks, queue_of, scheduler_of
from trellis.workloads.outline import Outline
from trellis.workloads.podgang.backend import Backend, KaiHere, backend
from trellis.workloads.podgang.podgroups import (
    KaiPodGroup,
    PodGroupDefinition,
    compare_pod_group,
    kai_here,
    pod_group,
)

SCHEDULER = "kai-scheduler"
FOR_KAI = {"grove.io/scheduler-name": SCHEDULER}
BACKEND = Backend(scheduler=SCHEDULER, queue="research")
HANDED = Backend(scheduler=SCHEDULER, queue="research", as_pod_group=True)
SERVED = KaiHere(serves_pod_groups=True, knows_subgroups=True)
OLD = KaiHere(serves_pod_groups=True)


def by(scheduler: str) -> dict[str, Any]:
    return {"podSpec": {**POD_SPEC, "schedulerName": scheduler}}


def test_the_scheduler_is_the_first_that_a_clique_names() -> None:
    cliques = a_set("s", a_clique("a"), a_clique("b", **by(SCHEDULER))).spec.template.cliques
    assert scheduler_of(cliques, "default-scheduler") == SCHEDULER
    assert scheduler_of(cliques[:1], "default-scheduler") == "default-scheduler"


QUEUE = {KAI_QUEUE: "research"}


@pytest.mark.parametrize(
    ("metadata", "cliques", "queue"),
    [
        pytest.param({"labels": QUEUE}, [{}], "research", id="the label of the set"),
        pytest.param({"annotations": QUEUE}, [{}], "research", id="its annotation"),
        pytest.param(
            {"labels": QUEUE, "annotations": {KAI_QUEUE: "other"}},
            [{}],
            "research",
            id="the label before the annotation",
        ),
        pytest.param({}, [{"labels": QUEUE}], "research", id="that of its only clique"),
        pytest.param(
            {}, [{}, {"annotations": QUEUE}, {"labels": QUEUE}], "research", id="that of several"
        ),
        pytest.param({"labels": QUEUE}, [{"labels": QUEUE}], "research", id="all agree"),
    ],
)
def test_the_queue_of_a_set(
    metadata: dict[str, Any], cliques: list[dict[str, Any]], queue: str
) -> None:
    owner = a_set("s", *(a_clique(f"c{i}", **c) for i, c in enumerate(cliques)), metadata=metadata)
    found = queue_of(owner)
    assert (found.name, found.problem) == (queue, "")


@pytest.mark.parametrize(
    ("metadata", "cliques", "problem"),
    [
        pytest.param({}, [{}], "none is named: label the set with kai.scheduler/queue", id="none"),
        pytest.param(
            {"labels": QUEUE},
            [{"labels": {KAI_QUEUE: "other"}}],
            "the set names 'research' and clique c0 names 'other'",
            id="a clique contradicts the set",
        ),
        pytest.param(
            {},
            [{"labels": QUEUE}, {"labels": {KAI_QUEUE: "other"}}],
            "clique c0 names 'research' and clique c1 names 'other'",
            id="two cliques contradict each other",
        ),
    ],
)
def test_why_there_is_no_queue(
    metadata: dict[str, Any], cliques: list[dict[str, Any]], problem: str
) -> None:
    owner = a_set("s", *(a_clique(f"c{i}", **c) for i, c in enumerate(cliques)), metadata=metadata)
    found = queue_of(owner)
    assert found.name == ""
    assert problem in found.problem


def test_pods_are_marked_for_kai_as_their_gang_is_handed_over() -> None:
    plain = a_gang()
    assert pod_marks(plain, "c") == PodMarks()
    assert not is_for_kai(plain)
    read = a_gang(backend=BACKEND)
    subgroup = {"kai.scheduler/subgroup-name": "wl2-0-pc-a"}
    assert pod_marks(read, "wl2-0-pc-a") == PodMarks(labels=subgroup)
    written = pod_marks(a_gang(backend=HANDED), "wl2-0-pc-a")
    assert written.labels == subgroup
    assert written.annotations == {
        "kai.scheduler/skip-podgrouper": "true",
        "pod-group-name": "wl2-0",
    }


def configured(mode: str = "auto", default: str = SCHEDULER) -> OperatorConfiguration:
    return OperatorConfiguration(
        trellis=Trellis(kai=Kai(mode=mode)), scheduler=Schedulers(default_profile_name=default)
    )


QUEUED = Outline(wl2(metadata={"labels": QUEUE}))


@pytest.mark.parametrize(
    ("mode", "here", "as_pod_group"),
    [
        pytest.param("auto", SERVED, True, id="a KAI that knows groups of groups is given one"),
        pytest.param("auto", OLD, False, id="an older one reads the PodGang"),
        pytest.param("auto", KaiHere(), False, id="and so does one whose PodGroups are not served"),
        pytest.param("podgang", SERVED, False, id="as configured"),
        pytest.param("podgroup", OLD, True, id="as configured the other way"),
    ],
)
def test_how_a_gang_is_handed_to_kai(mode: str, here: KaiHere, as_pod_group: bool) -> None:
    found = backend(QUEUED, None, configured(mode), here)
    assert (found.as_pod_group, found.queue, found.problem) == (as_pod_group, "research", "")


@pytest.mark.parametrize("handed", [BACKEND, HANDED], ids=["read by KAI", "as a PodGroup"])
@pytest.mark.parametrize("mode", ["auto", "podgang", "podgroup"])
def test_a_gang_stays_handed_over_as_it_was_made(handed: Backend, mode: str) -> None:
    gang = a_gang(backend=handed)
    found = backend(QUEUED, gang, configured(mode), SERVED)
    assert found.as_pod_group is handed.as_pod_group


def test_other_schedulers_need_no_queue() -> None:
    found = backend(Outline(wl2()), None, configured(default="default-scheduler"), SERVED)
    assert found == Backend(scheduler="default-scheduler")
    assert not found.is_kai


def test_a_set_without_a_queue_and_a_cluster_without_podgroups_are_problems() -> None:
    assert "none is named" in backend(Outline(wl2()), None, configured(), SERVED).problem
    lacking = backend(QUEUED, None, configured("podgroup"), KaiHere())
    assert "podgroups.scheduling.run.ai is not served here" in lacking.problem


# KAI's own PodGroup


def test_the_podgroup_of_a_gang_that_kai_is_given() -> None:
    gang = a_gang(a_state(wl2(priorityClassName="train")), HANDED)
    found = pod_group(gang, "research")
    assert to_builtins(found)["spec"] == {
        "minMember": 3,
        "queue": "research",
        "priorityClassName": "train",
        "subGroups": [
            {"name": "wl2-0-pc-a", "minMember": 1},
            {"name": "wl2-0-sg-x-0-pc-b", "minMember": 1},
            {"name": "wl2-0-sg-x-0-pc-c", "minMember": 1},
        ],
    }
    metadata = found.metadata
    assert (metadata.name, metadata.namespace) == ("wl2-0", "default")
    (owner,) = metadata.owner_references
    assert (owner.kind, owner.name, owner.uid, owner.controller) == (
        "PodGang",
        "wl2-0",
        "uid-gang",
        True,
    )
    assert metadata.labels == gang.metadata.labels
    assert metadata.annotations == {KAI_SKIP_POD_GROUPER: "true"}, "our own notes are not for KAI"


def constrained() -> PodGang:
    def within(required: str = "", preferred: str = "") -> GangTopologyConstraint:
        pack = PackConstraint(required=required, preferred=preferred)
        return GangTopologyConstraint(pack_constraint=pack)

    leaf = structs.replace(a_pod_group("b", least=2), topology_constraint=within("host"))
    gang = a_bare_gang("g", a_pod_group("a", least=1), leaf, a_pod_group("c", least=4))
    config = GroupConstraint(
        name="both", pod_group_names=("b", "c"), topology_constraint=within("rack", "host")
    )
    spec = structs.replace(
        gang.spec,
        topology_constraint=within("zone"),
        topology_constraint_group_configs=(config,),
    )
    metadata = structs.replace(gang.metadata, annotations={"grove.io/topology-name": "net"})
    return structs.replace(gang, spec=spec, metadata=metadata)


def test_groups_of_groups_and_constraints_reach_kai() -> None:
    found = to_builtins(pod_group(constrained(), "q"))["spec"]
    assert found["minMember"] == 7
    assert found["topologyConstraint"] == {"topology": "net", "requiredTopologyLevel": "zone"}
    assert found["subGroups"] == [
        {
            "name": "both",
            "minSubGroup": 2,
            "topologyConstraint": {
                "topology": "net",
                "requiredTopologyLevel": "rack",
                "preferredTopologyLevel": "host",
            },
        },
        {"name": "a", "minMember": 1},
        {
            "name": "b",
            "minMember": 2,
            "parent": "both",
            "topologyConstraint": {"topology": "net", "requiredTopologyLevel": "host"},
        },
        {"name": "c", "minMember": 4, "parent": "both"},
    ]


def stored(found: KaiPodGroup, **spec: Any) -> KaiPodGroup:
    body = to_builtins(found)
    body["metadata"]["resourceVersion"] = "3"
    body["spec"] |= spec
    return msgspec.json.decode(json.dumps(body), type=KaiPodGroup)


def test_a_podgroup_that_is_as_it_should_be_is_not_written() -> None:
    wanted = pod_group(constrained(), "q")
    assert compare_pod_group(stored(wanted), wanted) == {}


def test_what_kai_made_its_own_is_left_to_it() -> None:
    wanted = pod_group(a_gang(backend=HANDED), "research")
    theirs = {"kai.scheduler/queue": "moved", "kai.scheduler/node-pool": "blue", "extra": "1"}
    have = stored(wanted, queue="moved", markUnschedulable=True, schedulingBackoff=3)
    labels = {**have.metadata.labels, **theirs}
    have = structs.replace(have, metadata=structs.replace(have.metadata, labels=labels))
    assert compare_pod_group(have, wanted) == {}


def test_what_the_gang_says_now_is_written() -> None:
    have = stored(pod_group(constrained(), "q"))
    wanted = pod_group(a_bare_gang("g", a_pod_group("a", least=5)), "q")
    patch = compare_pod_group(have, wanted)
    assert patch["spec"]["minMember"] == 5
    assert patch["spec"]["subGroups"] == [{"name": "a", "minMember": 5}]
    assert patch["spec"]["topologyConstraint"] is None


def a_definition(
    *, served: bool = True, sub_groups: bool = True, **more: Any
) -> PodGroupDefinition:
    properties: dict[str, Any] = {"minMember": {"type": "integer"}}
    if sub_groups:
        properties["minSubGroup"] = {"type": "integer"}
    schema = {"properties": {"spec": {"properties": properties}}}
    body = {
        "metadata": {"name": "podgroups.scheduling.run.ai", **more},
        "spec": {
            "versions": [
                {"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}},
                {"name": "v2alpha2", "served": served, "schema": {"openAPIV3Schema": schema}},
            ]
        },
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    }
    return msgspec.json.decode(json.dumps(body), type=PodGroupDefinition)


@pytest.mark.parametrize(
    ("definition", "here"),
    [
        pytest.param(None, KaiHere(), id="not there"),
        pytest.param(a_definition(), SERVED, id="a new one"),
        pytest.param(a_definition(sub_groups=False), OLD, id="an old one"),
        pytest.param(a_definition(served=False), KaiHere(), id="another version"),
        pytest.param(a_definition(deletionTimestamp="2026-01-01T00:00:00Z"), KaiHere(), id="going"),
        pytest.param(
            structs.replace(a_definition(), status=PodGroupDefinition.__struct_defaults__[-1]),
            KaiHere(),
            id="not established yet",
        ),
    ],
)
def test_which_kai_is_here_is_read_from_its_definition(
    definition: PodGroupDefinition | None, here: KaiHere
) -> None:
    assert kai_here(definition) == here


@pytest.mark.parametrize("schema", [b"{}", b"[]", b'{"properties": 1}', b'"x"', b"null"])
def test_a_schema_that_makes_no_sense_has_nothing(schema: bytes) -> None:
    found = a_definition()
    versions = tuple(
        structs.replace(
            one, schema=structs.replace(one.schema, open_api_v3_schema=msgspec.Raw(schema))
        )
        for one in found.spec.versions
    )
    spec = structs.replace(found.spec, versions=versions)
    assert kai_here(structs.replace(found, spec=spec)) == OLD


def test_only_podgroups_are_compared() -> None:
    other: Any = a_gang()
    with pytest.raises(TypeError, match="is none"):
        compare_pod_group(other, other)
