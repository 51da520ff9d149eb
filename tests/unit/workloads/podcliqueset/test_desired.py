# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.workloads.podcliqueset.builders import stored
from tests.unit.workloads.sets import a_clique, a_group, a_set
from trellis.api.annotation import APPLIED, FROM_TEMPLATE, MNNVL_GROUP
from trellis.api.meta import owner, to_builtins
from trellis.runtime.plan import body
from trellis.workloads.outline import Outline
from trellis.workloads.podcliqueset.comparing import (
    compare_autoscaler,
    compare_group,
    compare_service,
)
from trellis.workloads.podcliqueset.desired import autoscalers, scaling_group, service

Json = dict[str, Any]

CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization"}}}


def outlined(*groups: Json, metadata: Json | None = None, **template: Any) -> Outline:
    cliques = (a_clique("worker"), a_clique("lead"), a_clique("m"))
    return Outline(
        a_set("llm", *cliques, groups=groups, replicas=2, metadata=metadata or {}, **template)
    )


def merged(base: Json, patch: Json) -> Json:
    """What a server makes of a merge patch."""
    result = dict(base)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            result[name] = merged(result.get(name) or {}, value)
        else:
            result[name] = value
    return result


def test_the_service_of_a_replica() -> None:
    made = to_builtins(service(outlined(), 1))
    assert made == {
        "metadata": {
            "name": "llm-1",
            "namespace": "default",
            "labels": {
                "app.kubernetes.io/managed-by": "grove-operator",
                "app.kubernetes.io/part-of": "llm",
                "app.kubernetes.io/name": "llm-1",
                "app.kubernetes.io/component": "pcs-headless-service",
                "grove.io/podcliqueset-replica-index": "1",
                "grove.io/pcs-name": "llm",
                "grove.io/pcs-replica-index": "1",
            },
            "ownerReferences": [to_builtins(owner(outlined().set))],
        },
        "spec": {
            "clusterIP": "None",
            "selector": {
                "app.kubernetes.io/managed-by": "grove-operator",
                "app.kubernetes.io/part-of": "llm",
                "grove.io/podcliqueset-replica-index": "1",
            },
            "publishNotReadyAddresses": True,
        },
    }


@pytest.mark.parametrize(
    ("config", "published"),
    [
        pytest.param({"publishNotReadyAddresses": True}, True, id="asked for"),
        pytest.param({"publishNotReadyAddresses": False}, False, id="asked not to"),
        pytest.param(None, True, id="nothing asked: as admission fills it in"),
    ],
)
def test_addresses_are_published_as_the_template_says(config: Json | None, published: bool) -> None:
    made = service(outlined(headlessServiceConfig=config), 0)
    assert made.spec.publish_not_ready_addresses is published


def test_a_service_goes_back_to_what_it_is_to_be_and_keeps_what_others_add() -> None:
    want = service(outlined(headlessServiceConfig={"publishNotReadyAddresses": False}), 0)
    have = to_builtins(stored(want))
    have["metadata"]["labels"] |= {"theirs": "1", "app.kubernetes.io/part-of": "other"}
    have["spec"] |= {"publishNotReadyAddresses": True, "ports": [{"port": 80}]}
    have["spec"]["selector"]["more"] = "x"
    present = _typed(want, have)

    patch = compare_service(present, want)

    after = merged(have, patch)
    assert after["spec"] == to_builtins(want)["spec"]
    assert after["metadata"]["labels"] == want.metadata.labels | {"theirs": "1"}
    assert compare_service(_typed(want, after), want) == {}


def test_a_scaling_group_is_made_with_the_replicas_of_its_template() -> None:
    outline = outlined(a_group("g", "lead", "m", replicas=3, least=2, annotations={"a": "b"}))
    made = scaling_group(outline, 1, outline.groups["g"], None)

    assert made.metadata.name == "llm-1-g"
    assert made.metadata.labels == {
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": "llm",
        "app.kubernetes.io/name": "llm-1-g",
        "app.kubernetes.io/component": "pcs-podcliquescalinggroup",
        "grove.io/podcliqueset-replica-index": "1",
        "grove.io/pcs-name": "llm",
        "grove.io/pcs-replica-index": "1",
        "grove.io/pcsg-name": "g",
    }
    assert made.metadata.annotations["a"] == "b"
    assert to_builtins(made.spec) == {
        "replicas": 3,
        "minAvailable": 2,
        "cliqueNames": ["lead", "m"],
    }


def test_a_scaling_group_that_is_there_keeps_its_replicas() -> None:
    outline = outlined(a_group("g", "m", replicas=3))
    live = stored(scaling_group(outline, 0, outline.groups["g"], None))
    scaled = _typed(live, merged(to_builtins(live), {"spec": {"replicas": 7}}))

    assert compare_group(scaled, scaling_group(outline, 0, outline.groups["g"], scaled)) == {}


def test_a_scaling_group_has_no_annotation_that_its_template_has_lost() -> None:
    before = outlined(a_group("g", "m", annotations={"kept": "1", "lost": "2"}))
    after = outlined(a_group("g", "m", annotations={"kept": "1"}))
    have = stored(scaling_group(before, 0, before.groups["g"], None))
    foreign = _typed(have, merged(to_builtins(have), {"metadata": {"annotations": {"x": "y"}}}))
    want = scaling_group(after, 0, after.groups["g"], foreign)

    result = merged(to_builtins(foreign), compare_group(foreign, want))

    annotations = result["metadata"]["annotations"]
    assert {"kept", "x", APPLIED, FROM_TEMPLATE} == set(annotations)
    assert compare_group(_typed(have, result), want) == {}


@pytest.mark.parametrize(
    ("own", "expected"),
    [pytest.param({}, "set", id="the set's"), pytest.param({MNNVL_GROUP: "own"}, "own", id="own")],
)
def test_the_fabric_group_is_that_of_the_nearest_that_names_one(own: Json, expected: str) -> None:
    outline = outlined(
        a_group("g", "m", annotations=own), metadata={"annotations": {MNNVL_GROUP: "set"}}
    )
    made = scaling_group(outline, 0, outline.groups["g"], None)
    assert made.metadata.annotations[MNNVL_GROUP] == expected


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(a_group("g", "m", least=0), id="minAvailable"),
        pytest.param(a_group("g", "m", "lead"), id="cliqueNames"),
        pytest.param(a_group("g", "m", annotations={"a": "b"}), id="annotations"),
    ],
)
def test_the_mark_of_a_scaling_group_says_what_it_was_made_from(changed: Json) -> None:
    before, after = outlined(a_group("g", "m")), outlined(changed)
    marks = [
        scaling_group(one, 0, one.groups["g"], None).metadata.annotations[APPLIED]
        for one in (before, after)
    ]
    assert marks[0] != marks[1]


def test_the_mark_of_a_scaling_group_is_not_about_replicas() -> None:
    marks = [
        scaling_group(one, 0, one.groups["g"], None).metadata.annotations[APPLIED]
        for one in (outlined(a_group("g", "m")), outlined(a_group("g", "m", replicas=9)))
    ]
    assert marks[0] == marks[1]


def scaled(**config: Any) -> Outline:
    worker = a_clique("worker", autoScalingConfig={"maxReplicas": 5, **config})
    group = a_group("g", "m", scaleConfig={"minReplicas": 1, "maxReplicas": 4})
    return Outline(a_set("llm", worker, a_clique("m"), groups=(group,)))


def test_autoscalers_have_the_names_of_what_they_scale() -> None:
    found = {one.metadata.name: one for one in autoscalers(scaled(metrics=[CPU]), 0)}
    assert list(found) == ["llm-0-worker", "llm-0-g"]
    assert to_builtins(found["llm-0-worker"].spec) == {
        "scaleTargetRef": {
            "apiVersion": "grove.io/v1alpha1",
            "kind": "PodClique",
            "name": "llm-0-worker",
        },
        "maxReplicas": 5,
        "metrics": [CPU],
    }
    assert found["llm-0-g"].spec.scale_target_ref.kind == "PodCliqueScalingGroup"
    assert found["llm-0-g"].spec.min_replicas == 1
    # One without metrics has none in what is sent either.
    assert b"metrics" not in body(found["llm-0-g"])


def test_what_the_server_fills_into_an_autoscaler_is_no_difference() -> None:
    want = next(iter(autoscalers(scaled(), 0)))
    filled = merged(to_builtins(stored(want)), {"spec": {"minReplicas": 1, "metrics": [CPU]}})
    assert compare_autoscaler(_typed(want, filled), want) == {}


def a_metric(**target: Any) -> Json:
    return {
        "type": "Pods",
        "pods": {"metric": {"name": "1000m"}, "target": {"type": "AverageValue", **target}},
    }


@pytest.mark.parametrize(
    ("asked", "kept", "differs"),
    [
        pytest.param({"averageValue": "1000m"}, {"averageValue": "1"}, False, id="thousandths"),
        pytest.param({"value": 0.5}, {"value": "500m"}, False, id="a fraction"),
        pytest.param({"averageValue": "1024Mi"}, {"averageValue": "1Gi"}, False, id="binary"),
        pytest.param({"value": 2, "x": None}, {"value": "2"}, False, id="a null"),
        pytest.param({"averageValue": "1000m"}, {"averageValue": "2"}, True, id="another amount"),
        pytest.param({"averageValue": "1"}, {"value": "1"}, True, id="another field"),
    ],
)
def test_metrics_that_the_server_writes_in_its_own_way_are_no_difference(
    asked: Json, kept: Json, differs: bool
) -> None:
    want = next(iter(autoscalers(scaled(metrics=[a_metric(**asked)]), 0)))
    have = merged(to_builtins(stored(want)), {"spec": {"metrics": [a_metric(**kept)]}})
    patch = {"spec": {"metrics": [a_metric(**asked)]}} if differs else {}
    assert compare_autoscaler(_typed(want, have), want) == patch


def test_other_changes_are_sent_without_metrics_that_are_the_same() -> None:
    want = next(iter(autoscalers(scaled(metrics=[a_metric(value="1000m")]), 0)))
    changes = {"maxReplicas": 4, "metrics": [a_metric(value="1")]}
    have = merged(to_builtins(stored(want)), {"spec": changes})
    assert compare_autoscaler(_typed(want, have), want) == {"spec": {"maxReplicas": 5}}


def test_what_users_no_longer_ask_of_an_autoscaler_goes_once() -> None:
    before = next(iter(autoscalers(scaled(minReplicas=2, metrics=[CPU]), 0)))
    after = next(iter(autoscalers(scaled(maxReplicas=6), 0)))

    patch = compare_autoscaler(stored(before), after)

    assert patch["spec"] == {"minReplicas": None, "metrics": None, "maxReplicas": 6}
    result = merged(to_builtins(stored(before)), patch)
    filled = merged(result, {"spec": {"minReplicas": 1, "metrics": [CPU]}})
    assert compare_autoscaler(_typed(after, filled), after) == {}


def _typed(like: Any, value: Json) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value), type=type(like))
