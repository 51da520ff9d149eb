# SPDX-License-Identifier: Apache-2.0
"""The names in a ledger: what they outlive, and what replaces them."""

from __future__ import annotations

from tests.support.virtual import virtual
from tests.unit.workloads.podgang.troupe import W, a_base, a_gang, a_troupe
from tests.unit.workloads.sets import a_clique, a_set_body
from trellis.api.core.pod import Pod
from trellis.api.grove.podclique import PodClique
from trellis.api.grove.podcliqueset import PodCliqueSet
from trellis.api.scheduler.podgang import PodGang


@virtual
async def test_a_pod_that_leaves_is_replaced_while_it_still_hangs_there() -> None:
    troupe = await a_gang()
    async with troupe.operator():
        names = await troupe.make_pods("one-0")
        await troupe.bind(*names)
        before = (await troupe.listed("one-0"))[W]
        await troupe.stage.delete(Pod, before[1])
        await troupe.stage.settle(0.1)
        after = (await troupe.listed("one-0"))[W]
        assert (after[0], after[2]) == (before[0], before[2])
        assert after[1] != before[1]
        (fresh,) = await troupe.make_pods("one-0")
        await troupe.stage.settle(0.3)
        assert await troupe.gated() == [], "what comes later is let go at once"
        assert fresh == after[1]


@virtual
async def test_a_pod_that_fails_again_and_again_is_replaced_ever_later() -> None:
    troupe = await a_gang(a_set_body("one", a_clique("w", 1)))
    async with troupe.operator():
        (first,) = await troupe.make_pods("one-0")
        await troupe.bind(first)
        await troupe.stage.patch(
            Pod, first, {"metadata": {"annotations": {"trellis.dev/attempt": "2"}}}
        )
        await troupe.stage.end(first)
        await troupe.stage.settle(19)
        assert (await troupe.listed("one-0"))[W] == [first]
        await troupe.stage.settle(2)
        assert (await troupe.listed("one-0"))[W] != [first]


@virtual
async def test_a_pod_that_waits_to_be_replaced_holds_up_nobody_else() -> None:
    troupe = await a_gang(a_set_body("one", a_clique("w", 2), a_clique("bad", 1)))
    async with troupe.operator():
        names = await troupe.make_pods("one-0")
        await troupe.bind(*names)
        (bad,) = (await troupe.listed("one-0"))["one-0-bad"]
        patch = {"metadata": {"annotations": {"trellis.dev/attempt": "5"}}}
        await troupe.stage.patch(Pod, bad, patch)
        await troupe.stage.end(bad)
        await troupe.stage.patch(PodClique, W, {"spec": {"replicas": 3}})
        await troupe.stage.settle(1)
        (fresh,) = await troupe.make_pods("one-0")
        await troupe.stage.settle(1)
        assert (await troupe.listed("one-0"))["one-0-bad"] == [bad]
        assert await troupe.gated() == [], f"{fresh} is let go"


@virtual
async def test_a_gang_that_somebody_deletes_comes_back_with_the_pods_that_live() -> None:
    troupe = await a_gang()
    async with troupe.operator():
        names = await troupe.make_pods("one-0")
        await troupe.bind(*names)
        before = await troupe.listed("one-0")
        await troupe.stage.delete(PodGang, "one-0")
        await troupe.stage.settle(0.5)
        assert await troupe.listed("one-0") == before


@virtual
async def test_a_podclique_that_is_being_put_back_keeps_its_names_in_the_gang() -> None:
    troupe = await a_troupe()
    async with troupe.operator():
        await a_base(troupe)
        before = await troupe.listed("wl2-0")
        await troupe.stage.delete(PodClique, "wl2-0-pc-a")
        await troupe.stage.settle()
        assert await troupe.listed("wl2-0") == before
        await troupe.make_alone()
        await troupe.stage.settle()
        assert await troupe.listed("wl2-0") == before


@virtual
async def test_pods_of_a_podclique_that_was_there_before_hold_their_names_until_they_leave() -> (
    None
):
    troupe = await a_gang()
    async with troupe.operator():
        names = await troupe.make_pods("one-0")
        await troupe.bind(*names)
        before = await troupe.listed("one-0")
        await troupe.stage.delete(PodClique, W)
        await troupe.make_alone()
        await troupe.stage.settle()
        assert await troupe.listed("one-0") == before
        for name in names:
            # As the collector of the cluster does; something holds them up.
            await troupe.stage.delete(Pod, name)
        await troupe.stage.settle()
        after = await troupe.listed("one-0")
        assert len(after[W]) == 3
        assert not set(after[W]) & set(before[W])


@virtual
async def test_a_gang_that_somebody_deletes_comes_back_with_the_names_of_pods_yet_to_be_made() -> (
    None
):
    troupe = await a_gang()
    async with troupe.operator():
        (first, *_) = await troupe.make_pods("one-0")
        # Its second name: the first would be decided on again by anybody.
        await troupe.stage.delete(Pod, first)
        await troupe.stage.settle(0.5)
        before = await troupe.listed("one-0")
        assert first not in before[W]
        await troupe.stage.delete(PodGang, "one-0")
        await troupe.stage.settle(0.5)
        assert await troupe.listed("one-0") == before


@virtual
async def test_names_of_a_gang_of_a_former_set_are_forgotten() -> None:
    troupe = await a_gang()
    async with troupe.operator():
        before = await troupe.listed("one-0")
        await troupe.stage.delete(PodCliqueSet, "one")
        await troupe.stage.delete(PodClique, W)
        await troupe.stage.delete(PodGang, "one-0")
        await troupe.stage.settle(0.5)
        await troupe.begin()
        await troupe.make_alone()
        await troupe.stage.settle(0.5)
        after = await troupe.listed("one-0")
        assert len(after[W]) == 3
        assert not set(after[W]) & set(before[W])
