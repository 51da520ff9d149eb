# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest

from trellis.api.annotation import PLACEMENT, POD_LEDGER
from trellis.api.core.pod import Pod
from trellis.api.labels import POD_INDEX
from trellis.api.meta import Metadata
from trellis.api.scheduler.podgang import NamespacedName, PodGang, PodGangSpec, PodGroup
from trellis.workloads.ledger import listed, pod_index
from trellis.workloads.verdict import NONE, Verdict, verdict


def a_gang(*names: str, clique: str = "llm-0-w", **annotations: str) -> PodGang:
    references = tuple(NamespacedName(namespace="default", name=name) for name in names)
    group = PodGroup(name=clique, pod_references=references, min_replicas=1)
    return PodGang(
        metadata=Metadata(name="llm-0", namespace="default", annotations=annotations),
        spec=PodGangSpec(podgroups=(group,)),
    )


def a_pod(name: str, index: str) -> Pod:
    return Pod(metadata=Metadata(name=name, namespace="default", labels={POD_INDEX: index}))


def test_what_is_listed_is_told_by_index_whether_the_pods_exist_or_not() -> None:
    gang = a_gang("llm-0-w-10-bbbbb", "llm-0-w-2-ccccc")
    assert listed(gang, "llm-0-w", ()) == {2: "llm-0-w-2-ccccc", 10: "llm-0-w-10-bbbbb"}
    assert listed(gang, "llm-0-other", ()) == {}


def test_a_pod_that_somebody_else_named_is_known_by_its_label() -> None:
    gang = a_gang("llm-0-w-x2zb9", "llm-0-w-gone1")
    assert listed(gang, "llm-0-w", [a_pod("llm-0-w-x2zb9", "3")]) == {3: "llm-0-w-x2zb9"}


def test_for_kai_the_annotation_counts_and_not_what_exists() -> None:
    gang = a_gang(**{POD_LEDGER: json.dumps({"llm-0-w": ["llm-0-w-0-bbbbb"]})})
    assert listed(gang, "llm-0-w", ()) == {0: "llm-0-w-0-bbbbb"}


@pytest.mark.parametrize("garbage", ["{", "[]", '{"llm-0-w": 7}', '{"llm-0-w": [7]}'])
def test_an_annotation_that_cannot_be_read_leaves_what_exists(garbage: str) -> None:
    gang = a_gang("llm-0-w-0-bbbbb", **{POD_LEDGER: garbage})
    assert listed(gang, "llm-0-w", ()) == {0: "llm-0-w-0-bbbbb"}


@pytest.mark.parametrize("value", ["", "-1", "1.0", "٣", "9" * 10, "a"])
def test_a_label_that_is_no_index_is_none(value: str) -> None:
    assert pod_index(a_pod("p", value)) is None


def test_a_verdict_pins_indices_in_order_as_far_as_it_reaches() -> None:
    given = verdict(a_gang(**{PLACEMENT: '{"llm-0-w": [["n1", 2], ["n2", 1]]}'}))
    assert given.pins("llm-0-w", [5, 0, 3, 9]) == {0: "n1", 3: "n1", 5: "n2"}
    assert given.pins("llm-0-x", [0]) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", NONE, id="none"),
        pytest.param("wait", Verdict(given=True, waits=True), id="wait"),
        pytest.param("{", NONE, id="broken"),
        pytest.param('{"a": [["n", "many"]]}', NONE, id="of another type"),
        pytest.param('{"a": [["n", 1000000000]]}', None, id="huge"),
    ],
)
def test_what_a_gang_says_about_placement(text: str, expected: Verdict | None) -> None:
    found = verdict(a_gang(**{PLACEMENT: text} if text else {}))
    if expected is None:
        assert found.pins("a", [0, 1]) == {0: "n", 1: "n"}
    else:
        assert found == expected
