# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.virtual import run
from tests.unit.embedded.scheduling.stories import ENDINGS, STORIES
from tests.unit.embedded.scheduling.theatre import theatre

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.unit.embedded.scheduling.stage import Stage


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_a_story_ends_as_with_the_real_scheduler(story: Callable[[Stage], Awaitable[Any]]) -> None:
    async def play() -> Any:
        async with theatre() as found:
            return await story(found.stage)

    assert json.loads(json.dumps(run(play()))) == ENDINGS[story.__name__]
