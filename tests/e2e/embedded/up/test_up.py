# SPDX-License-Identifier: Apache-2.0
"""`trellis up`: from one command to a cluster that kubectl works with, and back to nothing."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import stat
from typing import TYPE_CHECKING

import pytest

from tests.support.ups import TRELLIS, UP, Home, until_gone, up
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BARE = ("--no-operator", "--no-example", "--nodes", "0")
EVERYWHERE = "0.0.0.0"  # noqa: S104  to see it refused


async def test_a_newcomer_gets_nodes_an_operator_and_an_example_at_work(home: Home) -> None:
    async with up(home) as cluster:
        await cluster.until_said(UP)
        said = cluster.said()
        assert f"export KUBECONFIG={home.kubeconfig()}" in said
        for command in (
            "kubectl get nodes",
            "kubectl get podcliquesets,pods -o wide",
            "trellis down",
        ):
            assert command in said
        nodes = await home.kubectl("get", "nodes", "--no-headers")
        assert [line.split()[1] for line in nodes.splitlines()] == ["Ready"] * 4
        of_set = ("-l", "app.kubernetes.io/part-of=train")
        pods = json.loads(await home.kubectl("get", "pods", *of_set, "-o", "json"))
        assert [pod["status"]["phase"] for pod in pods["items"]] == ["Running"] * 4
        await home.kubectl("wait", "--for=condition=Ready", "clustertopology/grove-topology")
        refused = (home.state / "default" / "operator.log").read_text()
        assert " 403 " not in refused, "a right is missing"
        (child,) = cluster.children()
        cluster.process.send_signal(signal.SIGINT)
        assert await cluster.process.wait() == 0
    await until_gone(child)
    assert not (home.state / "default").exists()
    assert not (home.folder / ".kube" / "config").exists()


async def test_what_it_writes_is_for_its_owner_only(home: Home) -> None:
    data = home.folder / "data"
    async with up(home, *BARE, "--data", data) as cluster:
        await cluster.until_said(UP)
        kubeconfig = home.kubeconfig()
        assert stat.S_IMODE(kubeconfig.stat().st_mode) == 0o600
        assert stat.S_IMODE(kubeconfig.parent.stat().st_mode) == 0o700
        assert (kubeconfig.parent / "pid").read_text() == f"{cluster.process.pid}\n"
        private = [data / "journal", *(data / "keys").iterdir()]
        assert {stat.S_IMODE(file.stat().st_mode) for file in private} == {0o600}
        assert stat.S_IMODE((data / "keys").stat().st_mode) == 0o700


async def test_a_second_up_shows_the_one_that_runs_and_is_no_failure(home: Home) -> None:
    async with up(home, *BARE) as cluster:

        async def claimed() -> bool:
            return (home.state / "default" / "pid").exists()

        await eventually(claimed, "the name to be taken")
        second = await home.trellis("up", *BARE)
        assert second.code == 0
        await cluster.until_said(UP)
        said = f"running already: default, {cluster.server}, process {cluster.process.pid}"
        assert said in second.output
        assert f"export KUBECONFIG={home.kubeconfig()}" in second.output
        assert "it goes on as it was started" in second.errors
        async with up(home, *BARE, "--name", "other") as another:
            await another.until_said(UP)
            assert another.server != cluster.server


async def test_children_end_and_the_name_is_free_when_it_is_killed(home: Home) -> None:
    async with up(home, "--no-example") as cluster:
        await cluster.until_said(UP)
        children = cluster.children()
        assert len(children) == 1
        cluster.process.kill()
        await cluster.process.wait()
    await until_gone(*children)
    async with up(home, *BARE) as cluster:
        await cluster.until_said(UP)


async def test_a_signal_during_the_start_leaves_nothing_behind(home: Home) -> None:
    async with up(home) as cluster:

        async def begun() -> bool:
            return (home.state / "default" / "log").exists()

        await eventually(begun, "the start")
        cluster.process.send_signal(signal.SIGTERM)
        assert await cluster.process.wait() in {0, -signal.SIGTERM}
    assert UP not in cluster.said()
    assert not home.kubeconfig().exists()


async def test_a_second_signal_ends_it_at_once(home: Home) -> None:
    async with up(home, "--no-example") as cluster:
        await cluster.until_said(UP)
        (child,) = cluster.children()
        # The first one waits for the operator, which is made to keep it waiting.
        os.kill(child, signal.SIGSTOP)
        cluster.process.send_signal(signal.SIGINT)
        await cluster.until_said("stopping")
        cluster.process.send_signal(signal.SIGINT)
        assert await cluster.process.wait() == 128 + signal.SIGINT
        os.kill(child, signal.SIGCONT)
    await until_gone(child)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
async def test_it_stops_in_order_when_nobody_listens_to_it_any_more(
    home: Home, number: signal.Signals
) -> None:
    reading, writing = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *(TRELLIS, "up", *BARE), env=home.environment, stdout=writing, stderr=writing
    )
    os.close(writing)

    async def there() -> bool:
        return (home.state / "default" / "about.json").exists()

    try:
        await eventually(there, "the cluster", patience=60)
        os.close(reading)
        process.send_signal(number)
        # 120 is Python's own word for it that its last words could not be written.
        assert await process.wait() in {0, 120}
    finally:
        if process.returncode is None:
            process.kill()
    assert not (home.state / "default").exists()


async def test_it_ends_and_says_so_when_the_operator_dies(home: Home) -> None:
    async with up(home, "--no-example") as cluster:
        await cluster.until_said(UP)
        (child,) = cluster.children()
        os.kill(child, signal.SIGKILL)
        assert await cluster.process.wait() == 1
    assert "trellis: the operator was killed by signal 9" in cluster.said()
    assert f"logs are in {home.state / 'default'}" in cluster.said()
    assert not home.kubeconfig().exists()


async def test_another_kubeconfig_is_written_once_the_api_answers_and_goes_with_it(
    home: Home,
) -> None:
    kubeconfig = home.folder / "mine"
    async with up(home, *BARE, "--kubeconfig", kubeconfig) as cluster:
        await cluster.until_said(UP)
        assert kubeconfig.exists()
        assert not home.kubeconfig().exists()
        cluster.process.send_signal(signal.SIGTERM)
        assert await cluster.process.wait() == 0
    assert not kubeconfig.exists()


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on, for the length of the test."""
    listening = socket.create_server(("127.0.0.1", 0))
    try:
        yield listening.getsockname()[1]
    finally:
        listening.close()


async def refused(home: Home, *options: str | Path) -> tuple[int, str]:
    """The exit code and what was said last, of an `up` that cannot be."""
    done = await home.trellis("up", *BARE, *options)
    assert done.output == ""
    assert "Traceback" not in done.errors
    *_, last = done.errors.splitlines()
    assert last.startswith("trellis: ")
    return done.code, last


async def test_a_port_that_is_taken_is_named(home: Home, taken: int) -> None:
    code, said = await refused(home, "--port", str(taken))
    assert (code, said) == (
        1,
        f"trellis: port {taken} is in use; stop what listens there, or choose another --port",
    )


async def test_the_port_of_before_that_is_taken_is_named(home: Home, taken: int) -> None:
    data = home.folder / "data"
    (data / "keys").mkdir(parents=True)
    (data / "keys" / "port").write_text(str(taken))
    code, said = await refused(home, "--data", data)
    assert code == 1
    assert f"port {taken}, which the cluster in {data} has, is in use" in said


async def test_a_data_folder_serves_one_cluster_at_a_time(home: Home) -> None:
    data = home.folder / "data"
    async with up(home, *BARE, "--data", data) as cluster:
        await cluster.until_said(UP)
        code, said = await refused(home, "--name", "other", "--data", data)
    assert code == 1
    assert f"{data} is in use by process {cluster.process.pid}: stop it" in said


async def test_a_fleet_that_there_is_not_is_told_with_those_there_are(home: Home) -> None:
    code, said = await refused(home, "--fleet", "tyni")
    assert code == 2
    assert said.startswith("trellis: --fleet tyni: is none of tiny, nvl72, dgx-1k, dgx-10k")
    assert not (home.state / "default").exists()


async def test_other_addresses_than_loopback_need_a_word_more(home: Home) -> None:
    code, said = await refused(home, "--host", EVERYWHERE)
    assert code == 2
    assert f"--host {EVERYWHERE} can be reached from other machines" in said
    assert "--expose" in said
    async with up(home, *BARE, "--host", EVERYWHERE, "--expose") as cluster:
        await cluster.until_said(UP)
        await home.kubectl("get", "namespaces")
