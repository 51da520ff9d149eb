# SPDX-License-Identifier: Apache-2.0
"""What watchers allow for: views that are old, and for how long they may be."""

from __future__ import annotations

import pytest

from tests.sim.faults import Kind
from tests.sim.story import Act, Fault, Story, Where
from tests.sim.watching.hearing import Hearing

_NOW = 100.0
_PROMPT = Story(name="prompt", news_delay=0.0)
_RESTARTED = Story(name="restarted", news_delay=0.0, acts=(Act(3, "bounce"),))


def _fault(kind: Kind, amount: float = 0.0, where: Where = Where.CALL) -> Fault:
    return Fault(where, 1, kind, amount)


@pytest.mark.parametrize(
    ("story", "struck", "known"),
    [
        pytest.param(_PROMPT, [], 98, id="with nothing wrong, from two seconds ago"),
        pytest.param(_RESTARTED, [], 95, id="where somebody reads anew, from before that"),
        pytest.param(_PROMPT, [(90, _fault(Kind.STALE, 9))], 89.5, id="from when it went deaf"),
        pytest.param(_PROMPT, [(80, _fault(Kind.STALE, 9))], 98, id="it hears again"),
        pytest.param(_PROMPT, [(60, _fault(Kind.SILENT))], 59.5, id="until silence is found out"),
        pytest.param(
            _PROMPT,
            [(80, _fault(Kind.STALE, 12)), (90, _fault(Kind.STALE, 9))],
            79.5,
            id="deaf again before it could listen",
        ),
        pytest.param(_PROMPT, [(99, _fault(Kind.CRASH))], 96, id="a new process reads what was"),
        pytest.param(
            _PROMPT, [(99, _fault(Kind.HOOK_SLOW, 5, Where.HOOK))], 98, id="reviews are no views"
        ),
    ],
)
def test_what_was_before_that_everybody_knows(
    story: Story, struck: list[tuple[float, Fault]], known: float
) -> None:
    hearing = Hearing(story)
    for at, fault in struck:
        hearing.struck(fault, at)
    assert hearing.known(_NOW) == known
