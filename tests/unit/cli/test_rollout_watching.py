# SPDX-License-Identifier: Apache-2.0
"""Following a rollout without the right to. With it, it is seen in `tests/e2e/cli`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from structlog.testing import capture_logs

from tests.support.memory_api import MemoryApi
from tests.support.transport import failure
from tests.support.virtual import VirtualClock, dice, virtual
from tests.unit.workloads.sets import a_set_body
from trellis.api.meta import Key
from trellis.cli.rollout_watching import NotToBeWatched, Rollout
from trellis.kube.client import Client
from trellis.kube.errors import KubeError, Unreachable
from trellis.kube.status import refused

if TYPE_CHECKING:
    from trellis.kube.transport import Request

SETS = "/apis/grove.io/v1alpha1/namespaces/default/podcliquesets"
KINDS = ["podcliquesets", "podcliques", "podcliquescalinggroups"]


@dataclass
class Guard:
    """Lets everybody get and list, and nobody watch that kind."""

    plural: str

    def __call__(self, request: Request) -> None:
        if ("watch", "true") in request.query and request.path.endswith(f"/{self.plural}"):
            said = f"{self.plural}.grove.io is forbidden: User 'me' cannot watch {self.plural}"
            raise refused(str(request), failure(403, "Forbidden", said))


async def a_rollout(api: MemoryApi) -> Rollout:
    """Of a set that no operator has seen, so that it is not over."""
    await api.do("POST", SETS, a_set_body("llm"))
    client = Client(api, VirtualClock(), dice(1))
    return await Rollout(client=client, key=Key("default", "llm")).seen()


@pytest.mark.parametrize("plural", KINDS)
@virtual
async def test_without_the_right_to_watch_it_ends_at_once_and_says_what_to_do(plural: str) -> None:
    rollout = await a_rollout(MemoryApi(before=Guard(plural)))
    with capture_logs() as logs, pytest.raises(NotToBeWatched) as refusal:
        async with asyncio.timeout(1):
            await rollout.until_over(lambda _: None)
    assert str(refusal.value) == (
        f"GET /apis/grove.io/v1alpha1/namespaces/default/{plural}: 403 {plural}.grove.io is"
        f" forbidden: User 'me' cannot watch {plural}; grant list and watch on"
        f" {plural}.grove.io, or use --watch=false"
    )
    assert isinstance(refusal.value, KubeError), "which commands say in one line, and end with 1"
    assert logs == [], "it is said once"
    assert len(asyncio.all_tasks()) == 1, "nobody goes on watching"


@virtual
async def test_it_ends_too_when_the_right_is_taken_away_on_the_way() -> None:
    api = MemoryApi()
    rollout = await a_rollout(api)
    following = asyncio.create_task(rollout.until_over(lambda _: None))
    await asyncio.sleep(20)
    assert not following.done()
    api.before = Guard("podcliques")
    await asyncio.sleep(60)
    assert isinstance(following.exception(), NotToBeWatched)


@virtual
async def test_a_server_that_is_away_for_a_while_is_sat_out() -> None:
    def down(request: Request) -> None:
        raise Unreachable(f"{request} never arrived")

    api = MemoryApi()
    rollout = await a_rollout(api)
    following = asyncio.create_task(rollout.until_over(lambda _: None))
    await asyncio.sleep(20)
    api.before = down
    await asyncio.sleep(300)
    api.before = lambda _: None
    await api.do("DELETE", f"{SETS}/llm")
    found = await following
    assert found.text == "llm was deleted before it was rolled out"
