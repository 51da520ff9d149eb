# SPDX-License-Identifier: Apache-2.0
"""Numbers that were stored when nobody was there to refuse them: all controllers, virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.virtual import virtual
from tests.unit.workloads.sets import a_clique, a_group, a_set, a_set_body
from tests.unit.workloads.stage import a_stage
from trellis.api.config.types import Limits
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.grove.scalinggroup import PodCliqueScalingGroup
from trellis.api.grove.template import IN_ORDER
from trellis.api.scheduler.podgang import PodGang
from trellis.workloads.excess import counted, set_excess
from trellis.workloads.podclique.reconciler import controller as podcliques
from trellis.workloads.podcliqueset.reconciler import controllers as sets
from trellis.workloads.podgang.reconciler import controller as podgangs
from trellis.workloads.scalinggroup.reconciler import controller as groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.unit.workloads.stage import Stage
    from trellis.runtime.controller import Controller
    from trellis.workloads.caches import Caches
    from trellis.workloads.means import Means

HUGE = 2**31 - 1
STALLED = ("True", "InvalidSpec")


def all_controllers(means: Means, caches: Caches) -> Sequence[Controller[Any]]:
    makes = (podcliques, podgangs, groups)
    return (*sets(means, caches), *(make(means, caches) for make in makes))


def a_body(count: int = 1, **group: int) -> dict[str, Any]:
    """A leader, and a scaling group whose workers start after it."""
    cliques = (a_clique("leader"), a_clique("worker", 2, 1))
    member = a_group("g", "worker", **{"replicas": 2, **group})
    return a_set_body("llm", *cliques, groups=(member,), replicas=count, startup=IN_ORDER)


async def stalled(stage: Stage, kind: Any, name: str) -> tuple[str, str]:
    return (await stage.conditions(kind, name))["Stalled"]


@virtual
async def test_a_set_with_too_many_replicas_says_so_and_nothing_is_made_of_it() -> None:
    stage = await a_stage()
    async with stage.operator(all_controllers):
        await stage.make(PodCliqueSet, a_body(HUGE))
        await stage.settle()
        assert await stalled(stage, PodCliqueSet, "llm") == STALLED
        said = await stage.message(PodCliqueSet, "llm", "Stalled")
        assert f"spec.replicas is {HUGE}, more than the 1000" in said
        assert "trellis.limits.setReplicas" in said
        for kind in (PodClique, PodCliqueScalingGroup, PodGang):
            assert await stage.names(kind) == []

        await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": 1}})
        await stage.settle()
        assert len(await stage.names(PodClique)) == 3
        assert (await stage.conditions(PodCliqueSet, "llm")).get("Stalled", STALLED) != STALLED


@virtual
async def test_a_set_that_runs_keeps_what_it_has_when_it_asks_for_too_many() -> None:
    stage = await a_stage()
    async with stage.operator(all_controllers):
        await stage.make(PodCliqueSet, a_body(2))
        await stage.settle()
        before = await stage.names(Pod), await stage.names(PodClique)
        await stage.patch(PodCliqueSet, "llm", {"spec": {"replicas": HUGE}})
        await stage.settle()
        assert await stalled(stage, PodCliqueSet, "llm") == STALLED
        assert (await stage.names(Pod), await stage.names(PodClique)) == before


@pytest.mark.parametrize(
    ("group", "field"),
    [
        pytest.param({"replicas": HUGE}, "replicas", id="replicas"),
        pytest.param({"least": HUGE}, "minAvailable", id="minAvailable"),
    ],
)
@virtual
async def test_nothing_is_made_of_a_set_whose_template_has_numbers_without_end(
    group: dict[str, int], field: str
) -> None:
    stage = await a_stage()
    async with stage.operator(all_controllers):
        await stage.make(PodCliqueSet, a_body(**group))
        await stage.settle()
        assert await stalled(stage, PodCliqueSet, "llm") == STALLED
        said = await stage.message(PodCliqueSet, "llm", "Stalled")
        assert f"podCliqueScalingGroups[0].{field} is {HUGE}, more than the 2000" in said
        assert await stage.names(PodCliqueScalingGroup) == []


@virtual
async def test_a_group_with_too_many_replicas_holds_up_nobody_else() -> None:
    stage = await a_stage()
    async with stage.operator(all_controllers):
        await stage.make(PodCliqueSet, a_body())
        await stage.settle()
        before = await stage.names(Pod), await stage.names(PodGang)
        await stage.patch(PodCliqueScalingGroup, "llm-0-g", {"spec": {"replicas": HUGE}})
        await stage.settle()
        assert await stalled(stage, PodCliqueScalingGroup, "llm-0-g") == STALLED
        # So that all of the replica is looked at.
        leader = await stage.conditions(PodClique, "llm-0-leader")
        assert leader["MinAvailableBreached"][0] == "True", (
            "so that all of the replica is looked at"
        )
        assert (await stage.names(Pod), await stage.names(PodGang)) == before


@virtual
async def test_a_clique_that_asks_for_too_many_pods_keeps_those_that_it_has() -> None:
    stage = await a_stage()
    async with stage.operator(all_controllers):
        await stage.make(PodCliqueSet, a_body())
        await stage.settle()
        before = await stage.names(Pod)
        await stage.patch(PodClique, "llm-0-leader", {"spec": {"replicas": HUGE}})
        await stage.settle()
        assert await stalled(stage, PodClique, "llm-0-leader") == STALLED
        said = await stage.message(PodClique, "llm-0-leader", "Stalled")
        assert "trellis.limits.cliqueReplicas" in said
        assert await stage.names(Pod) == before

        await stage.patch(PodClique, "llm-0-leader", {"spec": {"replicas": 2}})
        await stage.settle()
        assert len(await stage.names(Pod)) == len(before) + 1


@virtual
async def test_a_clique_that_is_made_with_too_many_pods_gets_none() -> None:
    stage = await a_stage()
    async with stage.operator(all_controllers):
        body = a_set_body("llm", a_clique("worker", HUGE, 1), a_clique("other"))
        await stage.make(PodCliqueSet, body)
        await stage.settle()
        assert await stalled(stage, PodClique, "llm-0-worker") == STALLED
        assert await stalled(stage, PodCliqueSet, "llm") == STALLED
        (pod,) = await stage.names(Pod)
        assert pod.startswith("llm-0-other-0-")


@pytest.mark.parametrize(
    ("asked", "standing", "want"),
    [
        pytest.param(10, 0, 10, id="within the limit"),
        pytest.param(11, 0, 0, id="beyond it"),
        pytest.param(11, 11, 11, id="let in before it was lowered"),
        pytest.param(12, 11, 11, id="more than there are"),
        pytest.param(5, 11, 5, id="scaled in"),
    ],
)
def test_what_is_there_counts_where_more_is_asked_for_than_may_be(
    asked: int, standing: int, want: int
) -> None:
    assert counted(asked, 10, standing) == want


def test_a_set_that_was_let_in_before_its_limit_was_lowered_goes_on() -> None:
    limits = Limits(set_replicas=10, group_replicas=1)
    found = a_set("llm", a_clique("w"), groups=(a_group("g", "w", replicas=5),), replicas=20)
    assert set_excess(found, limits, lambda: 20) is None
    assert set_excess(found, limits, lambda: 19) is not None
