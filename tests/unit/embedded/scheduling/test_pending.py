# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.embedded.scheduling.builders import node, wish, world
from trellis.api.meta import Key
from trellis.embedded.scheduling.nodes import HOSTNAME
from trellis.embedded.scheduling.pending import FIRST_REST, Pending

if TYPE_CHECKING:
    from trellis.embedded.scheduling.rooms import Room
    from trellis.embedded.scheduling.wishes import Shape

USES = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "a"}]}


def taken(pending: Pending, now: float = 0.0) -> list[str]:
    """Who is taken one after the other, until there is nobody."""
    found = []
    while (one := pending.take(now)) is not None:
        found.append(one.metadata.name)
    return found


def parked(*names: str, **spec: object) -> Pending:
    pending = Pending()
    for name in names:
        pending.add(wish(name, **spec))
        taken(pending)
        pending.park(f"uid-{name}", 0.0)
    return pending


def always(_shape: Shape, _room: Room) -> bool:
    return True


def room(name: str = "n") -> Room:
    found = world(node(name)).room(name)
    assert found is not None
    return found


def test_the_important_come_first_and_then_the_first() -> None:
    pending = Pending()
    for name, priority in (("a", 0), ("b", 5), ("c", 0), ("d", 5)):
        pending.add(wish(name, priority=priority))
    assert taken(pending) == ["b", "d", "a", "c"]


def test_a_parked_pod_is_not_looked_at_until_something_changes() -> None:
    pending = parked("a")
    assert taken(pending, 1e9) == []
    assert pending.next_due() is None
    pending.wake_for(room(), always)
    assert taken(pending) == ["a"]


def test_a_room_that_would_not_do_wakes_nobody() -> None:
    pending = parked("a")
    pending.wake_for(room(), lambda *_: False)
    assert taken(pending, 1e9) == []


def test_one_that_was_woken_rests_while_there_is_other_work() -> None:
    pending = parked("a")
    pending.wake_for(room(), always)
    pending.add(wish("b"))
    assert taken(pending) == ["b", "a"]


def test_one_that_has_rested_is_as_good_as_new() -> None:
    pending = parked("a", priority=5)
    pending.wake_for(room(), always)
    pending.add(wish("b"))
    assert taken(pending, FIRST_REST) == ["a", "b"]


def test_one_that_failed_is_tried_again_after_ever_longer_rests() -> None:
    pending, waits, now = Pending(), [], 0.0
    pending.add(wish("a"))
    for _ in range(6):
        assert taken(pending, now) == ["a"]
        pending.fail("uid-a", now)
        due = pending.next_due()
        assert due is not None
        assert taken(pending, due - 0.01) == []
        waits.append(due - now)
        now = due
    assert waits == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def test_pinned_pods_are_woken_by_their_own_node_alone() -> None:
    pending = Pending()
    for name in "ab":
        pending.add(wish(f"for-{name}", nodeSelector={HOSTNAME: name}))
    taken(pending)
    for name in "ab":
        pending.park(f"uid-for-{name}", 0.0)
    asked: list[str] = []

    def would_do(_shape: Shape, room: Room) -> bool:
        asked.append(room.name)
        return True

    pending.wake_for(room("b"), would_do)
    assert taken(pending) == ["for-b"]
    assert asked == ["b"]


def test_pods_are_woken_by_their_own_claim_or_by_more_devices() -> None:
    pending = parked("user", **USES)
    pending.wake_sharers(Key("ns", "b"))
    pending.wake_sociable()
    assert taken(pending) == []
    pending.wake_sharers(Key("ns", "a"))
    assert taken(pending) == ["user"]
    pending.park("uid-user", 0.0)
    pending.wake_claimants()
    assert taken(pending) == ["user"]


def test_a_pod_that_changed_has_its_turn_at_once() -> None:
    pending = parked("a")
    pending.add(wish("a", nodeSelector={"x": "y"}))
    found = pending.take(0.0)
    assert found is not None
    assert found.pod.spec.node_selector == {"x": "y"}
    assert taken(pending) == []


def test_a_pod_that_changed_in_nothing_that_matters_goes_on_waiting() -> None:
    pending = parked("a", **USES)
    pending.renew(wish("a", **USES))
    assert taken(pending) == []
    pending.wake_claimants()
    assert taken(pending) == ["a"]


def test_a_pod_that_is_gone_is_never_taken() -> None:
    pending = parked("a")
    pending.add(wish("b"))
    for uid in ("uid-a", "uid-b", "uid-unknown"):
        pending.forget(uid)
    pending.wake_for(room(), always)
    assert taken(pending) == []
    assert len(pending) == 0
    pending.park("uid-a", 0.0)
    pending.fail("uid-a", 0.0)
    assert pending.next_due() is None


def test_who_was_promised_a_place_is_woken_by_its_room() -> None:
    pending, at = parked("a"), room()
    at.nominate(wish("other"))
    pending.wake_for(at, lambda *_: False)
    assert taken(pending) == []
    waiting = pending.get("uid-a")
    assert waiting is not None
    at.nominate(waiting)
    pending.wake_for(at, lambda *_: False)
    assert taken(pending) == ["a"]
