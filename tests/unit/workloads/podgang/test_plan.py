# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from tests.unit.workloads.podgang.builders import NOW, a_gang, a_state, ago, wl2
from trellis.api.annotation import RECYCLED
from trellis.workloads.outline import Outline
from trellis.workloads.podgang.membership import Place
from trellis.workloads.podgang.plan import Plan, plan
from trellis.workloads.podgang.recycle import NOTHING, Decision, Threat
from trellis.workloads.recycled import EVERY_CLIQUE, is_up_since, stamps

if TYPE_CHECKING:
    from trellis.api.scheduler.podgang import PodGang
    from trellis.workloads.podgang.state import State

BASE = a_gang()
SCALED = Place(replica=0, group=Outline(wl2()).groups["sg-x"], index=1)
WHOLE = Threat(clique="wl2-0-pc-a", since=ago(20), deadline=ago(10))
UNIT = Threat(clique="c", since=ago(20), deadline=ago(10), group="wl2-0-sg-x", index=0)


def stamped(gang: PodGang, **times: str) -> PodGang:
    noted = {EVERY_CLIQUE if name == "all" else name: time for name, time in times.items()}
    annotations = {**gang.metadata.annotations, RECYCLED: json.dumps(noted)}
    return structs.replace(gang, metadata=structs.replace(gang.metadata, annotations=annotations))


def renewed(state: State, planned: Plan) -> list[str]:
    """The PodCliques of which every name is another one now."""
    return [
        part.name
        for part in state.parts
        if part.listed
        and not set(part.listed.values()) & set(planned.listings[part.name].entries.values())
    ]


def test_where_nothing_is_broken_nothing_is_made_anew() -> None:
    state = a_state(gang=BASE)
    planned = plan(state, NOTHING, NOW)
    assert (renewed(state, planned), planned.stamps, planned.due) == ([], {}, None)


def test_a_whole_replica_is_made_anew_by_its_base_gang_and_says_when() -> None:
    state = a_state(gang=BASE)
    planned = plan(state, Decision(whole=WHOLE), NOW)
    assert renewed(state, planned) == list(state.expected)
    assert planned.stamps == {EVERY_CLIQUE: NOW}


def test_one_replica_of_a_group_is_made_anew_alone() -> None:
    state = a_state(gang=BASE)
    planned = plan(state, Decision(units=(UNIT,)), NOW)
    members = ["wl2-0-sg-x-0-pc-b", "wl2-0-sg-x-0-pc-c"]
    assert renewed(state, planned) == members
    assert planned.stamps == dict.fromkeys(members, NOW)


@pytest.mark.parametrize("whole", [True, False], ids=["a whole replica", "one of a group"])
def test_what_falls_was_not_up_since_by_whatever_clock(whole: bool) -> None:
    """The operator before this one had a clock that was five minutes ahead."""
    ahead = ago(-300)
    threat = replace(WHOLE if whole else UNIT, up_since=ahead)
    decision = Decision(whole=threat) if whole else Decision(units=(threat,))
    planned = plan(a_state(gang=BASE), decision, NOW)
    assert set(planned.stamps.values()) == {ahead}
    assert not is_up_since(ahead, ahead)


def test_what_falls_elsewhere_is_none_of_its_business() -> None:
    other = Threat(clique="c", since=ago(20), deadline=ago(10), group="wl2-0-sg-x", index=1)
    state = a_state(gang=BASE)
    assert renewed(state, plan(state, Decision(units=(other,)), NOW)) == []
    scaled = a_state(place=SCALED, gang=a_gang(a_state(place=SCALED)), base=BASE)
    assert renewed(scaled, plan(scaled, Decision(whole=WHOLE), NOW)) == []


@pytest.mark.parametrize(
    ("own", "follows"),
    [
        pytest.param({}, True, id="it never followed"),
        pytest.param({"all": "2026-01-01T00:00:09Z"}, True, id="it followed an earlier one"),
        pytest.param({"all": "2026-01-01T00:00:10Z"}, False, id="it has followed"),
        pytest.param({"wl2-0-sg-x-1-pc-b": "2026-01-01T00:00:20Z"}, True, id="only a part of it"),
    ],
)
def test_a_scaled_gang_follows_its_base_gang_once(own: dict[str, str], follows: bool) -> None:
    base = stamped(BASE, all="2026-01-01T00:00:10Z")
    gang = stamped(a_gang(a_state(place=SCALED)), **own)
    state = a_state(place=SCALED, gang=gang, base=base)
    planned = plan(state, NOTHING, NOW)
    assert renewed(state, planned) == (list(state.expected) if follows else [])
    assert planned.stamps[EVERY_CLIQUE] == stamps(base)[EVERY_CLIQUE]


def test_a_gang_that_is_only_being_made_has_followed() -> None:
    base = stamped(BASE, all="2026-01-01T00:00:10Z")
    planned = plan(a_state(place=SCALED, base=base), NOTHING, NOW)
    assert planned.stamps == stamps(base)


def test_a_gang_that_is_made_again_has_the_stamps_it_had() -> None:
    state = replace(a_state(), stamps={EVERY_CLIQUE: ago(60)})
    assert plan(state, NOTHING, NOW).stamps == {EVERY_CLIQUE: ago(60)}


def test_stamps_of_cliques_that_are_in_it_no_more_are_dropped() -> None:
    gang = stamped(BASE, **{"wl2-0-pc-a": "2026-01-01T00:00:10Z", "gone": "2026-01-01T00:00:10Z"})
    planned = plan(a_state(gang=gang), NOTHING, NOW)
    assert list(planned.stamps) == ["wl2-0-pc-a"]
