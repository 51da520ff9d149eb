# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.support.virtual import VirtualClock, dice
from tests.unit.workloads.podclique.builders import Scene, a_scene, pod_name
from tests.unit.workloads.sets import POD_SPEC, a_clique, a_group, a_set
from trellis.api.annotation import ATTEMPT
from trellis.api.config.types import OperatorConfiguration, Schedulers, Trellis
from trellis.api.labels import (
    COMPONENT,
    GANG_GATE,
    MANAGED_BY,
    POD_CLIQUE,
    POD_GANG,
    POD_INDEX,
    POD_TEMPLATE_HASH,
    SCALING_GROUP_POD_INDEX,
    SHORT_CLIQUE_NAME,
)
from trellis.api.transforms import PodOwner, PodTemplate
from trellis.runtime.env import Env
from trellis.runtime.plan import body
from trellis.workloads.means import Means
from trellis.workloads.outline import Outline, Parent
from trellis.workloads.podclique.body import mould
from trellis.workloads.podclique.desired import Birth
from trellis.workloads.podclique.surroundings import Surroundings

if TYPE_CHECKING:
    from trellis.api.transforms import PodTransform

Json = dict[str, Any]

CLIQUE = "llm-0-worker"
NAME = pod_name(CLIQUE, 0)
CONTAINER = POD_SPEC["containers"][0]


def means(*transforms: PodTransform, configuration: OperatorConfiguration | None = None) -> Means:
    return Means(
        configuration=configuration or OperatorConfiguration(),
        env=Env(clock=VirtualClock(), rng=dice(1)),
        waiter_image="example.com/waiter:1",
        transforms=transforms,
    )


def a_body(
    scene: Scene,
    birth: Birth | None = None,
    around: Surroundings | None = None,
    given: Means | None = None,
) -> Json:
    state = scene.state
    assert state.member is not None
    assert state.gang is not None
    found = mould(state, state.member, state.gang, around or Surroundings(), given or means())
    written: Json = json.loads(body(found.draft(birth or Birth(index=0, name=NAME))))
    return written


def environment(pod: Json, container: int = 0) -> dict[str, Any]:
    return {one["name"]: one for one in pod["spec"]["containers"][container]["env"]}


def test_a_pod_has_its_name_from_the_ledger_and_belongs_to_its_clique() -> None:
    pod = a_body(a_scene())
    assert (pod["apiVersion"], pod["kind"]) == ("v1", "Pod")
    assert pod["metadata"]["name"] == NAME
    assert pod["metadata"]["namespace"] == "default"
    (owner,) = pod["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("PodClique", CLIQUE, True)


def test_fields_that_nobody_here_has_heard_of_survive() -> None:
    spec = {
        "containers": [{**CONTAINER, "fromTheFuture": {"a": [1, 2]}}],
        "resources": {"requests": {"cpu": "1"}},
        "brandNew": True,
    }
    pod = a_body(a_scene(podSpec=spec))
    assert pod["spec"]["brandNew"] is True
    assert pod["spec"]["resources"] == {"requests": {"cpu": "1"}}
    assert pod["spec"]["containers"][0]["fromTheFuture"] == {"a": [1, 2]}


def test_a_pod_has_the_labels_of_its_clique_and_what_tells_it_from_others() -> None:
    scene = a_scene(labels={"team": "red", POD_INDEX: "7"})
    labels = a_body(scene, Birth(index=1, name=NAME))["metadata"]["labels"]
    assert labels["team"] == "red"
    assert labels[MANAGED_BY] == "grove-operator"
    assert labels[COMPONENT] == "pcs-podclique"
    assert labels[POD_CLIQUE] == CLIQUE
    assert labels[POD_INDEX] == "1"
    assert labels[POD_GANG] == "llm-0"
    assert labels[SHORT_CLIQUE_NAME] == "worker"
    assert labels[POD_TEMPLATE_HASH] == scene.outline.template_hashes["worker"]
    assert SCALING_GROUP_POD_INDEX not in labels


def test_notes_about_the_clique_do_not_reach_its_pods() -> None:
    kept = {
        "example.com/keep": "this",
        "kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z",
        "kubectl.kubernetes.io/default-container": "main",
    }
    notes = {
        **kept,
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "trellis.dev/applied": "x",
        "grove.io/topology-name": "t",
    }
    assert a_body(a_scene(annotations=notes))["metadata"]["annotations"] == kept


def test_a_pod_says_which_attempt_it_is_only_after_a_failure() -> None:
    assert ATTEMPT not in a_body(a_scene())["metadata"].get("annotations", {})
    third = a_body(a_scene(), Birth(index=0, name=NAME, attempt=3))
    assert third["metadata"]["annotations"][ATTEMPT] == "3"


def test_a_pod_is_found_under_the_name_of_its_index() -> None:
    spec = a_body(a_scene(), Birth(index=4, name=NAME))["spec"]
    assert (spec["hostname"], spec["subdomain"]) == ("llm-0-worker-4", "llm-0")


def test_every_container_knows_where_it_is_and_ours_stand_before_the_users() -> None:
    container = {
        **CONTAINER,
        "env": [{"name": "MINE", "value": "1"}, {"name": "GROVE_PCS_NAME", "value": "no"}],
    }
    spec = {"containers": [container, CONTAINER], "initContainers": [{**CONTAINER, "env": None}]}
    configuration = OperatorConfiguration(trellis=Trellis(cluster_domain="corp.example"))
    pod = a_body(a_scene(podSpec=spec), given=means(configuration=configuration))
    names = [one["name"] for one in pod["spec"]["containers"][0]["env"]]
    assert names == [
        "GROVE_PCS_NAME",
        "GROVE_PCS_INDEX",
        "GROVE_PCLQ_NAME",
        "GROVE_HEADLESS_SERVICE",
        "GROVE_PCLQ_POD_INDEX",
        "MINE",
    ]
    found = environment(pod)
    assert found["GROVE_PCS_NAME"]["value"] == "llm"
    assert found["GROVE_PCS_INDEX"]["value"] == "0"
    assert found["GROVE_PCLQ_NAME"]["value"] == CLIQUE
    assert found["GROVE_HEADLESS_SERVICE"]["value"] == "llm-0.default.svc.corp.example"
    path = found["GROVE_PCLQ_POD_INDEX"]["valueFrom"]["fieldRef"]["fieldPath"]
    assert path == f"metadata.labels['{POD_INDEX}']"
    assert len(pod["spec"]["initContainers"][0]["env"]) == 5


def a_member_scene() -> Scene:
    cliques = [a_clique("lead", 1), a_clique("worker", 3)]
    found = a_set("llm", *cliques, groups=(a_group("sg", "lead", "worker", replicas=2),))
    outline = Outline(found)
    member = outline.grouped(0, outline.groups["sg"], 1)[1]
    return Scene(found, member, names=(pod_name(member.name, 0),))


def test_a_member_of_a_scaling_group_knows_its_place_in_it() -> None:
    scene = a_member_scene()
    pod = a_body(scene, Birth(index=2, name=NAME), Surroundings(pods_before=5))
    found = environment(pod)
    assert pod["metadata"]["labels"][SCALING_GROUP_POD_INDEX] == "7"
    assert found["GROVE_PCSG_TEMPLATE_NUM_PODS"]["value"] == "4"
    for name, label in (
        ("GROVE_PCSG_NAME", "grove.io/podcliquescalinggroup"),
        ("GROVE_PCSG_INDEX", "grove.io/podcliquescalinggroup-replica-index"),
        ("GROVE_PCSG_POD_INDEX", SCALING_GROUP_POD_INDEX),
    ):
        assert found[name]["valueFrom"]["fieldRef"]["fieldPath"] == f"metadata.labels['{label}']"
        assert label in pod["metadata"]["labels"]


def test_a_pod_is_gated_and_keeps_the_gates_of_its_user() -> None:
    spec = {**POD_SPEC, "schedulingGates": [{"name": "example.com/quota"}]}
    assert a_body(a_scene(podSpec=spec))["spec"]["schedulingGates"] == [
        {"name": "example.com/quota"},
        {"name": GANG_GATE},
    ]


def test_a_pod_whose_place_is_known_is_born_there_without_our_gate() -> None:
    spec = {
        **POD_SPEC,
        "nodeSelector": {"zone": "a"},
        "schedulingGates": [{"name": "example.com/quota"}],
    }
    pod = a_body(a_scene(podSpec=spec), Birth(index=0, name=NAME, node="n1"))
    assert pod["spec"]["nodeSelector"] == {"zone": "a", "kubernetes.io/hostname": "n1"}
    assert pod["spec"]["schedulingGates"] == [{"name": "example.com/quota"}]


def test_pods_of_other_schedulers_are_never_pinned() -> None:
    scene = a_scene(gang_labels={"grove.io/scheduler-name": "kai-scheduler"})
    pod = a_body(scene, Birth(index=0, name=NAME, node="n1"))
    assert pod["spec"]["schedulerName"] == "kai-scheduler"
    assert "nodeSelector" not in pod["spec"]
    assert pod["spec"]["schedulingGates"] == [{"name": GANG_GATE}]


@pytest.mark.parametrize(
    ("own", "gang", "expected"),
    [
        pytest.param("mine", "volcano", "mine", id="what the clique says wins"),
        pytest.param("", "volcano", "volcano", id="then that of its gang"),
        pytest.param("", "", "lpx-scheduler", id="then the configured one"),
    ],
)
def test_a_pod_has_a_scheduler(own: str, gang: str, expected: str) -> None:
    spec = {**POD_SPEC, "schedulerName": own} if own else POD_SPEC
    labels = {"grove.io/scheduler-name": gang} if gang else {}
    schedulers = Schedulers(default_profile_name="lpx-scheduler")
    given = means(configuration=OperatorConfiguration(scheduler=schedulers))
    found = a_body(a_scene(podSpec=spec, gang_labels=labels), given=given)
    assert found["spec"]["schedulerName"] == expected


@pytest.mark.parametrize(
    ("own", "shared", "expected"),
    [
        pytest.param("", "", None, id="none"),
        pytest.param("", "low", "low", id="that of the set"),
        pytest.param("high", "low", "high", id="the clique's own wins"),
    ],
)
def test_a_pod_has_a_priority(own: str, shared: str, expected: str | None) -> None:
    spec = {**POD_SPEC, "priorityClassName": own} if own else POD_SPEC
    scene = a_scene(podSpec=spec)
    template = msgspec.structs.replace(scene.set.spec.template, priority_class_name=shared)
    shaped = msgspec.structs.replace(scene.set.spec, template=template)
    changed = scene.but(set=msgspec.structs.replace(scene.set, spec=shaped))
    assert a_body(changed)["spec"].get("priorityClassName") == expected


def test_pods_for_kai_carry_its_marks_from_the_start() -> None:
    scene = a_scene(
        gang_labels={"grove.io/scheduler-name": "kai-scheduler"},
        gang_annotations={"kai.scheduler/skip-podgrouper": "true"},
    )
    metadata = a_body(scene)["metadata"]
    assert metadata["labels"]["kai.scheduler/subgroup-name"] == CLIQUE
    assert metadata["annotations"]["kai.scheduler/skip-podgrouper"] == "true"
    assert metadata["annotations"]["pod-group-name"] == "llm-0"


def test_a_waiter_stands_after_the_init_containers_and_only_where_there_are_parents() -> None:
    spec = {**POD_SPEC, "initContainers": [CONTAINER]}
    scene = a_scene(podSpec=spec)
    waits = a_body(scene, around=Surroundings(parents=(Parent("llm-0-lead", 2),)))
    (own, waiter) = waits["spec"]["initContainers"]
    assert own["name"] == "main"
    assert waiter["name"] == "grove-initc"
    assert waiter["args"] == ["--podcliques=llm-0-lead:2"]
    assert "env" not in waiter
    assert len(a_body(scene)["spec"]["initContainers"]) == 1


def test_shared_claims_reach_all_containers() -> None:
    clique = a_clique("worker", 2)
    clique["resourceSharing"] = [{"name": "gpu", "scope": "PerReplica"}]
    found = a_set("llm", clique)
    scene = Scene(found, Outline(found).alone(0)[0], names=(NAME,))
    pod = a_body(scene, Birth(index=1, name=NAME))
    assert pod["spec"]["resourceClaims"] == [
        {"name": "llm-0-worker-1-gpu", "resourceClaimName": "llm-0-worker-1-gpu"}
    ]
    claims = pod["spec"]["containers"][0]["resources"]["claims"]
    assert claims == [{"name": "llm-0-worker-1-gpu"}]


def test_transforms_shape_the_template_in_their_order_and_what_identifies_a_pod_stays() -> None:
    seen: list[PodOwner] = []

    def labelled(template: PodTemplate, owner: PodOwner, /) -> PodTemplate:
        seen.append(owner)
        labels = {**template.labels, "fabric": "yes", POD_INDEX: "99"}
        return PodTemplate(labels=labels, annotations=template.annotations, spec=template.spec)

    def renamed(template: PodTemplate, _: PodOwner, /) -> PodTemplate:
        spec = {**template.spec, "runtimeClassName": template.labels["fabric"]}
        return PodTemplate(labels=template.labels, annotations=template.annotations, spec=spec)

    scene = a_scene(gang_annotations={"x": "y"})
    pod = a_body(scene, Birth(index=1, name=NAME), given=means(labelled, renamed))
    assert pod["metadata"]["labels"]["fabric"] == "yes"
    assert pod["metadata"]["labels"][POD_INDEX] == "1"
    assert pod["spec"]["runtimeClassName"] == "yes"
    (owner,) = seen
    assert (owner.kind, owner.name, owner.pod_index) == ("PodClique", CLIQUE, 1)
    assert owner.gang == {"x": "y"}


def test_one_pod_does_not_change_what_the_next_is_made_of() -> None:
    scene = a_scene(podSpec={**POD_SPEC, "nodeSelector": {"zone": "a"}})
    state = scene.state
    assert state.member is not None
    assert state.gang is not None
    shared = mould(state, state.member, state.gang, Surroundings(), means())
    pinned, gated = Birth(index=0, name=NAME, node="n1"), Birth(index=1, name="other")
    first = body(shared.draft(pinned))
    body(shared.draft(gated))
    assert body(shared.draft(pinned)) == first
    assert json.loads(body(shared.draft(gated)))["spec"]["nodeSelector"] == {"zone": "a"}
