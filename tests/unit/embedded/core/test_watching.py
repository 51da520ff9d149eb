# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.virtual import virtual
from tests.unit.embedded.core.clusters import config_map, fresh_cluster

if TYPE_CHECKING:
    from trellis.embedded.exchange import Feed

MAPS = "/api/v1/namespaces/default/configmaps"


async def everything(feed: Feed) -> list[dict[str, Any]]:
    text = b"".join([chunk async for chunk in feed])
    return [json.loads(each) for each in text.splitlines()]


def told(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(each["type"], each["object"]["metadata"].get("name", "")) for each in events]


@virtual
async def test_a_watch_ends_when_its_time_is_over_and_says_how_far_it_came() -> None:
    admin = await fresh_cluster()
    await admin.do("POST", MAPS, config_map("a"))
    loop = asyncio.get_running_loop()
    began = loop.time()
    feed = await admin.feed(MAPS, timeoutSeconds="10", allowWatchBookmarks="true")
    events = await everything(feed)
    assert loop.time() - began == pytest.approx(10)
    # One when all that was there has been sent, one shortly before the end.
    assert told(events) == [("ADDED", "a"), ("BOOKMARK", ""), ("BOOKMARK", "")]


@virtual
async def test_a_watch_whose_timer_rings_a_hair_early_ends() -> None:
    """A loop takes timers that are as good as due along when it wakes for another one."""
    admin = await fresh_cluster()
    feed = await admin.feed(MAPS, timeoutSeconds="10")
    other = asyncio.create_task(asyncio.sleep(10 - 5e-10))
    assert await everything(feed) == []
    await other


@virtual
async def test_a_long_watch_gets_a_bookmark_every_minute() -> None:
    admin = await fresh_cluster()
    version = (await admin.do("GET", MAPS))["metadata"]["resourceVersion"]
    feed = await admin.feed(
        MAPS, timeoutSeconds="200", allowWatchBookmarks="true", resourceVersion=version
    )
    assert told(await everything(feed)) == [("BOOKMARK", "")] * 4


@virtual
async def test_no_bookmark_is_newer_than_the_events_that_were_sent_before_it() -> None:
    admin = await fresh_cluster()
    feed = await admin.feed(MAPS, timeoutSeconds="70", allowWatchBookmarks="true")
    reading = asyncio.create_task(everything(feed))
    for number in range(20):
        await admin.do("POST", MAPS, config_map(f"a-{number}"))
        await asyncio.sleep(3.1)
    versions = [int(e["object"]["metadata"]["resourceVersion"]) for e in await reading]
    assert versions == sorted(versions)


@virtual
async def test_a_client_that_leaves_is_forgotten() -> None:
    admin = await fresh_cluster()
    feed = await admin.feed(MAPS)
    shelf = admin.cluster.store.shelf("", "configmaps")
    assert shelf.watchers == 1
    feed.close()
    assert shelf.watchers == 0


@virtual
async def test_a_version_that_is_compacted_away_is_an_event_of_410() -> None:
    admin = await fresh_cluster()
    for number in range(3):
        await admin.do("POST", MAPS, config_map(f"a-{number}"))
    admin.cluster.store.compact(admin.cluster.store.version)
    (event,) = await everything(await admin.feed(MAPS, resourceVersion="1"))
    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
