# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support import virtual
from tests.support.memory_api import MemoryApi
from tests.support.virtual import VirtualClock, dice
from tests.unit.runtime.builders import BOXES, NAMESPACE, Box, BoxStatus
from trellis.instruments.metrics import Meter
from trellis.kube.client import Client
from trellis.runtime.barrier import Barrier, CacheBehind
from trellis.runtime.cache import Cache
from trellis.runtime.status import add_finalizer, remove_finalizer, write_status
from trellis.runtime.writes import Writes

PATH = f"/apis/toys.dev/v1/namespaces/{NAMESPACE}/boxes"


@dataclass
class Desk:
    """A box in the cluster as a controller read it, and the means to write to it."""

    api: MemoryApi = field(default_factory=MemoryApi)
    cache: Cache[Box] = field(default_factory=lambda: Cache(BOXES, Box))
    barrier: Barrier = field(default_factory=Barrier)

    async def open(self, **body: Any) -> Box:
        client = Client(self.api, VirtualClock(), dice(1))
        self.writes = Writes(client, self.barrier, Meter(), lambda: True)
        metadata = {"name": "box", **body.pop("metadata", {})}
        await self.api.do("POST", PATH, {"metadata": metadata, **body})
        self.boxes = client.of(BOXES, Box, NAMESPACE)
        return await self.boxes.get("box")

    def sent(self) -> Any:
        return json.loads(self.api.requests[-1].body or b"{}")


@virtual.virtual
async def test_a_status_that_does_not_differ_is_not_written() -> None:
    desk = Desk()
    box = await desk.open(status={"balls": 2, "words": ["a"]})
    await write_status(desk.writes, desk.cache, box, BoxStatus(balls=2, words=("a",)))
    assert desk.api.writes == []


@virtual.virtual
async def test_one_write_says_how_it_is_and_guards_uid_and_version() -> None:
    desk = Desk()
    box = await desk.open(status={"balls": 2, "note": "old", "words": ["a"]})
    await write_status(desk.writes, desk.cache, box, BoxStatus(balls=3, words=("a",)))
    assert desk.api.writes == ["PATCH box/status"]
    assert desk.sent() == {
        "metadata": {"uid": box.metadata.uid, "resourceVersion": box.metadata.resource_version},
        "status": {"balls": 3, "words": ["a"], "note": None},
    }


@virtual.virtual
async def test_what_others_keep_in_the_status_survives() -> None:
    desk = Desk()
    box = await desk.open(status={"balls": 1, "theirs": {"x": 1}})
    await write_status(desk.writes, desk.cache, box, BoxStatus(balls=2))
    assert desk.api.all("boxes")[0]["status"] == {"balls": 2, "theirs": {"x": 1}}


@virtual.virtual
async def test_an_object_that_moved_on_ends_the_run_until_the_cache_has_it() -> None:
    desk = Desk()
    box = await desk.open()
    moved = await desk.api.do("PATCH", f"{PATH}/box", {"spec": {"balls": 5}})
    with pytest.raises(CacheBehind, match="boxes nursery/box has moved on"):
        await write_status(desk.writes, desk.cache, box, BoxStatus(balls=2))
    assert not desk.barrier.is_open(box.metadata.uid)
    desk.cache.resource_version = int(moved["metadata"]["resourceVersion"])
    assert desk.barrier.is_open(box.metadata.uid)


@pytest.mark.parametrize("anew", [False, True])
def test_a_status_is_never_written_to_a_later_object_of_the_name(anew: bool) -> None:
    async def story() -> None:
        desk = Desk()
        box = await desk.open()
        await desk.api.do("DELETE", f"{PATH}/box")
        if anew:
            await desk.api.do("POST", PATH, {"metadata": {"name": "box"}})
        with pytest.raises(CacheBehind):
            await write_status(desk.writes, desk.cache, box, BoxStatus(balls=2))
        assert [each.get("status") for each in desk.api.all("boxes")] == [None] * anew

    virtual.run(story())


@virtual.virtual
async def test_a_finalizer_is_added_beside_others_and_once() -> None:
    desk = Desk()
    box = await desk.open(metadata={"finalizers": ["theirs"]})
    held = await add_finalizer(desk.writes, desk.cache, box, "ours")
    assert held.metadata.finalizers == ("theirs", "ours")
    assert held.metadata.resource_version != box.metadata.resource_version
    assert await add_finalizer(desk.writes, desk.cache, held, "ours") is held
    await write_status(desk.writes, desk.cache, held, BoxStatus(balls=1))
    assert desk.api.writes == ["PATCH box", "PATCH box/status"]


@virtual.virtual
async def test_an_object_that_is_going_is_given_no_finalizer() -> None:
    desk = Desk()
    await desk.open(metadata={"finalizers": ["theirs"]})
    await desk.api.do("DELETE", f"{PATH}/box")
    going = await desk.boxes.get("box")
    assert await add_finalizer(desk.writes, desk.cache, going, "ours") is going


@virtual.virtual
async def test_the_last_finalizer_to_go_takes_the_object_with_it() -> None:
    desk = Desk()
    await desk.open(metadata={"finalizers": ["theirs", "ours"]})
    await desk.api.do("DELETE", f"{PATH}/box")
    going = await desk.boxes.get("box")
    freed = await remove_finalizer(desk.writes, desk.cache, going, "ours")
    assert freed.metadata.finalizers == ("theirs",)
    assert await remove_finalizer(desk.writes, desk.cache, freed, "ours") is freed
    await remove_finalizer(desk.writes, desk.cache, freed, "theirs")
    assert desk.api.all("boxes") == []


@virtual.virtual
async def test_a_finalizer_of_somebody_faster_is_not_lost() -> None:
    desk = Desk()
    box = await desk.open(metadata={"finalizers": ["ours"]})
    faster = {"metadata": {"finalizers": ["ours", "theirs"]}}
    await desk.api.do("PATCH", f"{PATH}/box", faster)
    with pytest.raises(CacheBehind):
        await remove_finalizer(desk.writes, desk.cache, box, "ours")
    assert desk.api.all("boxes")[0]["metadata"]["finalizers"] == ["ours", "theirs"]


def test_a_struct_without_a_status_yet_is_written_whole() -> None:
    async def story() -> None:
        desk = Desk()
        box = await desk.open()
        await write_status(desk.writes, desk.cache, _Bare(box.metadata), BoxStatus(balls=1))
        assert desk.sent()["status"] == {"balls": 1}

    virtual.run(story())


@dataclass(frozen=True)
class _Bare:
    metadata: Any
    status: None = None
