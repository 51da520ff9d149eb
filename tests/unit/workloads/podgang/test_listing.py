# SPDX-License-Identifier: Apache-2.0
"""The ledger of one PodClique: examples first, then what must hold whatever happens."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.unit.workloads.podgang.builders import NOW, a_part, a_pod, ago, name_of
from trellis.api.annotation import AFTER_DEPARTURE, ATTEMPT
from trellis.api.core.pod import FAILED, RUNNING, SUCCEEDED, Pod
from trellis.workloads.ledger import Listed, by_index
from trellis.workloads.podgang.listing import next_listing
from trellis.workloads.pods import is_live

if TYPE_CHECKING:
    from trellis.workloads.podgang.state import Part

CLIQUE = "wl2-0-pc-a"
FIRST = {index: name_of(CLIQUE, index) for index in range(8)}


def second(index: int) -> str:
    return name_of(CLIQUE, index, FIRST[index])


def three(**zero: object) -> list[Pod]:
    """The first pods of three indices; the words are about that of index 0."""
    words: dict[str, object] = dict(zero)
    first = a_pod(FIRST[0], 0, **words)  # type: ignore[arg-type]
    return [first, a_pod(FIRST[1], 1), a_pod(FIRST[2], 2)]


def listed(count: int = 3) -> dict[int, str]:
    return {index: FIRST[index] for index in range(count)}


def entries(part: Part, now: datetime = NOW, *, anew: bool = False) -> Listed:
    return next_listing(part, now, anew=anew).entries


@pytest.mark.parametrize(
    "pods",
    [
        pytest.param(three(), id="all live"),
        pytest.param([], id="none made yet"),
        pytest.param(three()[:1], id="two of them gone without a trace"),
        pytest.param(three(phase=SUCCEEDED), id="one has done its work"),
        pytest.param(three(ready=False), id="one is not ready"),
        pytest.param(three(phase="Unknown"), id="one is on a node that nobody hears of"),
    ],
)
def test_a_name_stays_while_its_pod_lives_and_while_it_has_none(pods: list[Pod]) -> None:
    part = a_part(*pods, listed=listed())
    found = next_listing(part, NOW)
    assert (found.entries, found.due) == (listed(), None)


@pytest.mark.parametrize(
    "pods",
    [
        pytest.param(three(leaving=True), id="it is leaving"),
        pytest.param(three(phase=FAILED, ready=False), id="it failed"),
        pytest.param(three(phase=FAILED, leaving=True, notes={ATTEMPT: "9"}), id="both"),
    ],
)
def test_a_name_is_replaced_while_its_pod_is_still_there(pods: list[Pod]) -> None:
    assert entries(a_part(*pods, listed=listed())) == {**listed(), 0: second(0)}


def test_a_name_whose_pod_was_seen_and_is_gone_is_not_used_again() -> None:
    part = replace(a_part(*three()[1:], listed=listed()), gone={FIRST[0]})
    assert entries(part) == {**listed(), 0: second(0)}
    used_up = replace(part, gone={FIRST[0], second(0)})
    assert entries(used_up)[0] not in {FIRST[0], second(0)}


def test_a_pod_that_leaves_is_waited_for_where_the_clique_says_so() -> None:
    part = a_part(*three(leaving=True), listed=listed(), notes={AFTER_DEPARTURE: "true"})
    assert entries(part) == listed()


def test_a_pod_that_failed_is_not_waited_for_since_nothing_of_it_runs() -> None:
    pods = three(phase=FAILED, ready=False)
    part = a_part(*pods, listed=listed(), notes={AFTER_DEPARTURE: "true"})
    assert entries(part)[0] == second(0)


def test_a_pod_that_failed_again_is_replaced_when_its_time_has_come() -> None:
    failed = three(phase=FAILED, ready=False, age=10, notes={ATTEMPT: "1"})
    part = a_part(*failed, listed=listed())
    found = next_listing(part, NOW)
    assert found.entries == listed()
    assert found.due == ago(5) + timedelta(seconds=10)
    assert entries(part, found.due)[0] == second(0)


def test_the_first_of_several_failures_is_what_is_due() -> None:
    def failed(index: int, age: float) -> Pod:
        return a_pod(FIRST[index], index, phase=FAILED, age=age, notes={ATTEMPT: "3"})

    part = a_part(failed(0, 10), failed(1, 20), failed(2, 4), listed=listed())
    assert next_listing(part, NOW).due == ago(10) + timedelta(seconds=40)


def test_everything_has_another_name_when_a_gang_is_made_anew() -> None:
    part = a_part(*three(), listed=listed())
    assert entries(part, anew=True) == {index: second(index) for index in range(3)}
    assert entries(a_part(listed=listed()), anew=True) == {i: second(i) for i in range(3)}


def test_scaling_out_takes_the_lowest_free_indices() -> None:
    part = a_part(a_pod(FIRST[1], 1), listed={1: FIRST[1]}, replicas=4)
    assert entries(part) == {index: FIRST[index] for index in range(4)}


def test_an_index_that_comes_back_keeps_a_pod_that_was_to_go() -> None:
    part = a_part(*three(), listed={0: FIRST[0]})
    assert entries(part) == listed()


def test_an_index_that_comes_back_passes_over_names_that_lost_pods_still_hold() -> None:
    gone = [a_pod(FIRST[2], 2, leaving=True), a_pod(second(2), 2, phase=FAILED)]
    found = entries(a_part(*three()[:2], *gone, listed=listed(2)))
    assert found[2] == name_of(CLIQUE, 2, FIRST[2] + second(2))


def test_a_renewed_name_is_never_that_of_a_pod_that_lives() -> None:
    stray = a_pod(second(0), 0)
    found = entries(a_part(*three(), stray, listed=listed()), anew=True)
    assert found[0] == name_of(CLIQUE, 0, FIRST[0] + second(0))


@pytest.mark.parametrize(
    ("pods", "gone"),
    [
        pytest.param(three()[:2], 2, id="one without a pod"),
        pytest.param(three(node="", phase="Pending", ready=False), 0, id="one without a node"),
        pytest.param(three(phase="Pending", ready=False), 0, id="one that is pending"),
        pytest.param(three(phase="Unknown"), 0, id="one that nobody hears of"),
        pytest.param(three(ready=False), 0, id="one that is not ready"),
        pytest.param(three(hash_="v1-old"), 0, id="one that is outdated"),
        pytest.param(three(age=5), 0, id="the newest"),
        pytest.param(three(), 2, id="the highest of those that are alike"),
        pytest.param(three(leaving=True), 0, id="one that is leaving"),
    ],
)
def test_scaling_in_lets_go_what_is_of_the_least_use(pods: list[Pod], gone: int) -> None:
    part = a_part(*pods, listed=listed(), replicas=2)
    assert sorted(entries(part)) == [index for index in range(3) if index != gone]


@pytest.mark.parametrize(
    "pods", [three(ready=False), three()[:1], three(node=""), three(leaving=True)]
)
def test_a_scaling_group_lets_go_the_highest_index_whatever_its_pod_does(pods: list[Pod]) -> None:
    part = a_part(*pods, listed=listed(), replicas=2, grouped=True)
    assert sorted(entries(part)) == [0, 1]


def test_readiness_outranks_being_up_to_date_when_scaling_in() -> None:
    pods = [a_pod(FIRST[0], 0, hash_="v1-old"), a_pod(FIRST[1], 1, ready=False)]
    assert sorted(entries(a_part(*pods, listed=listed(2), replicas=1))) == [0]


def test_none_are_listed_where_none_are_wanted() -> None:
    assert entries(a_part(*three(), listed=listed(), replicas=0)) == {}


def grove(name: str, index: int, **words: object) -> Pod:
    return a_pod(f"{CLIQUE}-{name}", index, **words)  # type: ignore[arg-type]


def test_what_lives_is_taken_over_from_another_operator_under_its_own_name() -> None:
    pods = [grove("x2zb9", 0), grove("q7rfd", 2), grove("zzzzz", 1, leaving=True)]
    found = entries(a_part(*pods))
    assert found == {0: f"{CLIQUE}-x2zb9", 1: FIRST[1], 2: f"{CLIQUE}-q7rfd"}


def test_of_two_that_live_with_one_index_the_better_is_taken_over() -> None:
    pods = [grove("aaaaa", 0, ready=False), grove("bbbbb", 0), grove("ccccc", 0, age=1)]
    assert entries(a_part(*pods, replicas=1)) == {0: f"{CLIQUE}-bbbbb"}


def test_what_belongs_to_somebody_else_is_not_taken_over() -> None:
    pods = [grove("aaaaa", 0, uid="uid-other"), grove("bbbbb", 1)]
    assert entries(a_part(*pods, replicas=2)) == {0: FIRST[0], 1: f"{CLIQUE}-bbbbb"}


def test_a_pod_that_was_taken_over_is_replaced_under_a_name_of_ours() -> None:
    old = grove("x2zb9", 0, leaving=True)
    part = a_part(old, listed={0: old.metadata.name}, replicas=1)
    assert entries(part) == {0: name_of(CLIQUE, 0, old.metadata.name)}


# What must hold whatever happens.

LIVES = st.sampled_from(["live", "leaving", "failed", "succeeded", "pending", "absent"])
WORDS: dict[str, dict[str, object]] = {
    "live": {},
    "leaving": {"leaving": True},
    "failed": {"phase": FAILED, "ready": False},
    "succeeded": {"phase": SUCCEEDED, "ready": False},
    "pending": {"phase": "Pending", "ready": False, "node": ""},
}


@st.composite
def parts(draw: st.DrawFn) -> Part:
    """A PodClique whose pods have had any number of names, listed or not."""
    indices = draw(st.lists(st.integers(0, 7), max_size=8, unique=True))
    pods: list[Pod] = []
    names: dict[int, str] = {}
    for index in sorted(indices):
        name = ""
        for life in draw(st.lists(LIVES, min_size=1, max_size=3)):
            name = name_of(CLIQUE, index, name)
            if life != "absent":
                words = WORDS[life] | {"notes": {ATTEMPT: str(draw(st.integers(0, 4)))}}
                pods.append(a_pod(name, index, age=draw(st.integers(0, 50)), **words))  # type: ignore[arg-type]
        if draw(st.booleans()):
            names[index] = name
    known = draw(st.booleans())
    patient = draw(st.booleans())
    part = a_part(
        *pods,
        listed=names if known else None,
        replicas=draw(st.integers(0, 8)),
        notes={AFTER_DEPARTURE: "true"} if patient else {},
    )
    return part if draw(st.booleans()) else _grouped(part)


def _grouped(part: Part) -> Part:
    """The same in a scaling group, by nothing but the order in which indices go."""
    group = a_part(grouped=True).member.group
    return replace(part, member=replace(part.member, group=group))


@given(parts(), st.booleans())
def test_as_many_are_listed_as_are_wanted_each_with_a_name_of_its_own(
    part: Part, anew: bool
) -> None:
    found = entries(part, anew=anew)
    assert len(found) == part.replicas
    assert len(set(found.values())) == len(found)
    assert list(found) == sorted(found)
    for index, name in found.items():
        pod = part.pods.get(name)
        assert pod is None or by_index(part.name, [name], part.pods) == {index: name}


@given(parts(), st.booleans())
def test_two_who_look_at_the_same_decide_the_same(part: Part, anew: bool) -> None:
    twin = replace(part, pods=dict(reversed(list(part.pods.items()))))
    assert next_listing(part, NOW, anew=anew) == next_listing(twin, NOW, anew=anew)


@given(parts(), st.booleans())
def test_what_was_decided_stands_until_something_happens(part: Part, anew: bool) -> None:
    found = next_listing(part, NOW, anew=anew)
    again = next_listing(replace(part, listed=found.entries), NOW)
    assert again.entries == found.entries


@given(parts())
def test_no_pod_that_lives_and_is_listed_loses_its_index_but_by_scaling_in(part: Part) -> None:
    found = entries(part)
    if part.listed is None or len(part.listed) > part.replicas:
        return
    for index, name in part.listed.items():
        if name not in part.pods or is_live(part.pods[name]):
            assert found[index] == name


@given(parts())
def test_nothing_is_due_but_what_is_still_listed_and_failed(part: Part) -> None:
    found = next_listing(part, NOW)
    if found.due is not None:
        assert found.due > NOW
        assert any(pod.status.phase == FAILED for pod in part.pods.values())


@given(parts(), st.lists(st.integers(0, 8), min_size=1, max_size=4))
def test_a_scaling_group_has_no_gaps_after_scaling_in(part: Part, wanted: list[int]) -> None:
    names = {index: name_of(CLIQUE, index) for index in range(part.replicas)}
    part = _grouped(replace(part, listed=names))
    for replicas in wanted:
        part = _resized(part, replicas)
        part = replace(part, listed=entries(part))
        assert sorted(part.listed or {}) == list(range(replicas))


@given(parts(), st.booleans())
def test_it_always_comes_to_rest_with_every_index_alive(part: Part, anew: bool) -> None:
    """Podcliques make what is listed and delete what is not; what leaves is gone in the end."""
    now = NOW
    found = next_listing(part, now, anew=anew)
    for _ in range(20):
        part = _carried_out(replace(part, listed=found.entries), now)
        now += timedelta(seconds=301)
        before, found = found, next_listing(part, now)
        if found.entries == before.entries and set(part.pods) == set(found.entries.values()):
            break
    else:
        raise AssertionError("it never came to rest")
    assert all(is_live(part.pods[name]) for name in found.entries.values())


def _resized(part: Part, replicas: int) -> Part:
    spec = structs.replace(part.clique.spec, replicas=replicas)
    return replace(part, clique=structs.replace(part.clique, spec=spec))


def _carried_out(part: Part, now: datetime) -> Part:
    """What the PodClique controller and the nodes make of a ledger."""
    wanted = {name: index for index, name in (part.listed or {}).items()}
    kept = {
        name: pod
        for name, pod in part.pods.items()
        if name in wanted and pod.metadata.deletion_timestamp is None
    }
    made = {
        name: structs.replace(a_pod(name, index, phase=RUNNING), metadata=_made(name, index, now))
        for name, index in wanted.items()
        if name not in part.pods
    }
    return replace(part, pods=kept | made)


def _made(name: str, index: int, now: datetime) -> object:
    return structs.replace(a_pod(name, index).metadata, creation_timestamp=now)
