# SPDX-License-Identifier: Apache-2.0
"""Laws that hold whatever happens: templates, strategies and numbers change, pods come and go."""

from __future__ import annotations

from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.workloads.updates.worlds import CliqueWorld, GroupWorld, ModelPod
from trellis.api.grove.updates import ON_DELETE, ROLLING_RECREATE
from trellis.workloads.updates import SetReplicaFacts, SetState, outlook

Event: TypeAlias = tuple[str, int]
ENOUGH = 200

EVENTS = st.lists(
    st.tuples(st.sampled_from(["tick"]), st.integers(1, 12))
    | st.tuples(
        st.sampled_from(["good", "bad", "by hand", "rolling", "scale", "lose", "falter", "doom"]),
        st.integers(0, 7),
    ),
    max_size=25,
)
WORLD = st.tuples(st.integers(1, 6), st.integers(1, 3))


def happen(world: CliqueWorld | GroupWorld, event: Event) -> None:
    what, number = event
    if what == "tick":
        world.tick(number)
    elif what in ("good", "bad"):
        world.change(good=what == "good")
    elif what in ("by hand", "rolling"):
        world.strategy = ON_DELETE if what == "by hand" else ROLLING_RECREATE
    elif what == "scale":
        world.scale(number)
    else:
        harm(world, what, number)
    world.obey()


def harm(world: CliqueWorld | GroupWorld, what: str, number: int) -> None:
    """Something happens to one of all pods."""
    places = pods_of(world)
    if not places:
        return
    pods, index = places[number % len(places)]
    pod = pods[index]
    if what == "lose":
        pods[index] = None
    elif pod is not None:
        pod.turn(False, world.now)
        pod.doomed |= what == "doom"


def pods_of(world: CliqueWorld | GroupWorld) -> list[tuple[dict[int, ModelPod | None], int]]:
    if isinstance(world, CliqueWorld):
        return [(world.pods, index) for index in sorted(world.pods)]
    members = [member for members in world.replicas for member in members]
    return [(member.pods, index) for member in members for index in member.pods]


def ends(world: CliqueWorld | GroupWorld) -> bool:
    """Whether an update ends, given time enough, and has left nothing behind."""
    if not any(world.tick(3).ended for _ in range(ENOUGH)):
        return False
    pods = [pods[index] for pods, index in pods_of(world)]
    return all(pod is None or pod.template == world.template for pod in pods)


def is_well(world: CliqueWorld | GroupWorld) -> bool:
    """Whether everything is Ready, and goes on being so."""
    steps = world.steps
    world.tick(3)
    world.tick(9)
    pods = [pods[index] for pods, index in pods_of(world)]
    return all(pod is not None and pod.ready for pod in pods) and world.steps == steps


def a_clique_world(size: tuple[int, int]) -> CliqueWorld:
    world = CliqueWorld(most=size[1])
    world.scale(size[0])
    world.tick(1)
    world.tick(10)
    return world


def a_group_world(size: tuple[int, int], crashes: int = 0) -> GroupWorld:
    world = GroupWorld(most=size[1], crashes=crashes)
    world.scale(size[0])
    world.tick(1)
    world.tick(10)
    return world


@given(WORLD, EVENTS)
def test_any_clique_is_repaired_by_an_update_to_a_good_template(
    size: tuple[int, int], events: list[Event]
) -> None:
    world = a_clique_world(size)
    for event in events:
        happen(world, event)
    world.strategy = ROLLING_RECREATE
    world.change(good=True)
    assert ends(world)
    assert is_well(world)


@given(WORLD, EVENTS)
def test_an_update_of_a_clique_ends_when_nothing_stays_broken(
    size: tuple[int, int], events: list[Event]
) -> None:
    world = a_clique_world(size)
    for event in events:
        happen(world, event if event[0] not in ("bad", "doom") else ("tick", event[1] + 1))
    world.strategy = ROLLING_RECREATE
    assert ends(world)
    assert is_well(world)


@given(WORLD, EVENTS, st.integers(0, 3))
def test_any_group_is_repaired_by_an_update_to_a_good_template(
    size: tuple[int, int], events: list[Event], crashes: int
) -> None:
    world = a_group_world(size, crashes)
    for event in events:
        happen(world, event)
    world.strategy = ROLLING_RECREATE
    world.change(good=True)
    assert ends(world)
    assert is_well(world)


@given(WORLD, EVENTS)
def test_by_hand_nothing_is_ever_renewed(size: tuple[int, int], events: list[Event]) -> None:
    worlds: tuple[CliqueWorld | GroupWorld, ...] = (a_clique_world(size), a_group_world(size))
    for world in worlds:
        world.strategy = ON_DELETE
        for event in events:
            happen(world, event if event[0] != "rolling" else ("tick", event[1] + 1))
        assert world.steps == 0


@given(st.integers(2, 6), st.integers(0, 9), st.integers(1, 8))
def test_a_pod_lost_in_a_replica_that_is_yet_to_be_rolled_comes_back_on_the_old_template(
    count: int, which: int, seconds: int
) -> None:
    world = a_group_world((count, 1))
    world.change(good=False)
    held = world.obey().held
    assert held == tuple(range(count - 1))
    member = world.replicas[held[which % len(held)]][which % 2]
    member.pods = dict.fromkeys(member.pods)
    world.tick(1)
    found = world.tick(seconds)
    assert [pod and pod.template for pod in member.pods.values()] == [0, 0]
    assert found.held == held


def test_a_good_update_rolls_a_clique_pod_by_pod_and_each_once() -> None:
    world = a_clique_world((5, 1))
    world.change(good=True)
    assert ends(world)
    assert world.steps == 5


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 2))
def test_an_update_of_more_pods_than_there_is_room_for_ends_and_takes_no_more_than_it_may(
    count: int, room: int, most: int
) -> None:
    world = CliqueWorld(most=most, room=room)
    world.scale(count)
    for _ in range(10):
        world.tick(2)
    world.change(good=True)
    up = ready_pods(world)
    assert up == min(count, room)
    for _ in range(ENOUGH):
        world.obey()
        assert ready_pods(world) >= up - most
        if world.tick(2).ended:
            break
    assert ready_pods(world) == up
    assert all(pod and pod.template == world.template for pod in world.pods.values())


def ready_pods(world: CliqueWorld) -> int:
    return sum(pod is not None and pod.ready for pod in world.pods.values())


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=20),
    st.integers(1, 5),
)
def test_replicas_of_a_set_are_updated_one_by_one_until_all_are(
    events: list[tuple[int, int]], count: int
) -> None:
    work = dict.fromkeys(range(count), 0)
    selected: tuple[int, ...] = ()
    for number, amount in [*events, *[(9, 0)] * 60]:
        if number == 0:
            work = dict.fromkeys(range(count), amount)
        elif number == 1:
            count = amount
            work = {index: work.get(index, 0) for index in range(count)}
        found = outlook(
            SetState(
                replicas=tuple(
                    SetReplicaFacts(
                        index=index,
                        outdated=left > 1,
                        complete=left == 0,
                        available=(index * 7 + number) % 3,
                    )
                    for index, left in work.items()
                ),
                selected=selected,
            )
        )
        begun = [index for index in selected if work.get(index, 0)]
        assert len(found.active) <= 1
        assert not begun or list(found.active) == begun
        selected = found.active
        for index in selected:
            work[index] -= 1
    assert found.ended
    assert not selected
