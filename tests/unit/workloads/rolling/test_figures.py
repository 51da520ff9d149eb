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
async def test_a_pod_of_one_clique_costs_four_writes_and_what_is_told_of_steps() -> None:
    pods = 30
    async with a_show(a_set_body("llm", a_clique("a", pods))) as show:
        await show.edit("a")
        await show.until_ended(900)
        found = kinds(show)
    told = {kind: found.pop(kind) for kind in list(found) if kind.endswith("/status")}
    expected = ("PATCH podgangs", "DELETE pods", "POST pods", "PATCH pods")
    assert found == {**dict.fromkeys(expected, pods), "PATCH podcliques": 1}
    assert max(told.values()) <= pods + 3, "at most once a step"


@virtual
async def test_a_pod_of_a_scaling_group_costs_three_writes_and_little_more() -> None:
    pods, replicas = 60, 3
    body = a_set_body("llm", a_clique("b", 20), groups=(a_group("x", "b", replicas=replicas),))
    async with a_show(body) as show:
        await show.edit("b")
        await show.until_ended(900)
        found = kinds(show)
    told = {kind: found.pop(kind) for kind in list(found) if kind.endswith("/status")}
    each = dict.fromkeys(("DELETE pods", "POST pods", "PATCH pods"), pods)
    assert found == {**each, "PATCH podcliques": replicas, "PATCH podgangs": replicas}
    assert max(told.values()) <= 3 * replicas, "of every kind three for each replica at most"
    assert sum(told.values()) <= 9 * replicas, told
