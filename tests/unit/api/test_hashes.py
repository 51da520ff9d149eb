# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.api.builders import POD_SPEC, a_clique, raw
from trellis.api.grove.podclique import PodCliqueSpec
from trellis.api.grove.template import CliqueTemplate
from trellis.api.hashes import canonical, digest, generation_hash, template_hash
from trellis.api.syntax import label_value_problem

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
