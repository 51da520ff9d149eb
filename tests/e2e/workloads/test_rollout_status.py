# SPDX-License-Identifier: Apache-2.0
"""`trellis rollout status` beside the operator: it ends when the update does, and not before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.e2e.cli.rollouts import ended, status
from tests.e2e.workloads.builders import READY_DELAY, a_clique, a_group, a_set, on_delete
from tests.e2e.workloads.updating import all_updated, change, is_over, kill
from tests.e2e.workloads.world import SETS

if TYPE_CHECKING:
    from tests.e2e.workloads.world import Json, World

SOON = {READY_DELAY: "0.5"}
NEVER = {READY_DELAY: "1h"}


async def started(world: World, body: Json, pods: int, least: int | None = None) -> None:
    """`least`: how many must be ready when it says that it is over; all, if not said."""
    await world.make(SETS, body)
    code, output, errors = await ended(world, "wl", "--timeout", "60s")
    assert code == 0, errors
    told = rf"wl: all {pods} pods have the current template(?:, (\d+) of them are ready)?\n"
    said = re.fullmatch(told, output)
    assert said, output
    ready = pods if said[1] is None else int(said[1])
    assert ready >= (pods if least is None else least)
    assert len(await world.until_ready(pods)) == pods, "nothing was in the way of the others"


async def annotate(world: World, annotations: Json, clique: int = 0) -> int:
    path = f"/spec/template/cliques/{clique}/annotations"
    patch = [{"op": "add", "path": path, "value": annotations}]
    changed = await world.api.do("PATCH", world.path(SETS, "wl"), patch, patch="json")
    return int(changed["metadata"]["generation"])


async def test_it_follows_an_update_to_its_end(world: World) -> None:
    await started(world, a_set("wl", a_clique("w", 3, annotations=SOON)), 3)
    await world.cordon()
    generation = await change(world, "wl", "w")
    async with status(world, "wl", "--timeout", "60s") as command:
        await command.until_said("1 of 3 pods have the new template; ")
        await world.uncordon()
        code, output = await command.end()
    assert (code, output) == (0, "wl: all 3 pods have the current template\n"), command.errors
    assert is_over(await world.get(SETS, "wl"), generation)
    await all_updated(world, "w")


async def test_with_on_delete_it_says_how_many_and_ends(world: World) -> None:
    # It waits for nobody there: the rest is up to people.
    await started(world, on_delete(a_set("wl", a_clique("w", 3))), 3, least=0)
    pods = await world.pods()
    await change(world, "wl", "w")
    code, output, _ = await ended(world, "wl", "--timeout", "60s")
    first, second = output.splitlines()
    assert code == 0
    assert first == "wl: 0 of 3 pods have the current template; OnDelete leaves the rest"
    assert second.startswith("  wl-0-w: 0 of 3; the others: kubectl ")
    selector = second.rpartition(" -l ")[2].strip("'")
    assert len(await world.all("pods", selector)) == 3
    await kill(world, pods[0])
    _, output, _ = await ended(world, "wl", "--timeout", "60s")
    assert output.startswith("wl: 1 of 3 pods have the current template;")


async def test_a_deadline_of_a_clique_ends_it_and_a_better_template_mends_it(
    world: World,
) -> None:
    body = a_set("wl", a_clique("w", 3, annotations=SOON))
    body["spec"]["template"]["cliques"][0]["rollingUpdate"] = {"progressDeadline": "3s"}
    await started(world, body, 3)
    await annotate(world, NEVER)
    code, output, errors = await ended(world, "wl", "--timeout", "60s")
    assert (code, output) == (1, "")
    assert errors[-1].startswith("trellis: wl: PodClique wl-0-w: ProgressDeadlineExceeded: ")
    await annotate(world, SOON)
    code, output, errors = await ended(world, "wl", "--timeout", "60s")
    assert (code, output) == (0, "wl: all 3 pods have the current template\n"), errors


async def test_so_does_one_of_a_scaling_group(world: World) -> None:
    group = a_group("g", "w", replicas=2, least=1, rollingUpdate={"progressDeadline": "3s"})
    body = a_set("wl", a_clique("w", 2, 2, annotations=SOON), podCliqueScalingGroups=[group])
    await started(world, body, 4, least=2)
    await annotate(world, NEVER)
    code, _, errors = await ended(world, "wl", "--timeout", "60s")
    assert code == 1
    # Of the group, or of its member that is to blame.
    assert re.match("trellis: wl: [A-Za-z]+ wl-0-g[^ ]*: ProgressDeadlineExceeded: ", errors[-1])


async def test_a_change_that_is_taken_back_is_followed_too(world: World) -> None:
    await started(world, a_set("wl", a_clique("w", 3, annotations=SOON)), 3)
    await annotate(world, NEVER)
    async with status(world, "wl", "--timeout", "60s") as command:
        await command.until_said("of 3 pods have the new template")
        await annotate(world, SOON)
        code, output = await command.end()
    assert (code, output) == (0, "wl: all 3 pods have the current template\n"), command.errors
