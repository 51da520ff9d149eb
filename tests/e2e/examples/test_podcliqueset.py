# SPDX-License-Identifier: Apache-2.0
"""The examples of PodCliqueSets, and the pages that walk through them, on a cluster with GPUs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.e2e.examples.guides import ROOT, commands, typed
from tests.e2e.workloads.world import condition
from tests.support.ups import TRELLIS
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.workloads.world import World

# What a page tells its reader to expect.
SHOWN = {
    "rolling": ("ProgressDeadlineExceeded", "it has failed"),
    "node-failure": ("pretrain: 0 of 8 pods have the current template; OnDelete leaves the rest",),
    "maintenance": (
        "answers: 2 of 8 pods have the current template; OnDelete leaves the rest",
        "answers: all 8 pods have the current template",
        "Warning: ",
    ),
}
PAGES = sorted((ROOT / "docs" / "podcliqueset").glob("*.md"))
EXAMPLES = sorted((ROOT / "examples" / "podcliqueset").glob("*.yaml"))


def test_every_example_has_a_page_that_walks_through_it() -> None:
    assert [page.stem for page in PAGES] == [example.stem for example in EXAMPLES]
    for page in PAGES:
        assert f"examples/podcliqueset/{page.stem}.yaml" in page.read_text()
        assert (
            f"docs/podcliqueset/{page.name}"
            in (ROOT / "examples" / "podcliqueset" / f"{page.stem}.yaml").read_text()
        )


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
async def test_every_command_of_the_page_works_and_shows_something(
    world: World, page: Path
) -> None:
    programs = f"{TRELLIS.parent}:{world.cluster.kubectl_program.parent}"
    environment = os.environ | {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(world.cluster.kubeconfig.parent),
        "KUBECONFIG": str(world.cluster.kubeconfig),
    }
    told = ""
    for command in commands(page):
        answer = await typed(command, environment)
        assert answer, f"{command} says nothing"
        told += answer
    assert all(words in told for words in SHOWN.get(page.stem, ())), told

    async def nothing() -> bool:
        return not await world.ours("pods")

    # A real garbage collector learns of new kinds every half minute.
    await eventually(nothing, "nothing to be left", patience=60)


PODS = {
    "single": 4,
    "disaggregated": 8,
    "multinode": 8,
    "autoscaled": 6,
    "rolling": 9,
    "node-failure": 8,
    "maintenance": 8,
}


@pytest.mark.parametrize("name", PODS)
async def test_the_example_runs(world: World, name: str) -> None:
    body = yaml.safe_load((ROOT / "examples" / "podcliqueset" / f"{name}.yaml").read_text())
    await world.make("podcliquesets", body)
    await world.until_ready(PODS[name])
    gpus = [
        pod["spec"]["nodeName"]
        for pod in await world.pods()
        if pod["spec"]["containers"][0]["resources"].get("limits")
    ]
    assert gpus


async def test_no_worker_of_the_multi_node_example_is_ready_before_its_leader(
    world: World,
) -> None:
    body = yaml.safe_load((ROOT / "examples" / "podcliqueset" / "multinode.yaml").read_text())
    await world.make("podcliquesets", body)
    await world.until_ready(8)
    for instance in ("llm-0-instance-0", "llm-0-instance-1"):
        (leader,) = await world.pods(f"{instance}-leader")
        since = condition(leader, "Ready")["lastTransitionTime"]
        for worker in await world.pods(f"{instance}-worker"):
            assert condition(worker, "Ready")["lastTransitionTime"] >= since
