# SPDX-License-Identifier: Apache-2.0
"""Whatever is written last before a crash: an update is neither lost nor made twice at once."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.workloads.updates.house import ALONE, House
from trellis.api.grove.updates import ON_DELETE, ROLLING_RECREATE
from trellis.workloads.updates.progress import selected

Event: TypeAlias = tuple[str, int, int]
ROUNDS = 120
CALM = 3

EVENTS = st.lists(
    st.tuples(st.just("run"), st.integers(0, 40), st.integers(0, 4))
    | st.tuples(
        st.sampled_from(["edit", "switch", "scale", "lose"]), st.integers(0, 2), st.integers(0, 3)
    )
    | st.tuples(st.just("tick"), st.integers(1, 12), st.just(0)),
    max_size=40,
)


def happen(house: House, event: Event) -> None:
    what, one, other = event
    if what == "run":
        running = house.controllers()
        for _ in zip(range(other + 1), running[one % len(running)], strict=False):
            check(house)
    elif what == "edit":
        house.edit("abc"[one])
    elif what == "switch":
        house.switch(ON_DELETE if one else ROLLING_RECREATE)
    elif what == "scale":
        house.scale(1 + one, other)
    elif what == "lose":
        for clique in list(house.cliques.values())[other : other + 1]:
            clique.renew((one % 2,))
    else:
        house.tick(one)


def check(house: House) -> None:
    assert len(selected(house.status)) <= 1
    progress = house.status.update_progress
    if progress is not None and progress.update_ended_at is not None:
        assert not progress.currently_updating


def settle(house: House) -> None:
    """All controllers run, and time goes by, until nothing is left to do, or for very long."""
    calm = 0
    for _ in range(ROUNDS):
        house.tick(3)
        for controller in house.controllers():
            for _ in controller:
                check(house)
        calm = calm + 1 if is_at_rest(house) else 0
        if calm == CALM:
            return


def is_at_rest(house: House) -> bool:
    """Whether nothing is open, and every hash is that of the templates."""
    status = house.status
    progress = [status.update_progress]
    spans = [one.update_progress for one in house.groups.values()]
    inner = [one.status.update_progress for one in house.cliques.values()]
    every = [one for one in (*progress, *spans, *inner) if one is not None]
    return (
        all(one.update_ended_at is not None for one in every)
        and status.current_generation_hash == house.generation
        and all(one.template == house.wanted(place.clique) for place, one in house.cliques.items())
    )


def is_gentle(house: House) -> bool:
    """Whether of one replica of the set at most one pod and one replica of the group are down."""
    down = {place: 2 - one.ready for place, one in house.cliques.items() if one.ready < 2}
    alone = [count for place, count in down.items() if place.clique == ALONE]
    inner = {place.inner for place in down if place.clique != ALONE}
    return len({place.replica for place in down}) <= 1 and sum(alone) <= 1 and len(inner) <= 1


@cache
def _started() -> House:
    house = House()
    settle(house)
    return house


def started() -> House:
    """A set that is up and has never been updated."""
    return deepcopy(_started())


@settings(deadline=None, max_examples=50)
@given(EVENTS)
def test_no_update_is_lost(events: list[Event]) -> None:
    house = started()
    for event in events:
        happen(house, event)
    house.switch(ROLLING_RECREATE)
    settle(house)
    assert is_at_rest(house)
    assert not any(one.outdated for one in house.cliques.values())
    assert house.status.updated_replicas == house.replicas
    quiet = house.renewals
    settle(house)
    assert house.renewals == quiet


@settings(deadline=None, max_examples=50)
@given(EVENTS)
def test_by_hand_every_podclique_has_the_new_spec_and_no_pod_is_touched(
    events: list[Event],
) -> None:
    house = started()
    house.switch(ON_DELETE)
    quiet = house.renewals
    for event in events:
        happen(house, event if event[0] != "switch" else ("tick", event[1] + 1, 0))
    settle(house)
    assert is_at_rest(house)
    assert house.renewals == quiet


def test_a_first_start_is_no_update() -> None:
    house = started()
    assert house.status.update_progress is None
    assert house.renewals == 0
    assert is_at_rest(house)


def crash_after(house: House, writes: int) -> bool:
    """Runs all controllers until so many writes are made; whether there were as many at all."""
    made = 0
    for _ in range(ROUNDS):
        for controller in house.controllers():
            for _ in controller:
                made += 1
                assert is_gentle(house)
                if made > writes:
                    return True
        house.tick(3)
        if is_at_rest(house):
            return False
    raise AssertionError("the update never ends")


def test_every_crash_of_one_update_ends_the_same() -> None:
    writes, crashed = 0, True
    while crashed:
        house = started()
        house.edit("a")
        house.edit("b")
        crashed = crash_after(house, writes)
        settle(house)
        assert is_at_rest(house), writes
        # Two pods of each of two cliques one by one, and each of two replicas of two groups whole.
        assert house.renewals == 8, writes
        writes += 1
    assert writes > 100
