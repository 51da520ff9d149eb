# SPDX-License-Identifier: Apache-2.0
"""Every kind of fault really strikes, and is survived on its own."""

from __future__ import annotations

import msgspec
import pytest

from tests.sim.faults import TRAITS, Kind
from tests.sim.scenarios import SCENARIOS
from tests.sim.story import Fault, Where
from tests.sim.telling import tell

_STORY = SCENARIOS["a set is scaled out"]
# Where a place of that sort is sure to come, with a request that changes something.
_PLACES = {Where.CALL: 16, Where.EVENT: 24, Where.HOOK: 0, Where.TURN: 300}


@pytest.mark.parametrize("kind", list(Kind), ids=str)
def test_a_fault_strikes_and_is_survived(kind: Kind) -> None:
    trait = TRAITS[kind]
    first = _PLACES[trait.where]
    # A conflict makes no sense for a creation, so several calls in a row have one planned.
    places = range(first, first + (12 if kind is Kind.CONFLICT else 1))
    faults = tuple(Fault(trait.where, at, kind, trait.most) for at in places)
    report = tell(msgspec.structs.replace(_STORY, faults=faults))
    assert report.faults[kind] >= 1
    assert not report.findings


def test_every_kind_has_a_place() -> None:
    assert set(TRAITS) == set(Kind)


def test_faults_end_when_the_deeds_are_done() -> None:
    late = Fault(Where.CALL, 100_000, Kind.CRASH_BEFORE)
    assert not tell(_STORY.with_faults(late)).faults
