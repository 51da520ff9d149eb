# SPDX-License-Identifier: Apache-2.0
"""RollingRecreate of cliques in no scaling group, by all controllers together."""

from __future__ import annotations

from tests.support.virtual import virtual
from tests.unit.workloads.rolling.show import a_show, alone


@virtual
async def test_pods_are_renewed_one_at_a_time() -> None:
    async with a_show(alone(4)) as show:
        before = await show.hashes("llm-0-a")
        await show.edit("a")
        await show.until_ended()
        assert await show.outdated() == []
        assert set(before).isdisjoint(await show.hashes("llm-0-a"))
        assert show.nodes.least == {"llm-0-a": 3}
        assert len(show.nodes.born) == 4
