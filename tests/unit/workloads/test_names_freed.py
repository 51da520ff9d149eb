# SPDX-License-Identifier: Apache-2.0
"""Two sets that want the same name: who waits for it has it as soon as it is free."""

from __future__ import annotations

from tests.support.virtual import virtual
from tests.unit.workloads.kubelets import kubelets
from tests.unit.workloads.podgang.test_recycling import EVERYBODY
from tests.unit.workloads.sets import a_clique, a_set_body
from tests.unit.workloads.stage import a_stage
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet

FIRST = a_set_body("a", a_clique("0-b"))
SECOND = a_set_body("a-0", a_clique("b"))
BOTH_WANT = "a-0-0-b"


@virtual
async def test_a_set_has_a_name_at_once_that_another_set_gives_up() -> None:
    stage = await a_stage()
    async with kubelets(stage), stage.collector(), stage.operator(*EVERYBODY):
        await stage.make(PodCliqueSet, FIRST)
        await stage.settle()
        await stage.make(PodCliqueSet, SECOND)
        await stage.settle()
        theirs = await stage.get(PodClique, BOTH_WANT)
        assert theirs["metadata"]["ownerReferences"][0]["name"] == "a"
        assert (await stage.conditions(PodCliqueSet, "a-0"))["Ready"][0] == "False"
        await stage.delete(PodCliqueSet, "a")
        await stage.settle(3)
        ours = await stage.get(PodClique, BOTH_WANT)
        assert ours["metadata"]["ownerReferences"][0]["name"] == "a-0"
        assert (await stage.conditions(PodCliqueSet, "a-0"))["Ready"][0] == "True"
