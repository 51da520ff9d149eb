# SPDX-License-Identifier: Apache-2.0
"""`trellis rollout status`, as users call it, on sets whose statuses the test writes itself."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.e2e.cli.rollouts import PATIENCE_SECONDS, command_of, ended, status
from tests.e2e.workloads.builders import a_clique, a_set
from tests.e2e.workloads.estate import define
from tests.e2e.workloads.grounds import own_cluster
from tests.e2e.workloads.world import CLIQUES, SETS, World
from tests.support.namespaces import fresh_namespace
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.cluster import Cluster

Json = dict[str, Any]

NOON, LATER = "2026-11-01T12:00:00Z", "2026-11-01T12:10:00Z"


@pytest.fixture(scope="module")
async def place(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    """A cluster that knows our kinds, and nobody who acts on them."""
    async with own_cluster(request) as found:
        await define(found)
        yield found


@pytest.fixture
async def world(place: Cluster) -> AsyncIterator[World]:
    async with fresh_namespace(place.api) as namespace:
        yield World(cluster=place, namespace=namespace)


def told(kind: str, state: str, generation: int, text: str, reason: str = "Told") -> Json:
    return {
        "type": kind,
        "status": state,
        "observedGeneration": generation,
        "lastTransitionTime": NOON,
        "reason": reason,
        "message": text,
    }


def well(generation: int, **more: Any) -> Json:
    return {
        "observedGeneration": generation,
        "replicas": 1,
        "updatedReplicas": 1,
        "availableReplicas": 1,
        "currentGenerationHash": "new",
        "conditions": [told("Ready", "True", generation, "1 of 1 replicas are available")],
        **more,
    }


async def say(world: World, kind: str, name: str, **status: Any) -> None:
    await world.patch(kind, name, {"status": status}, "status")


async def made(world: World, **spec: Any) -> None:
    """A set with one PodClique of four pods, of which nobody has said anything."""
    body = a_set("train", a_clique("w", 4, 4))
    body["spec"] |= spec
    await world.make(SETS, body)
    clique = a_clique("w", 4, 4)
    await world.make(
        CLIQUES,
        {
            "apiVersion": "grove.io/v1alpha1",
            "kind": "PodClique",
            "metadata": {
                "name": "train-0-w",
                "labels": {
                    "app.kubernetes.io/managed-by": "grove-operator",
                    "app.kubernetes.io/part-of": "train",
                    "grove.io/pod-template-hash": "h2",
                },
            },
            "spec": clique["spec"],
        },
    )


async def counted(world: World, updated: int, **more: Any) -> None:
    counts = {"replicas": 4, "readyReplicas": 4, "updatedReplicas": updated}
    gates = {"scheduleGatedReplicas": 0, "scheduledReplicas": 4}
    reached = {"currentPodCliqueSetGenerationHash": "new"}
    await say(
        world, CLIQUES, "train-0-w", observedGeneration=1, **counts, **gates, **reached, **more
    )


async def test_a_set_that_is_not_there_is_said_in_one_line(world: World) -> None:
    code, output, errors = await ended(world, "train")
    assert (code, output) == (1, "")
    assert errors == [
        f"trellis: there is no PodCliqueSet 'train' in namespace '{world.namespace}';"
        " name another namespace with -n"
    ]


async def test_it_tells_each_change_once_and_ends_when_all_is_done(world: World) -> None:
    await made(world)
    await say(world, SETS, "train", **well(1))
    await world.patch(SETS, "train", {"spec": {"template": {"terminationDelay": "5m"}}})
    async with status(world, "train", "--timeout", "2m") as command:
        await command.until_said("the operator has yet to see generation 2")
        under_way = told("UpdateInProgress", "True", 2, "Replica 0 is being updated")
        ready = told("Ready", "True", 2, "")
        progress = {"updateStartedAt": NOON}
        await say(world, SETS, "train", conditions=[ready, under_way], updateProgress=progress)
        await command.until_said("0 of 4 pods have the new template; Replica 0 is being updated")
        for updated in (1, 3):
            await counted(world, updated)
            await command.until_said(f"{updated} of 4 pods have the new template")
        await counted(world, 4)
        ended_at = progress | {"updateEndedAt": LATER}
        await say(world, SETS, "train", **well(2, updateProgress=ended_at))
        code, output = await command.end()
    assert (code, output) == (0, "train: all 4 pods have the current template\n")
    lines = [line.split("] ", 1)[1] for line in command.errors]
    assert len(lines) == len(set(lines)), lines
    assert "\033" not in "".join(command.errors), "no terminal tricks where there is none"


async def test_on_a_terminal_it_is_one_line(world: World) -> None:
    await made(world)
    ours, theirs = os.openpty()
    process = await asyncio.create_subprocess_exec(
        *command_of(world, "train"),
        env=os.environ | {"KUBECONFIG": str(world.cluster.kubeconfig), "COLUMNS": "40"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    try:
        shown = await asyncio.to_thread(os.read, ours, 200)
        assert shown.startswith(b"\r\033[K[")
        assert len(shown.removeprefix(b"\r\033[K")) == 39, "and it fits"
        await counted(world, 4)
        await say(world, SETS, "train", **well(1))
        output, _ = await process.communicate()
    finally:
        os.close(ours)
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert (process.returncode, output) == (0, b"train: all 4 pods have the current template\n")


async def test_with_on_delete_it_counts_and_ends(world: World) -> None:
    await made(world, updateStrategy={"type": "OnDelete"})
    await counted(world, 1)
    await say(world, SETS, "train", **well(1))
    code, output, errors = await ended(world, "train")
    assert (code, errors) == (0, [])
    chosen = "grove.io/podclique=train-0-w,grove.io/pod-template-hash!=h2"
    assert output.splitlines() == [
        "train: 1 of 4 pods have the current template; OnDelete leaves the rest",
        f"  train-0-w: 1 of 4; the others: kubectl -n {world.namespace} get pods -l '{chosen}'",
    ]


async def test_a_deadline_ends_it(world: World) -> None:
    await made(world)
    await counted(world, 1)
    ready = told("Ready", "False", 1, "waiting for PodClique train-0-w")
    begun = {"currentGenerationHash": "new", "updateProgress": {"updateStartedAt": NOON}}
    await say(world, SETS, "train", conditions=[ready], **begun)
    async with status(world, "train") as command:
        await command.until_said("1 of 4 pods")
        late = told("UpdateInProgress", "True", 1, "Nothing has moved", "ProgressDeadlineExceeded")
        hashes = {"podCliqueSetGenerationHash": "new", "podTemplateHash": "h2"}
        progress = {"updateStartedAt": LATER, **hashes}
        await counted(world, 1, conditions=[late], updateProgress=progress)
        code, output = await command.end()
    assert (code, output) == (1, "")
    said = "PodClique train-0-w: ProgressDeadlineExceeded: Nothing has moved"
    assert command.errors[-1] == f"trellis: train: {said}"


async def test_a_set_that_is_deleted_ends_it(world: World) -> None:
    await made(world)
    async with status(world, "train") as command:
        await command.until_said("the operator has yet to see generation 1")
        await world.delete(SETS, "train")
        code, output = await command.end()
    assert (code, output) == (1, "")
    assert command.errors[-1] == "trellis: train was deleted before it was rolled out"


async def test_so_does_the_time_that_it_is_given(world: World) -> None:
    await made(world)
    code, output, errors = await ended(world, "train", "--timeout", "1s")
    assert (code, output) == (1, "")
    assert errors[-1] == (
        "trellis: train is not rolled out after 1s: the operator has yet to see generation 1"
    )


async def test_so_does_a_user_who_may_not_watch(world: World, tmp_path: Path) -> None:
    await made(world)
    reading = ["role", "reader", "--verb=get,list", "--resource=*.grove.io"]
    binding = ["rolebinding", "reader", "--role=reader", "--user=jane"]
    for created in (reading, binding):
        await world.cluster.kubectl("-n", world.namespace, "create", *created)

    async def may_read() -> bool:
        asked = ["auth", "can-i", "list", "podcliques.grove.io", "--as", "jane"]
        said = await world.cluster.kubectl("-n", world.namespace, *asked, check=False)
        return said.strip() == "yes"

    await eventually(may_read, "jane may read", PATIENCE_SECONDS)
    config = yaml.safe_load(world.cluster.kubeconfig.read_text())
    for entry in config["users"]:
        entry["user"]["as"] = "jane"
    janes = tmp_path / "kubeconfig"
    janes.write_text(yaml.safe_dump(config))
    code, output, errors = await ended(world, "train", "--kubeconfig", str(janes))
    assert (code, output) == (1, "")
    assert 'User "jane" cannot watch resource' in errors[-1]
    assert errors[-1].endswith(".grove.io, or use --watch=false")


async def test_it_need_not_be_waited_for(world: World) -> None:
    await made(world)
    code, output, errors = await ended(world, "train", "--watch=false")
    assert (code, errors) == (0, [])
    assert output == "the operator has yet to see generation 1\n"


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--timeout", "soon", "train"], id="timeout"),
        pytest.param(["--watch=perhaps", "train"], id="watch"),
        pytest.param(["Train"], id="name"),
        pytest.param([], id="no name"),
    ],
)
async def test_what_cannot_be_meant_ends_with_two(world: World, arguments: list[str]) -> None:
    code, output, errors = await ended(world, *arguments)
    assert (code, output) == (2, "")
    assert errors
