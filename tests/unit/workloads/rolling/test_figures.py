# SPDX-License-Identifier: Apache-2.0
"""What an update costs the API server: operator writes a pod, and how often a status is told."""

from __future__ import annotations

from collections import Counter

from tests.support.virtual import virtual
from tests.unit.workloads.rolling.show import Show, a_show
from tests.unit.workloads.sets import a_clique, a_group, a_set_body


def kinds(show: Show) -> Counter[str]:
    """Writes by verb and kind, those of statuses apart."""
    found: Counter[str] = Counter()
    for write in show.stage.writes():
        verb, _, path = write.partition(" ")
        parts = path.partition("?")[0].split("/")
        found[f"{verb} {parts[0]}{'/status' if parts[-1] == 'status' else ''}"] += 1
    return found


@virtual
async def test_a_pod_of_one_clique_costs_at_most_four_and_a_half_writes() -> None:
    pods = 30
    async with a_show(a_set_body("llm", a_clique("a", pods))) as show:
        await show.edit("a")
        await show.until_ended(900)
        found = kinds(show)
        assert found.total() <= 4.5 * pods, found
        assert found["PATCH pods"] == 0, "in a gang that runs they are born without our gate"


@virtual
async def test_a_pod_of_a_scaling_group_costs_at_most_so_many_writes() -> None:
    pods = 60
    body = a_set_body("llm", a_clique("b", 20), groups=(a_group("x", "b", replicas=3),))
    async with a_show(body) as show:
        await show.edit("b")
        await show.until_ended(900)
        found = kinds(show)
        assert found.total() <= 3.5 * pods, found
        assert found["PATCH podgangs"] == 3, "one for each replica"
