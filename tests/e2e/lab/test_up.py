# SPDX-License-Identifier: Apache-2.0
"""`trellis up --real` as a user runs it: a process with signals, files and an exit code."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.waiting import eventually
from trellis.lab.components import COMPONENTS, ETCD
from trellis.lab.folders import cache_root

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trellis.lab.build import Binary

UP = "is up after"


@dataclass(frozen=True, slots=True)
class Up:
    """A `trellis up --real` that is running, with everything it prints in one file."""

    process: asyncio.subprocess.Process
    output: Path

    def said(self) -> str:
        return self.output.read_text()

    async def until_said(self, words: str) -> None:
        async def heard() -> bool:
            assert self.process.returncode is None or words in self.said(), self.said()
            return words in self.said()

        await eventually(heard, f"{words!r}")

    def components(self) -> dict[str, int]:
        """The pid of each child, by component."""
        listed = subprocess.run(
            ["pgrep", "-a", "-P", str(self.process.pid)], capture_output=True, text=True, check=True
        )
        words = [line.split() for line in listed.stdout.splitlines()]
        return {line[2]: int(line[0]) for line in words}


@pytest.fixture
def cache(binary: Binary, tmp_path: Path) -> Path:
    """A cache folder of the test's own that borrows the built binary."""
    assert binary.path.is_relative_to(cache_root())
    lab = tmp_path / "trellis" / "lab"
    lab.mkdir(parents=True)
    (lab / "bin").symlink_to(cache_root() / "bin")
    return tmp_path


@asynccontextmanager
async def up(cache: Path, *options: str) -> AsyncIterator[Up]:
    output = cache / "output"
    with output.open("w") as file:
        process = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name("trellis"),
            *("up", "--real", "--no-operator", *options),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env=os.environ | {"XDG_CACHE_HOME": str(cache), "XDG_STATE_HOME": str(cache / "state")},
        )
    try:
        yield Up(process, output)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def run_folders(cache: Path) -> list[str]:
    return [entry.name for entry in (cache / "trellis/lab/run").iterdir() if entry.is_dir()]


def all_gone(pids: dict[str, int]) -> bool:
    return not any(Path(f"/proc/{pid}").exists() for pid in pids.values())


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="Ctrl-C"),
        pytest.param(signal.SIGTERM, id="SIGTERM"),
    ],
)
async def test_a_signal_stops_everything_and_is_no_failure(
    cache: Path, number: signal.Signals
) -> None:
    kubeconfig = cache / "kubeconfig"
    async with up(cache, "--name", "mine", "--kubeconfig", str(kubeconfig)) as lab:
        await lab.until_said(UP)
        assert kubeconfig.exists()
        pids = lab.components()
        assert set(pids) == set(COMPONENTS)
        lab.process.send_signal(number)
        assert await lab.process.wait() == 0
    assert all_gone(pids)
    assert not kubeconfig.exists()
    assert run_folders(cache) == []


async def test_a_signal_during_the_start_leaves_nothing_behind(cache: Path) -> None:
    kubeconfig = cache / "kubeconfig"
    async with up(cache, "--kubeconfig", str(kubeconfig)) as lab:

        async def etcd_was_started() -> bool:
            return any((cache / "trellis/lab/run").glob(f"*/{ETCD}.log"))

        await eventually(etcd_was_started, "etcd to be started")
        lab.process.send_signal(signal.SIGTERM)
        assert await lab.process.wait() == 0
    assert UP not in lab.said()
    assert not kubeconfig.exists(), "it is written only once the API answers"
    assert run_folders(cache) == []


async def test_children_end_when_it_is_killed_and_the_next_start_sweeps_what_it_left(
    cache: Path,
) -> None:
    async with up(cache, "--name", "killed") as lab:
        await lab.until_said(UP)
        pids = lab.components()
        lab.process.kill()
        await lab.process.wait()

    async def gone() -> bool:
        return all_gone(pids)

    await eventually(gone, f"the end of {pids}")
    assert run_folders(cache) == ["killed"]
    async with up(cache, "--name", "next") as lab:
        await lab.until_said(UP)
        assert run_folders(cache) == ["next"]
        lab.process.send_signal(signal.SIGINT)
        assert await lab.process.wait() == 0


async def test_it_ends_and_names_a_component_that_died(cache: Path) -> None:
    async with up(cache) as lab:
        await lab.until_said(UP)
        pids = lab.components()
        os.kill(pids[ETCD], signal.SIGKILL)
        assert await lab.process.wait() == 1
    assert "trellis: etcd was killed by signal 9" in lab.said()
    assert all_gone(pids)


async def test_the_operator_runs_beside_it_and_down_stops_both(cache: Path) -> None:
    async with up(cache, "--operator") as lab:
        await lab.until_said(UP)
        run = cache / "trellis/lab/run/lab"
        assert " 403 " not in (run / "operator.log").read_text(), "a right is missing"
        pids = lab.components()
        assert len(pids) == len(COMPONENTS) + 1
        stopped = await asyncio.create_subprocess_exec(
            *(Path(sys.executable).with_name("trellis"), "down"),
            stdout=asyncio.subprocess.PIPE,
            env=os.environ | {"XDG_STATE_HOME": str(cache / "state")},
        )
        assert (await stopped.communicate())[0] == b"lab is stopped\n"
        assert await lab.process.wait() == 0
    assert all_gone(pids)


async def test_a_kubeconfig_of_somebody_else_is_not_overwritten(cache: Path) -> None:
    kubeconfig = cache / "kubeconfig"
    kubeconfig.write_text("apiVersion: v1\nkind: Config\n")
    async with up(cache, "--kubeconfig", str(kubeconfig)) as lab:
        assert await lab.process.wait() == 2
    assert "was not written by trellis; choose another --kubeconfig" in lab.said()
    assert kubeconfig.read_text() == "apiVersion: v1\nkind: Config\n"
