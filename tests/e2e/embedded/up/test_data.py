# SPDX-License-Identifier: Apache-2.0
"""`trellis up --data`: what was acknowledged is there again, whatever happened between."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.e2e.embedded.up.killing import Ledger, killed_under_load
from tests.e2e.embedded.up.test_up import BARE, refused
from tests.support.ups import UP, Home, up

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 5


@pytest.fixture
def data(home: Home) -> Path:
    return home.folder / "data"


async def test_a_restart_keeps_objects_nodes_port_authority_and_tokens(
    home: Home, data: Path
) -> None:
    options = ("--no-operator", "--data", data)
    async with up(home, *options, "--nodes", "2") as cluster:
        await cluster.until_said(UP)
        kubeconfig = home.kubeconfig().read_text()
        await home.kubectl("create", "configmap", "mine", "--from-literal=a=b")
        token = (await home.kubectl("create", "token", "default")).strip()
        await home.kubectl("delete", "job", "hello-gpus")
        cluster.process.send_signal(signal.SIGINT)
        assert await cluster.process.wait() == 0
    async with up(home, *options) as cluster:
        await cluster.until_said(UP)
        assert home.kubeconfig().read_text() == kubeconfig
        assert (await home.kubectl("get", "cm", "mine", "-o", "jsonpath={.data.a}")) == "b"
        assert len((await home.kubectl("get", "nodes", "-o", "name")).split()) == 2
        assert not await home.kubectl("get", "jobs", "-o", "name"), "what was deleted stays deleted"
        who = ("auth", "whoami", "--token", token, "-o", "jsonpath={.status.userInfo.username}")
        assert await home.kubectl(*who) == "system:serviceaccount:default:default"
        # What is bound after a restart runs: nodes of before have somebody on them.
        await home.kubectl("create", "job", "again", "--image=any", "--", "true")
        await home.kubectl("wait", "--for=condition=Ready", "pod", "-l", "job-name=again")


async def test_nothing_acknowledged_is_lost_when_it_is_killed_under_load(
    home: Home, data: Path
) -> None:
    ledger = Ledger()
    for number in range(KILLS):
        await killed_under_load(home, data, ledger, after=50 + 97 * number)
    assert ledger.acknowledged > KILLS * 50


async def test_a_torn_end_of_the_journal_is_told_and_the_rest_is_there(
    home: Home, data: Path
) -> None:
    async with up(home, *BARE, "--data", data) as cluster:
        await cluster.until_said(UP)
        await home.kubectl("create", "configmap", "mine")
        cluster.process.kill()
        await cluster.process.wait()
    with (data / "journal").open("ab") as journal:
        journal.write(b"\x00\x01torn")
    async with up(home, *BARE, "--data", data) as cluster:
        await cluster.until_said(UP)
        await home.kubectl("get", "configmap", "mine")
    assert "note: the last 6 bytes of" in cluster.said()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"no journal at all, but long enough", "does not begin like", id="foreign"),
        pytest.param(b"", "does not begin like a journal of trellis", id="empty"),
    ],
)
async def test_a_journal_that_cannot_be_read_is_left_alone(
    home: Home, data: Path, content: bytes, said: str
) -> None:
    data.mkdir()
    (data / "journal").write_bytes(content)
    code, last = await refused(home, "--data", data)
    assert code == 1
    assert said in last
    assert (data / "journal").read_bytes() == content


async def test_damaged_keys_are_named_and_left_alone(home: Home, data: Path) -> None:
    (data / "keys").mkdir(parents=True)
    (data / "keys" / "authority.pem").write_text("rubbish")
    code, last = await refused(home, "--data", data)
    assert code == 1
    assert f"the keys in {data / 'keys'} cannot be read" in last


async def test_another_fleet_on_the_same_data_is_refused(home: Home, data: Path) -> None:
    async with up(home, *BARE, "--data", data) as cluster:
        await cluster.until_said(UP)
    code, last = await refused(home, "--data", data, "--fleet", "nvl72")
    assert code == 2
    assert "holds a cluster with --fleet tiny --nodes 0" in last


async def test_with_fsync_it_works_the_same(home: Home, data: Path) -> None:
    ledger = Ledger()
    await killed_under_load(home, data, ledger, 30, "--fsync")
    await killed_under_load(home, data, ledger, 30, "--fsync")
