# SPDX-License-Identifier: Apache-2.0
"""Two instances as real processes: one works, the other takes over, and nothing is made twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.runtime.conftest import define, put_box, until_cards
from tests.e2e.runtime.toy import LEASE
from tests.support.api import Api, new_session
from tests.support.cluster import LAB, Cluster
from tests.support.namespaces import fresh_namespace
from tests.support.waiting import eventually
from trellis.lab.build import built
from trellis.lab.cluster import Place, running
from trellis.lab.components import Settings
from trellis.lab.source import source

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True)
class Operator:
    """The toy as a process of its own, with everything it logs in one file."""

    process: asyncio.subprocess.Process
    log: Path

    def said(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    async def until_said(self, event: str) -> None:
        async def heard() -> bool:
            assert self.process.returncode is None, self.log.read_text()
            return any(line["event"] == event for line in self.said())

        await eventually(heard, f"{event!r} from {self.log.name}")


@asynccontextmanager
async def operator(cluster: Cluster, namespace: str, log: Path) -> AsyncIterator[Operator]:
    with log.open("w") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.e2e.runtime.toy"),
            *(str(cluster.kubeconfig), namespace, log.stem),
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=output,
            stderr=output,
        )
    try:
        yield Operator(process, log)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def holder(api: Api, namespace: str) -> str:
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{LEASE}"
    return str((await api.do("GET", path))["spec"].get("holderIdentity", ""))


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGTERM, id="a leader that is told to stop"),
        pytest.param(signal.SIGKILL, id="a leader that is killed"),
    ],
)
async def test_another_takes_over_from(
    cluster: Cluster, namespace: str, boxes: str, tmp_path: Path, number: signal.Signals
) -> None:
    api = cluster.api
    async with (
        operator(cluster, namespace, tmp_path / "first.log") as first,
        operator_after(first, cluster, namespace, tmp_path / "second.log") as second,
    ):
        await put_box(api, boxes, "before", cards=3)
        await until_cards(api, namespace, "before", 3)
        assert await holder(api, namespace) == "first"

        os.kill(first.process.pid, number)
        told = time.perf_counter()
        code = await first.process.wait()
        ended = time.perf_counter()
        # Made only now: nobody but the second can have seen to it.
        await put_box(api, boxes, "after", cards=3)
        await until_cards(api, namespace, "after", 3)
        done = time.perf_counter()

        assert code == (0 if number == signal.SIGTERM else -signal.SIGKILL)
        assert await holder(api, namespace) == "second"
        print(
            f"{number.name}: ended after {ended - told:.2f} s, handed over in {done - told:.2f} s"
        )
        # The first had let go before the second began: nobody's lease ran while it worked.
        released = [line for line in first.said() if line["event"] == "lease released"]
        assert bool(released) is (number == signal.SIGTERM)
        leading = next(line for line in second.said() if line["event"] == "leading")
        assert all(line["timestamp"] <= leading["timestamp"] for line in released)


@asynccontextmanager
async def operator_after(
    first: Operator, cluster: Cluster, namespace: str, log: Path
) -> AsyncIterator[Operator]:
    """Started when the first leads, and warm before anything else happens."""
    await first.until_said("leading")
    async with operator(cluster, namespace, log) as found:
        await found.until_said("standing by")
        yield found


@dataclass(frozen=True, slots=True)
class Audited:
    cluster: Cluster
    log: Path

    def creations(self, namespace: str) -> list[str]:
        """The names of ConfigMaps that somebody made there, in order, failed attempts left out."""
        return [name for name, code in self._asked(namespace) if code == HTTPStatus.CREATED]

    def unanswered(self, namespace: str) -> set[str]:
        """The names whose maker was gone before the answer: made or not, only the store knows.

        The server notes another code than 201 for them although the write may have been kept.
        """
        known = HTTPStatus.CREATED, HTTPStatus.CONFLICT
        return {name for name, code in self._asked(namespace) if code not in known}

    def _asked(self, namespace: str) -> list[tuple[str, int]]:
        lines = (json.loads(line) for line in self.log.read_text().splitlines())
        return [
            (line["objectRef"]["name"], line["responseStatus"]["code"])
            for line in lines
            if line["verb"] == "create"
            and line["objectRef"].get("resource") == "configmaps"
            and line["objectRef"].get("namespace") == namespace
            and line["userAgent"].startswith("trellis/")
        ]


@pytest.fixture
async def audited(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Audited]:
    """A lab of this test alone that writes down every request."""
    if request.config.getoption("--cluster") != LAB:
        pytest.skip("needs the audit log of a lab")
    binary = built(source(request.config.getoption("--kubernetes")))
    settings = Settings(kubernetes=binary.kubernetes, audit=True)
    place = Place(kubeconfig=tmp_path / "kubeconfig")
    async with running(binary, settings, place) as lab, new_session() as session:
        api = Api(session=session, server=lab.server, tls=lab.tls, token=lab.token)
        cluster = Cluster(
            api=api,
            kubeconfig=lab.kubeconfig,
            kubectl_program=lab.kubectl,
            version=binary.kubernetes,
            lab=lab,
        )
        yield Audited(cluster, lab.audit_log)


async def test_leaders_that_come_and_go_make_nothing_twice(
    audited: Audited, tmp_path: Path
) -> None:
    """Killed in the midst of making cards, again and again, with another waiting each time."""
    api = audited.cluster.api
    await define(api)
    async with fresh_namespace(api) as namespace:
        boxes = f"/apis/toys.trellis.dev/v1/namespaces/{namespace}/boxes"
        for turn in range(4):
            await put_box(api, boxes, f"box{turn}", cards=150)
            async with operator(audited.cluster, namespace, tmp_path / f"op{turn}.log") as found:
                await found.until_said("leading")

                async def begun(name: str = f"box{turn}") -> bool:
                    return any(each.startswith(name) for each in audited.creations(namespace))

                await eventually(begun, "the first cards")
                number = signal.SIGKILL if turn % 2 else signal.SIGTERM
                os.kill(found.process.pid, number)
                await found.process.wait()
        async with operator(audited.cluster, namespace, tmp_path / "last.log"):
            for turn in range(4):
                await until_cards(api, namespace, f"box{turn}", 150)
        made = audited.creations(namespace)
        unanswered = audited.unanswered(namespace)
    assert len(made) == len(set(made))
    assert len(unanswered.union(made)) == 600
