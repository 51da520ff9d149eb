# SPDX-License-Identifier: Apache-2.0
"""A namespace that is being deleted: nobody tries to put back what goes with it."""

from __future__ import annotations

from tests.support.virtual import virtual
from tests.unit.workloads.podgang.test_recycling import Play, a_play
from tests.unit.workloads.refusals import allowing, going
from tests.unit.workloads.sets import a_clique, a_group, a_set_body
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.runtime.going import GOING_SECONDS

BODY = a_set_body(
    "wl",
    a_clique("a", 20),
    a_clique("b", 5),
    a_clique("c", 5),
    groups=(a_group("x", "b", "c", replicas=3),),
    replicas=2,
)
PODS = 2 * (20 + 3 * (5 + 5))
# As many as find out at the same moment, and one more now and then.
FEW = 24


@virtual
async def test_nothing_is_tried_again_and_again_in_a_namespace_that_is_going() -> None:
    async with a_play(BODY) as play:
        assert len(await play.pods("wl-")) == PODS
        told = len(await play.stage.events())
        play.stage.watched.before = going
        play.stage.forget()
        for name in await play.pods("wl-"):
            await play.stage.delete(Pod, name)
        await play.stage.settle(GOING_SECONDS - 1)
        refused = [one for one in play.stage.watched.requests if one.method == "POST"]
        assert 0 < len(refused) <= FEW
        play.stage.watched.before = allowing
        assert len(await play.stage.events()) == told
        stalled = await play.stage.conditions(PodClique, "wl-0-a")
        assert stalled["Stalled"][0] == "False"


async def lose_all_while_it_goes(play: Play) -> None:
    """All its pods are deleted, none can be made for a moment, and then the namespace stays."""
    play.stage.watched.before = going
    for name in await play.pods("wl-"):
        await play.stage.delete(Pod, name)
    await play.stage.settle(5)
    play.stage.watched.before = allowing


@virtual
async def test_what_is_kept_after_all_is_put_back_after_a_while() -> None:
    async with a_play(BODY) as play:
        await lose_all_while_it_goes(play)
        await play.stage.settle(GOING_SECONDS + 5)
        assert len(await play.pods("wl-")) == PODS


@virtual
async def test_a_namespace_that_is_made_again_is_not_held_to_account_for_the_old_one() -> None:
    async with a_play(BODY) as play:
        await lose_all_while_it_goes(play)
        await play.stage.make(PodCliqueSet, a_set_body("new", a_clique("a", 3)))
        await play.stage.settle(2)
        assert len(await play.pods("new-0-")) == 3
