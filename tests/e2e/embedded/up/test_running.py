# SPDX-License-Identifier: Apache-2.0
"""A whole embedded cluster inside this process, as tests and commands use it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from tests.support.api import Request
from tests.support.cluster import Cluster, cluster
from tests.support.waiting import eventually
from trellis.embedded.parts import PartEnded
from trellis.embedded.running import CannotListen, Plan, Running, running
from trellis.embedded.store.problems import DirectoryInUse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ACCOUNT = "/api/v1/namespaces/default/serviceaccounts/default"


@asynccontextmanager
async def seen(found: Running, folder: Path) -> AsyncIterator[Cluster]:
    """From outside, by its kubeconfig."""
    file = folder / "kubeconfig"
    file.write_text(found.kubeconfig())
    async with cluster(str(file)) as outside:
        yield outside


async def test_it_answers_over_tls_and_its_nodes_are_ready(tmp_path: Path) -> None:
    async with running(Plan(fleet="tiny", nodes=2)) as found, seen(found, tmp_path) as outside:
        assert (found.nodes, found.gpus, found.fresh) == (2, 8, True)
        await found.ready()
        nodes = await outside.api.do("GET", "/api/v1/nodes")
        ready = [
            condition["status"]
            for node in nodes["items"]
            for condition in node["status"]["conditions"]
            if condition["type"] == "Ready"
        ]
        assert ready == ["True", "True"]


async def test_a_minted_token_is_of_that_account_and_has_its_rights_alone(tmp_path: Path) -> None:
    async with running(Plan()) as found, seen(found, tmp_path) as outside:

        async def account() -> bool:
            return await outside.api.exists(ACCOUNT)

        await eventually(account, "the default account")
        as_account = outside.api.with_token(found.mint("default", "default"))
        answer = await as_account.send(_get("/api/v1/nodes"))
        assert answer.status == 403
        assert "system:serviceaccount:default:default" in answer.body["message"]
        nobody = outside.api.with_token("wrong")
        assert (await nobody.send(_get("/api"))).status == 401


async def test_several_run_side_by_side_and_know_nothing_of_each_other(tmp_path: Path) -> None:
    async with running(Plan()) as one, running(Plan()) as other, seen(one, tmp_path) as outside:
        assert one.server != other.server
        assert (await outside.api.with_token(other.token).send(_get("/api"))).status == 401


async def test_without_controllers_nothing_is_made_by_itself(tmp_path: Path) -> None:
    plan = Plan(controllers=False, scheduler=False)
    async with running(plan) as found, seen(found, tmp_path) as outside:
        assert not await outside.api.exists(ACCOUNT)


async def test_data_is_there_again_and_for_one_at_a_time(tmp_path: Path) -> None:
    plan = Plan(data=tmp_path / "data", controllers=False, scheduler=False)
    async with running(plan) as found:
        first = found.kubeconfig()
        with pytest.raises(DirectoryInUse):
            await running(plan).__aenter__()
    async with running(plan) as found:
        assert not found.fresh
        assert found.kubeconfig() == first


async def test_a_port_that_is_taken_leaves_nothing_open(tmp_path: Path) -> None:
    async with running(Plan()) as found:
        taken = int(found.server.rpartition(":")[2])
        plan = Plan(port=taken, data=tmp_path / "data")
        with pytest.raises(CannotListen, match=f"port {taken} is in use"):
            await running(plan).__aenter__()
    async with running(plan):
        pass


async def test_a_part_that_dies_is_named() -> None:
    async with running(Plan()) as found:
        found.parts.start("a part of this test", _dying)
        failure = await found.failure()
        assert isinstance(failure, PartEnded)
        assert str(failure) == "a part of this test ended: RuntimeError: gone"


async def _dying(_: object) -> None:
    raise RuntimeError("gone")


def _get(path: str) -> Request:
    return Request(method="GET", path=path)
