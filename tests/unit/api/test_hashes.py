# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.api.builders import POD_SPEC, a_clique, raw
from trellis.api import quantity
from trellis.api.grove.podclique import PodCliqueSpec
from trellis.api.grove.template import CliqueTemplate
from trellis.api.hashes import (
    canonical,
    digest,
    generation_hash,
    template_hash,
    with_plain_amounts,
)
from trellis.api.syntax import label_value_problem
from trellis.api.usual import without_usual

if TYPE_CHECKING:
    import random

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=6), JSON, max_size=3)


def shuffled(value: Any, rng: random.Random) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        rng.shuffle(keys)
        return {key: shuffled(value[key], rng) for key in keys}
    return [shuffled(item, rng) for item in value] if isinstance(value, list) else value


@given(OBJECTS, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(value: dict[str, Any], rng: random.Random) -> None:
    assert canonical(shuffled(value, rng)) == canonical(value)


@given(OBJECTS, st.integers(0, 100), st.integers(0, 100), st.integers(1, 100))
def test_replicas_and_minima_do_not_matter(
    extra: dict[str, Any], one: int, other: int, minimum: int
) -> None:
    spec = POD_SPEC | {"extra": extra}
    scaled = CliqueTemplate(
        name="worker",
        spec=PodCliqueSpec(
            role_name="other", replicas=other, min_available=minimum, pod_spec=raw(spec)
        ),
    )
    assert template_hash(a_clique(spec, replicas=one)) == template_hash(scaled)


@given(OBJECTS)
def test_a_hash_is_a_legal_label_value_that_names_its_algorithm(value: dict[str, Any]) -> None:
    found = digest(value)
    assert found.startswith("v1-")
    assert label_value_problem(found) is None


@given(OBJECTS, OBJECTS)
def test_hashes_are_the_same_exactly_where_the_canonical_text_is(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert (digest(one) == digest(other)) == (canonical(one) == canonical(other))


@given(OBJECTS)
def test_a_round_trip_through_json_does_not_matter(value: dict[str, Any]) -> None:
    assert digest(json.loads(json.dumps(value))) == digest(value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"a": 1}, {"a": 1, "b": None}, id="null and absent"),
        pytest.param({"a": 1}, {"a": 1.0}, id="whole numbers of either type"),
        pytest.param({"a": [1]}, {"a": (1,)}, id="lists and tuples"),
    ],
)
def test_what_says_the_same_has_the_same_hash(one: Any, other: Any) -> None:
    assert digest(one) == digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"a": 1}, {"a": "1"}, id="a number and its text"),
        pytest.param({"a": [1, 2]}, {"a": [2, 1]}, id="the order of a list"),
        pytest.param({"a": []}, {}, id="an empty list and none"),
        pytest.param({"a": True}, {"a": 1}, id="true and one"),
    ],
)
def test_what_says_something_else_has_another(one: Any, other: Any) -> None:
    assert digest(one) != digest(other)


def test_the_hash_of_a_known_template_never_changes() -> None:
    # Pods in clusters carry this very value: another one would restart them all.
    assert template_hash(a_clique(labels={"app": "llm"})) == "v1-4e62fbf0e6198b89d55e"
    assert generation_hash({"a": "v1-1", "b": "v1-2"}) == "v1-3af90c6a99b30e5032d2"


def test_labels_annotations_and_the_priority_class_of_the_set_count() -> None:
    plain = a_clique()
    hashes = {
        template_hash(plain),
        template_hash(a_clique(labels={"a": "b"})),
        template_hash(a_clique(annotations={"a": "b"})),
        template_hash(plain, priority_class="high"),
    }
    assert len(hashes) == 4


def test_a_cliques_own_priority_class_wins_over_that_of_the_set() -> None:
    own = a_clique(POD_SPEC | {"priorityClassName": "low"})
    assert template_hash(own, "high") == template_hash(own) == template_hash(a_clique(), "low")
    assert template_hash(own) != template_hash(a_clique())


def test_an_annotation_that_never_reaches_pods_does_not_count() -> None:
    named = a_clique(annotations={"grove.io/topology-name": "grove-topology"})
    assert template_hash(named) == template_hash(a_clique())


def test_the_order_of_cliques_does_not_matter_but_their_names_do() -> None:
    assert generation_hash({"a": "1", "b": "2"}) == generation_hash({"b": "2", "a": "1"})
    assert generation_hash({"a": "1", "b": "2"}) != generation_hash({"a": "2", "b": "1"})


def test_a_raw_template_is_read_whole() -> None:
    spaced = msgspec.Raw(b'{ "containers": [ {"image":"registry.example/a:1","name":"main"} ] }')
    clique = CliqueTemplate(
        name="worker", spec=PodCliqueSpec(role_name="worker", replicas=2, pod_spec=spaced)
    )
    assert template_hash(clique) == template_hash(a_clique())


def asking(place: str, amount: Any) -> dict[str, Any]:
    """A pod spec that asks for so much, at one of the places where it can."""
    resources = {"requests": {"cpu": amount}, "limits": {"memory": amount}}
    extra: dict[str, dict[str, Any]] = {
        "initContainers": {"initContainers": [{"name": "first", "resources": resources}]},
        "ephemeralContainers": {"ephemeralContainers": [{"name": "e", "resources": resources}]},
        "the pod": {"resources": resources},
        "overhead": {"overhead": {"cpu": amount}},
        "emptyDir": {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": amount}}]},
        "ephemeral": {
            "volumes": [{"ephemeral": {"volumeClaimTemplate": {"spec": {"resources": resources}}}}]
        },
        "containers": {"containers": [{"name": "main", "resources": resources}]},
    }
    return POD_SPEC | extra[place]


PLACES = (
    *("containers", "initContainers", "ephemeralContainers", "the pod"),
    *("overhead", "emptyDir", "ephemeral"),
)
AMOUNTS = st.integers(0, quantity.LARGEST)


def hash_of(pod_spec: dict[str, Any]) -> str:
    return template_hash(a_clique(pod_spec))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1000m", "1"),
        ("1", 1),
        (0.5, "500m"),
        ("1e3", "1k"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("0Gi", "0"),
        ("+2", "2"),
    ],
)
def test_the_same_amount_written_otherwise_is_no_update(place: str, one: Any, other: Any) -> None:
    assert hash_of(asking(place, one)) == hash_of(asking(place, other))


@pytest.mark.parametrize("place", PLACES)
def test_another_amount_is_an_update(place: str) -> None:
    assert hash_of(asking(place, "1")) != hash_of(asking(place, "2"))


@given(st.sampled_from(PLACES), AMOUNTS, st.booleans())
def test_amounts_as_servers_write_them_are_hashed_as_they_are(
    place: str, nano: int, binary: bool
) -> None:
    text = quantity.to_binary_text(nano) if binary else quantity.to_text(nano)
    spec = asking(place, text)
    assert with_plain_amounts(spec) == spec
    assert hash_of(spec) == digest({"labels": {}, "annotations": {}, "podSpec": spec})


@given(st.sampled_from(PLACES), st.integers(0, 2**40), st.sampled_from(["m", "", "k", "Ki", "Mi"]))
def test_amounts_that_came_back_from_a_server_are_no_update(
    place: str, number: int, suffix: str
) -> None:
    spec = asking(place, f"{number}{suffix}")
    came_back = with_plain_amounts(spec)
    assert with_plain_amounts(came_back) == came_back
    assert hash_of(came_back) == hash_of(spec)


@given(st.sampled_from(PLACES), JSON, JSON)
def test_what_is_no_amount_is_hashed_as_it_is(place: str, one: Any, other: Any) -> None:
    first, second = asking(place, one), asking(place, other)
    if canonical(first) == canonical(second):
        assert hash_of(first) == hash_of(second)
    if not _is_amount(one):
        spec = without_usual(first)
        assert hash_of(first) == digest({"labels": {}, "annotations": {}, "podSpec": spec})


def _is_amount(value: Any) -> bool:
    try:
        quantity.parse(value)
    except (quantity.InvalidQuantity, TypeError):
        return False
    return True


@pytest.mark.parametrize("value", ["12 GB", "1Gi ", "", "9" * 5000, "1e99999", True, [], {"a": 1}])
def test_hostile_amounts_are_told_apart_and_raise_nothing(value: Any) -> None:
    assert hash_of(asking("containers", value)) != hash_of(asking("containers", "1"))


@given(st.sampled_from(["containers", "volumes", "overhead", "resources"]), JSON)
def test_pod_specs_of_any_shape_have_a_hash(name: str, value: Any) -> None:
    assert hash_of(POD_SPEC | {name: value}).startswith("v1-")


def test_texts_that_only_look_like_amounts_are_texts() -> None:
    def told(value: str) -> dict[str, Any]:
        container = {"name": "main", "env": [{"name": "CPU", "value": value}], "args": [value]}
        return {"containers": [container], "nodeSelector": {"cpu": value}}

    assert hash_of(told("1000m")) != hash_of(told("1"))


def test_amounts_are_read_without_changing_the_spec() -> None:
    spec = asking("containers", "1000m")
    with_plain_amounts(spec)
    assert spec == asking("containers", "1000m")


@pytest.mark.parametrize(
    "key",
    [
        "trellis.dev/replace-after-departure",
        "kubectl.kubernetes.io/last-applied-configuration",
    ],
)
def test_notes_about_the_podclique_do_not_count(key: str) -> None:
    assert template_hash(a_clique(annotations={key: "true"})) == template_hash(a_clique())


@pytest.mark.parametrize("key", ["restartedAt", "default-container", "last-applied"])
def test_what_kubectl_notes_for_pods_is_an_update(key: str) -> None:
    noted = a_clique(annotations={f"kubectl.kubernetes.io/{key}": "main"})
    assert template_hash(noted) != template_hash(a_clique())


@pytest.mark.parametrize(
    "key", ["app.kubernetes.io/name", "grove.io/podgang", "grove.io/pod-template-hash"]
)
def test_labels_that_every_pod_has_from_us_do_not_count(key: str) -> None:
    assert template_hash(a_clique(labels={key: "mine"})) == template_hash(a_clique())
