# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import tracemalloc

import pytest
from msgspec import structs

from trellis.api.annotation import PLACEMENT, POD_LEDGER
from trellis.api.core.pod import Pod, PodSpec
from trellis.api.labels import POD_INDEX, SCHEDULER_NAME, Component, common
from trellis.api.meta import Metadata, OwnerReference
from trellis.api.scheduler.podgang import NamespacedName, PodGang, PodGangSpec, PodGroup
from trellis.workloads.kai import KAI
from trellis.workloads.ledger import all_listed_names, is_ours, listed, pod_index
from trellis.workloads.verdict import NONE, Verdict, verdict


def a_gang(
    *names: str, clique: str = "llm-0-w", scheduler: str = "", **annotations: str
) -> PodGang:
    labels = {SCHEDULER_NAME: scheduler} if scheduler else {}
    references = tuple(NamespacedName(namespace="default", name=name) for name in names)
    group = PodGroup(name=clique, pod_references=references, min_replicas=1)
    return PodGang(
        metadata=Metadata(
            name="llm-0", namespace="default", labels=labels, annotations=annotations
        ),
        spec=PodGangSpec(podgroups=(group,)),
    )


def a_pod(name: str, index: str) -> Pod:
    return Pod(metadata=Metadata(name=name, namespace="default", labels={POD_INDEX: index}))


def a_pod_of_an_older_grove(hostname: str, clique: str = "llm-0-w") -> Pod:
    """It says its index nowhere but in its host name."""
    owner = OwnerReference(
        api_version="grove.io/v1alpha1", kind="PodClique", name=clique, uid="u", controller=True
    )
    return Pod(
        metadata=Metadata(name="llm-0-w-x2zb9", namespace="default", owner_references=(owner,)),
        spec=PodSpec(hostname=hostname),
    )


def test_what_is_listed_is_told_by_index_whether_the_pods_exist_or_not() -> None:
    gang = a_gang("llm-0-w-10-bbbbb", "llm-0-w-2-ccccc")
    assert listed(gang, "llm-0-w", ()) == {2: "llm-0-w-2-ccccc", 10: "llm-0-w-10-bbbbb"}
    assert listed(gang, "llm-0-other", ()) == {}


def test_a_pod_that_somebody_else_named_is_known_by_its_label() -> None:
    gang = a_gang("llm-0-w-x2zb9", "llm-0-w-gone1")
    assert listed(gang, "llm-0-w", [a_pod("llm-0-w-x2zb9", "3")]) == {3: "llm-0-w-x2zb9"}


def test_for_kai_the_annotation_counts_and_not_what_exists() -> None:
    gang = a_gang(scheduler=KAI, **{POD_LEDGER: json.dumps({"llm-0-w": ["llm-0-w-0-bbbbb"]})})
    assert listed(gang, "llm-0-w", ()) == {0: "llm-0-w-0-bbbbb"}
    assert all_listed_names(gang) == {"llm-0-w": ["llm-0-w-0-bbbbb"]}


@pytest.mark.parametrize("scheduler", ["", "default-scheduler"])
def test_an_annotation_on_the_gang_of_another_scheduler_says_nothing(scheduler: str) -> None:
    noted = {POD_LEDGER: json.dumps({"llm-0-w": ["llm-0-w-1-ccccc"]})}
    gang = a_gang("llm-0-w-0-bbbbb", scheduler=scheduler, **noted)
    assert listed(gang, "llm-0-w", ()) == {0: "llm-0-w-0-bbbbb"}
    assert all_listed_names(gang) == {"llm-0-w": ["llm-0-w-0-bbbbb"]}


@pytest.mark.parametrize("garbage", ["{", "[]", '{"llm-0-w": 7}', '{"llm-0-w": [7]}'])
def test_an_annotation_that_cannot_be_read_leaves_what_exists(garbage: str) -> None:
    gang = a_gang("llm-0-w-0-bbbbb", scheduler=KAI, **{POD_LEDGER: garbage})
    assert listed(gang, "llm-0-w", ()) == {0: "llm-0-w-0-bbbbb"}


@pytest.mark.parametrize("value", ["", "-1", "1.0", "٣", "9" * 10, "a"])
def test_a_label_that_is_no_index_is_none(value: str) -> None:
    assert pod_index(a_pod("p", value)) is None


@pytest.mark.parametrize(
    ("hostname", "index"),
    [
        ("llm-0-w-0", 0),
        ("llm-0-w-12", 12),
        ("llm-0-w-01", None),
        ("llm-0-w-", None),
        ("llm-0-w", None),
        ("llm-0-gpu-w-3", None),
        ("llm-0-w-a-3", None),
        ("", None),
    ],
)
def test_where_the_label_is_missing_the_host_name_tells(hostname: str, index: int | None) -> None:
    assert pod_index(a_pod_of_an_older_grove(hostname)) == index


def test_a_host_name_without_an_owner_tells_nothing() -> None:
    assert pod_index(Pod(metadata=Metadata(name="p"), spec=PodSpec(hostname="p-0"))) is None


def test_the_name_of_a_pod_that_is_gone_counts_only_if_we_decided_on_it() -> None:
    gang = a_gang("llm-0-w-1-x2zb9", "llm-0-w-1-2-x2zb9", clique="llm-0-w-1")
    assert listed(gang, "llm-0-w-1", ()) == {2: "llm-0-w-1-2-x2zb9"}


def test_a_list_is_a_ledger_if_we_wrote_the_gang() -> None:
    gang = a_gang()
    assert not is_ours(gang)
    labels = common("llm", "llm-0", Component.POD_GANG)
    assert is_ours(structs.replace(gang, metadata=Metadata(name="llm-0", labels=labels)))


def test_a_verdict_pins_indices_in_order_as_far_as_it_reaches() -> None:
    given = verdict(a_gang(**{PLACEMENT: '{"llm-0-w": [["n1", 2], ["n2", 1]]}'}))
    assert given.pins("llm-0-w", [5, 0, 3, 9]) == {0: "n1", 3: "n1", 5: "n2"}
    assert given.pins("llm-0-x", [0]) == {}


def test_a_verdict_is_read_no_further_than_there_are_pods() -> None:
    given = Verdict(given=True, nodes={"a": [("n", 10**18)] * 1000})
    tracemalloc.start()
    pins = given.pins("a", range(1000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert pins == dict.fromkeys(range(1000), "n")
    assert peak < 1 << 20


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
