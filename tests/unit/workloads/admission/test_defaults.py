# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.unit.workloads.admission.builders import GOING, a_review, defaulted
from tests.unit.workloads.admission.corpus import a_clique, a_set, changed
from trellis.webhooks.verdict import ALLOWED, Allowed
from trellis.workloads.admission.podcliqueset import defaulting

SPEC = "/spec/template/cliques/0/spec"


def leader(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["spec"]["template"]["cliques"][0]["spec"]
    return found


@pytest.mark.parametrize(
    ("at", "drop", "want"),
    [
        pytest.param({}, ["replicas", "minAvailable"], (1, 1), id="both left out are one"),
        pytest.param({"replicas": 5}, ["minAvailable"], (5, 5), id="the minimum is all of them"),
        pytest.param({"replicas": 0}, ["minAvailable"], (1, 1), id="zero is taken for left out"),
        pytest.param({"replicas": None}, ["minAvailable"], (1, 1), id="null is left out"),
        pytest.param({"replicas": 3, "minAvailable": 2}, [], (3, 2), id="what is said stays"),
        pytest.param({"minAvailable": 0}, [], (2, 0), id="a bad minimum stays, to be refused"),
        pytest.param({"replicas": "x"}, ["minAvailable"], ("x", None), id="no count, no minimum"),
        pytest.param({"replicas": False}, ["minAvailable"], (False, None), id="no is not zero"),
        pytest.param({"replicas": -4}, ["minAvailable"], (-4, -4), id="negative stays negative"),
    ],
)
def test_counts(at: dict[str, Any], drop: list[str], want: tuple[Any, Any]) -> None:
    changes = {f"{SPEC}/{key}": value for key, value in at.items()}
    spec = leader(defaulted(changed(a_set(), changes, [f"{SPEC}/{key}" for key in drop])))
    assert (spec["replicas"], spec.get("minAvailable")) == want


def test_autoscaling_starts_from_the_defaulted_replicas() -> None:
    at = {f"{SPEC}/autoScalingConfig": {"maxReplicas": 4}}
    spec = leader(defaulted(changed(a_set(), at, [f"{SPEC}/replicas"])))
    assert spec["autoScalingConfig"] == {"maxReplicas": 4, "minReplicas": 1}


def test_a_user_is_told_that_zero_is_taken_for_one() -> None:
    verdict = defaulting(a_review("CREATE", changed(a_set(), {f"{SPEC}/replicas": 0}, [])))
    (warning,) = verdict.warnings
    assert "spec.template.cliques[0].spec.replicas: 0 is taken for 1" in warning


def test_a_minimum_that_a_writer_does_not_know_of_stays_as_it_was() -> None:
    stored = defaulted(a_set())
    new = changed(stored, {f"{SPEC}/replicas": 5}, [f"{SPEC}/minAvailable"])
    assert leader(defaulted(new, stored))["minAvailable"] == 1


def test_pods_that_are_left_as_they_were_get_no_new_default() -> None:
    stored = changed(defaulted(a_set()), {}, [f"{SPEC}/podSpec/restartPolicy"])
    new = changed(stored, {"/spec/replicas": 3}, [])
    assert "restartPolicy" not in leader(defaulted(new, stored))["podSpec"]
    again = changed(new, {f"{SPEC}/podSpec/containers/0/image": "b"}, [])
    assert leader(defaulted(again, stored))["podSpec"]["restartPolicy"] == "Always"


@pytest.mark.parametrize(
    "new",
    [
        pytest.param({"metadata": {"labels": {"a": "b"}}}, id="metadata alone"),
        pytest.param({"metadata": {"finalizers": []}}, id="a finalizer is removed"),
    ],
)
def test_what_is_left_as_it_was_is_never_defaulted(new: dict[str, Any]) -> None:
    bare = a_set()
    assert defaulting(a_review("UPDATE", bare | new, bare)) is ALLOWED


def test_what_is_on_its_way_out_is_never_defaulted() -> None:
    old = a_set() | {"metadata": {"name": "base", **GOING}}
    new = changed(old, {"/spec/replicas": 0}, [])
    assert defaulting(a_review("UPDATE", new, old)) is ALLOWED


def test_a_set_without_a_namespace_is_in_that_of_the_request() -> None:
    assert defaulted(a_set())["metadata"]["namespace"] == "default"
    verdict = defaulting(a_review("CREATE", a_set(), namespace="team"))
    assert isinstance(verdict, Allowed)
    assert verdict.object["metadata"]["namespace"] == "team"


def test_groups_without_replicas_scale_from_one() -> None:
    group = {"name": "g", "cliqueNames": ["a"], "scaleConfig": {"maxReplicas": 3}}
    template = {"cliques": [a_clique("a")], "podCliqueScalingGroups": [group]}
    found = defaulted({"metadata": {"name": "a"}, "spec": {"template": template}})
    scaling = found["spec"]["template"]["podCliqueScalingGroups"][0]["scaleConfig"]
    assert scaling["minReplicas"] == 1
