# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.embedded.scheduling.builders import (
    claim,
    device,
    device_class,
    exactly,
    node,
    pod,
    selecting,
    slice_,
    wish,
    world,
)
from trellis.embedded.scheduling.decide import SCHEDULER_ERROR, Bind, Decider, Refuse, Wait
from trellis.embedded.scheduling.nodes import HOSTNAME
from trellis.embedded.scheduling.wishes import Wishes

if TYPE_CHECKING:
    from trellis.embedded.scheduling.world import World

GPU = "nvidia.com/gpu"
USES = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "a"}]}


def refused(found: World, name: str, requests: Any = None, **spec: Any) -> Refuse:
    decision = Decider(found).decide(wish(name, requests, **spec))
    assert isinstance(decision, Refuse)
    return decision


def bound(found: World, name: str, requests: Any = None, **spec: Any) -> str:
    decision = Decider(found).decide(wish(name, requests, **spec))
    assert isinstance(decision, Bind)
    return decision.node


def test_without_nodes_there_is_nothing_to_choose_from() -> None:
    assert refused(world(), "p").message == "no nodes available to schedule pods"


def test_every_node_is_asked_in_turn() -> None:
    found = world(*(node(f"n{number}") for number in range(5)))
    decider = Decider(found)
    starts = []
    for number in range(3):
        decider.decide(wish(f"p{number}"))
        starts.append(decider.start)
    assert starts == [0, 0, 0]
    many = world(*(node(f"n{number}") for number in range(1000)))
    decider = Decider(many, start=900)
    decider.decide(wish("p"))
    assert decider.start == (900 + 420) % 1000


def test_a_node_outside_the_search_is_found_if_it_is_the_only_one() -> None:
    nodes = [node(f"n{number}") for number in range(300)]
    found = world(*nodes, node("big", **{GPU: "1"}))
    assert bound(found, "p", {GPU: "1"}) == "big"


def test_the_emptier_of_two_nodes_is_chosen() -> None:
    found = world(node("a"), node("b"))
    found.place(wish("first", {"cpu": "2"}), "a")
    assert bound(found, "p", {"cpu": "1"}) == "b"


def test_a_pod_that_was_just_given_a_node_counts_there() -> None:
    found = world(node("a", **{GPU: "1"}))
    decider, makes = Decider(found), Wishes()
    first, second = (makes.of(pod(name, {GPU: "1"})) for name in ("one", "two"))
    decision = decider.decide(first)
    assert isinstance(decision, Bind)
    found.place(first, decision.node)
    assert isinstance(decider.decide(second), Refuse)
    found.displace(first.uid)
    assert isinstance(decider.decide(second), Bind)


def test_pods_on_a_node_that_is_not_known_yet_count_when_it_is() -> None:
    found = world(node("b"))
    found.place(wish("first", {GPU: "1"}), "a")
    found.put_node(node("a", **{GPU: "1"}))
    message = refused(found, "p", {GPU: "1"}).message
    assert message.startswith(f"0/2 nodes are available: 2 Insufficient {GPU}.")


def test_pods_of_a_node_that_went_and_came_back_still_count() -> None:
    found = world(node("a", **{GPU: "1"}))
    found.place(wish("first", {GPU: "1"}), "a")
    found.remove_node("a")
    assert refused(found, "p").message == "no nodes available to schedule pods"
    found.put_node(node("a", **{GPU: "1"}))
    assert "1 Insufficient" in refused(found, "p", {GPU: "1"}).message


@pytest.mark.parametrize(
    ("pin", "reasons"),
    [
        pytest.param(
            {HOSTNAME: "full"},
            f"1 Insufficient {GPU}, 1 node(s) had untolerated taint(s), "
            "1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector",
            id="to-a-node-that-is-full",
        ),
        pytest.param(
            {HOSTNAME: "tainted"},
            "1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, "
            "3 node(s) didn't match Pod's node affinity/selector",
            id="to-a-node-that-keeps-it-off",
        ),
        pytest.param(
            {HOSTNAME: "absent"},
            "1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, "
            "3 node(s) didn't match Pod's node affinity/selector",
            id="to-no-node",
        ),
    ],
)
def test_a_pinned_pod_is_told_of_all_nodes_though_few_are_asked(
    pin: dict[str, str], reasons: str
) -> None:
    found = world(
        node("full"),
        node("tainted", taints=[{"key": "x", "effect": "NoSchedule"}]),
        node("cordoned", unschedulable=True),
        node("c"),
        node("d"),
    )
    message = refused(found, "p", {GPU: "1"}, nodeSelector=pin).message
    assert message.startswith(f"0/5 nodes are available: {reasons}. ")


def test_a_place_that_was_promised_is_kept_for_who_is_to_have_it() -> None:
    found = world(node("a", **{GPU: "1"}))
    boss = wish("boss", {GPU: "1"}, priority=10)
    found.nominate(boss, "a")
    assert "Insufficient" in refused(found, "low", {GPU: "1"}, priority=5).message
    assert isinstance(Decider(found).decide(boss), Bind)
    assert bound(found, "higher", {GPU: "1"}, priority=20) == "a"


def full_of(priorities: dict[str, list[int]], gpus: str = "4") -> World:
    found = world(*(node(name, **{GPU: gpus}) for name in priorities))
    for name, all_of in priorities.items():
        for number, priority in enumerate(all_of):
            status = {"startTime": f"2026-01-01T00:00:0{number}Z"}
            other = wish(f"{name}{number}", {GPU: "2"}, priority=priority, status=status)
            found.place(other, name)
    return found


@pytest.mark.parametrize(
    ("priorities", "asked", "victims"),
    [
        pytest.param({"a": [1, 2]}, "2", ["a0"], id="the-least-important"),
        pytest.param({"a": [1, 1]}, "2", ["a1"], id="the-latest-of-equals"),
        pytest.param({"a": [1, 1]}, "4", ["a0", "a1"], id="as-many-as-needed"),
        pytest.param({"a": [5, 5], "b": [1, 9]}, "2", ["b0"], id="where-they-matter-least"),
        pytest.param({"a": [1, 1], "b": [1, 50]}, "2", ["a1"], id="latest-of-all-nodes"),
        pytest.param({"a": [99, 99], "b": [99, 1]}, "2", ["b1"], id="only-lesser-ones"),
    ],
)
def test_others_are_made_to_leave(
    priorities: dict[str, list[int]], asked: str, victims: list[str]
) -> None:
    decision = refused(full_of(priorities), "p", {GPU: asked}, priority=10)
    assert decision.preemption is not None
    assert [one.metadata.name for one in decision.preemption.victims] == victims
    assert decision.nominee == victims[0][0]
    assert decision.message.endswith(f"Insufficient {GPU}.")


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        pytest.param(
            {"priority": 10, "preemptionPolicy": "Never"},
            "not eligible due to preemptionPolicy=Never.",
            id="who-does-not-preempt",
        ),
        pytest.param(
            {"priority": 0},
            "0/1 nodes are available: 1 No preemption victims found for incoming pod.",
            id="who-is-not-more-important",
        ),
    ],
)
def test_nobody_is_made_to_leave_for(spec: dict[str, Any], why: str) -> None:
    decision = refused(full_of({"a": [1, 1]}), "p", {GPU: "2"}, **spec)
    assert decision.preemption is None
    assert decision.message.endswith(f"no new claims to deallocate, preemption: {why}")


def test_leaving_does_not_help_where_the_node_is_too_small() -> None:
    decision = refused(full_of({"a": [1, 1]}), "p", {GPU: "8"}, priority=10)
    assert decision.preemption is None
    assert "1 Preemption is not helpful for scheduling." in decision.message


def test_who_waits_for_others_to_leave_makes_nobody_else_leave() -> None:
    found = world(node("a", **{GPU: "2"}), node("b", **{GPU: "2"}))
    leaving = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    told = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    gone = wish("gone", {GPU: "2"}, status={"conditions": [told]}, **leaving)
    found.place(gone, "a")
    found.place(wish("stays", {GPU: "2"}), "b")
    boss = wish("boss", {GPU: "2"}, priority=10)
    found.nominate(boss, "a")
    decision = Decider(found).decide(boss)
    assert isinstance(decision, Refuse)
    assert decision.preemption is None
    assert decision.keeps_nomination
    assert decision.message.endswith("terminating pod on the nominated node.")


def with_devices(*names: str) -> World:
    found = world(*(node(name) for name in names))
    for name in names:
        found.inventory.put(slice_(name, device("g0")))
    found.classes["gpu"] = device_class()
    return found


def test_devices_are_given_with_the_node() -> None:
    found = with_devices("a")
    found.claims.put(claim("a", exactly()))
    decision = Decider(found).decide(wish("p", **USES))
    assert isinstance(decision, Bind)
    ((of, given_),) = decision.allocations
    assert of.metadata.name == "a"
    assert given_.devices.results[0].device == "g0"


def test_a_pod_without_its_claim_waits_in_silence() -> None:
    assert isinstance(Decider(with_devices("a")).decide(wish("p", **USES)), Wait)


def test_a_broken_selector_is_the_schedulers_error() -> None:
    found = with_devices("a")
    found.claims.put(claim("a", exactly(**selecting("device.nonsense"))))
    assert refused(found, "p", **USES).reason == SCHEDULER_ERROR


ON_A = {
    "allocation": {
        "devices": {
            "results": [
                {"request": "gpu", "driver": "gpu.example.com", "pool": "a", "device": "g0"}
            ]
        },
        "nodeSelector": {
            "nodeSelectorTerms": [
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
            ]
        },
    }
}


def test_a_claim_with_devices_binds_pods_to_their_node() -> None:
    found = with_devices("a", "b")
    found.claims.put(claim("a", exactly(), status=ON_A))
    decision = Decider(found).decide(wish("p", **USES))
    assert isinstance(decision, Bind)
    assert decision.node == "a"
    assert [one.metadata.name for one in decision.reserved] == ["a"]


@pytest.mark.parametrize(
    ("users", "freed"),
    [
        pytest.param([], True, id="that-nobody-uses"),
        pytest.param([{"name": "p", "uid": "uid-p"}], True, id="that-it-uses-alone"),
        pytest.param([{"name": "other", "uid": "o"}], False, id="that-another-uses"),
    ],
)
def test_a_claim_is_freed_whose_devices_are_where_the_pod_cannot_be(
    users: list[dict[str, str]], freed: bool
) -> None:
    found = with_devices("a", "b")
    found.put_node(node("a", unschedulable=True))
    found.claims.put(claim("a", exactly(), status={**ON_A, "reservedFor": users}))
    decision = refused(found, "p", **USES)
    assert (decision.freed is not None) is freed
    assert decision.message.startswith(
        "0/2 nodes are available: 1 node(s) were unschedulable, "
        "1 resourceclaim not available on the node."
    )


def _disturb(found: World, step: str, number: int, placed: list[str]) -> None:
    if step == "remove" and placed:
        found.displace(placed.pop(number % len(placed)))
    elif step in {"node", "cordon"}:
        found.put_node(node(f"n{number}", **{GPU: "2"}, unschedulable=step == "cordon"))
    elif step == "vanish" and found.room(f"n{number}"):
        found.remove_node(f"n{number}")


@settings(deadline=None)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["add", "add", "remove", "node", "cordon", "vanish", "nominate"]),
            st.integers(0, 3),
            st.sampled_from([{"cpu": "2"}, {GPU: "1"}, {"cpu": "5", GPU: "2"}]),
        ),
        max_size=25,
    )
)
def test_what_is_remembered_never_changes_a_decision(
    steps: list[tuple[str, int, dict[str, str]]],
) -> None:
    found = world(*(node(f"n{number}", **{GPU: "2"}) for number in range(3)))
    decider, makes = Decider(found), Wishes()
    placed: list[str] = []
    for count, (step, number, requests) in enumerate(steps):
        _disturb(found, step, number, placed)
        one = makes.of(pod(f"p{count}", requests))
        if step == "nominate":
            found.nominate(one, f"n{number}")
            # One of the same shape is asked first: what it is told must not be told to this one.
            decider.decide(makes.of(pod(f"twin-{count}", requests)))
        fresh = Decider(found, start=decider.start).decide(Wishes().of(one.pod))
        decision = decider.decide(one)
        assert decision == fresh
        if isinstance(decision, Bind) and step == "add":
            found.place(one, decision.node)
            placed.append(one.uid)
    for room in found.rooms():
        for name in ("cpu", GPU):
            each = [dict(other.shape.requests).get(name, 0) for other in room.pods.values()]
            assert room.used[name] == sum(each)
