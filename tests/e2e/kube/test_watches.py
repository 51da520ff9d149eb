# SPDX-License-Identifier: Apache-2.0
"""Watches outlive whatever ends their streams, and lose nothing."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.kube.conftest import client_by
from tests.e2e.kube.kinds import CONFIG_MAPS, ConfigMap, Seen, a_config_map
from tests.support.loopback import CHUNKED, Heard, an_access, chunk, http, loopback, networked
from tests.support.namespaces import fresh_namespace
from tests.support.waiting import eventually
from trellis.kube import errors, watch
from trellis.kube.errors import KubeError
from trellis.kube.events import Delta, Snapshot
from trellis.kube.verbs import EVERYTHING, Selection, merge_patch
from trellis.lab.components import API_SERVER, ETCD

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.cluster import Cluster
    from trellis.kube.client import Client
    from trellis.kube.collection import Collection

OURS = Selection(labels="ours")
LABELS = {"ours": "yes"}


@asynccontextmanager
async def followed(maps: Collection[ConfigMap], troubles: list[KubeError]) -> AsyncIterator[Seen]:
    """What a reader of a watch knows, kept up to date in the background."""
    seen = Seen()
    async with maps.watch(OURS, on_trouble=troubles.append) as watching:
        reading = asyncio.create_task(seen.follow(watching))
        try:
            yield seen
        finally:
            reading.cancel()
            await asyncio.wait({reading})


async def agree(maps: Collection[ConfigMap], seen: Seen) -> None:
    async def same() -> bool:
        truth = {each.metadata.name: each.data for each in (await maps.list(OURS)).objects}
        return bool(truth) and seen.state == truth

    await eventually(same, "the watch to show what the server has")


async def churn(maps: Collection[ConfigMap], rounds: int) -> None:
    """Objects come, change and go."""
    for number in range(rounds):
        await maps.create(a_config_map(f"m{number}", LABELS, value="0"))
        await maps.patch(f"m{number}", merge_patch({"data": {"value": str(number)}}))
        if number % 3 == 2:
            await maps.delete(f"m{number}")
            await maps.create(a_config_map(f"m{number}", LABELS, value="again"))
        if number % 5 == 4:
            await maps.delete(f"m{number}")
            await maps.create(a_config_map(f"n{number}", LABELS, value="0"))


async def test_a_watch_survives_being_closed_again_and_again(
    client: Client, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "LIFETIME", (1.0, 1.0))
    maps = client.of(CONFIG_MAPS, ConfigMap, namespace)
    troubles: list[KubeError] = []
    async with followed(maps, troubles) as seen:
        for turn in range(3):
            await churn(maps, 20)
            await asyncio.gather(*(maps.delete(name) for name in await _names(maps)))
            await maps.create(a_config_map(f"turn{turn}", LABELS))
            await agree(maps, seen)
        assert seen.snapshots == 1
    assert troubles == []


async def _names(maps: Collection[ConfigMap]) -> list[str]:
    return [each.metadata.name for each in (await maps.list(OURS)).objects]


async def test_a_list_is_read_where_initial_events_are_not_to_be_had(
    client: Client, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without this parameter the server answers 422, as one that does not serve them.
    monkeypatch.setattr(watch, "_NOT_OLDER", ("resourceVersionMatch", "Exact"))
    maps = client.of(CONFIG_MAPS, ConfigMap, namespace)
    await maps.create(a_config_map("before", LABELS))
    async with maps.watch(OURS) as watching:
        first = await anext(watching)
        assert isinstance(first, Snapshot)
        assert [each.metadata.name for each in first.objects] == ["before"]
        await maps.create(a_config_map("after", LABELS))
        assert await _next_change(watching) == ["after"]


async def _next_change(watching: watch.Watch[ConfigMap]) -> list[str]:
    async for update in watching:
        if isinstance(update, Delta) and update.changes:
            return [change.name for change in update.changes]
    raise AssertionError


async def test_a_large_object_passes(client: Client, namespace: str) -> None:
    maps = client.of(CONFIG_MAPS, ConfigMap, namespace)
    async with maps.watch(OURS) as watching:
        await anext(watching)
        await maps.create(a_config_map("big", LABELS, value="x" * 900_000))
        assert await _next_change(watching) == ["big"]


@pytest.mark.parametrize("component", [API_SERVER, ETCD])
async def test_a_watch_survives_the_restart_of(own_cluster: Cluster, component: str) -> None:
    lab = own_cluster.lab
    assert lab
    troubles: list[KubeError] = []
    async with (
        fresh_namespace(own_cluster.api) as namespace,
        client_by(own_cluster.kubeconfig) as client,
    ):
        maps = client.of(CONFIG_MAPS, ConfigMap, namespace)
        await maps.create(a_config_map("before", LABELS))
        async with followed(maps, troubles) as seen:
            await agree(maps, seen)
            await lab.restart(component)
            await eventually(lambda: _created(maps, "after"), "a write after the restart")
            await agree(maps, seen)
            await churn(maps, 10)
            await agree(maps, seen)
    assert component == ETCD or troubles


async def test_history_that_a_restarted_server_has_forgotten_is_answered_with_everything(
    own_cluster: Cluster,
) -> None:
    lab = own_cluster.lab
    assert lab
    troubles: list[KubeError] = []
    async with (
        fresh_namespace(own_cluster.api) as namespace,
        client_by(own_cluster.kubeconfig) as client,
    ):
        maps = client.of(CONFIG_MAPS, ConfigMap, namespace)
        await maps.create(a_config_map("a", LABELS))
        await lab.restart(API_SERVER)
        async with maps.watch(OURS, resource_version="1", on_trouble=troubles.append) as watching:
            update = await anext(watching)
    assert isinstance(update, Snapshot)
    assert [each.metadata.name for each in update.objects] == ["a"]
    assert {type(trouble) for trouble in troubles} == {errors.Expired}


async def _created(maps: Collection[ConfigMap], name: str) -> bool:
    try:
        await maps.create(a_config_map(name, LABELS))
    except errors.AlreadyExists:
        return True
    except KubeError:
        return False
    return True


# Of servers on loopback: what a real one does only on bad days.


def stored(name: str, version: int) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "here", "resourceVersion": str(version)}
    return {"metadata": metadata, "data": {}}


def line(kind: str, body: dict[str, Any]) -> bytes:
    return json.dumps({"type": kind, "object": body}).encode() + b"\n"


LIST = http(200, {"metadata": {"resourceVersion": "5"}, "items": [stored("a", 3)]})
REFUSED = {"kind": "Status", "apiVersion": "v1", "code": 422, "reason": "Invalid"}


async def begins(heard: Heard, writer: asyncio.StreamWriter) -> bool:
    """Answers what comes before the stream that matters; False if that is asked for now."""
    if "sendInitialEvents" in heard.target:
        writer.write(http(422, REFUSED))
    elif "watch=true" not in heard.target:
        writer.write(LIST)
    else:
        return False
    return True


async def test_a_half_open_connection_is_noticed_and_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watch, "LIFETIME", (0.3, 0.3))
    monkeypatch.setattr(watch, "GRACE_SECONDS", 0.2)
    silent = asyncio.Event()

    async def half_open(heard: Heard, writer: asyncio.StreamWriter) -> None:
        if await begins(heard, writer):
            return
        writer.write(CHUNKED)
        if "resourceVersion=5" in heard.target:
            writer.write(chunk(line("ADDED", stored("b", 6))))
            await writer.drain()
            silent.set()
            await asyncio.Event().wait()
        writer.write(chunk(line("ADDED", stored("c", 7))))
        await writer.drain()
        await asyncio.Event().wait()

    troubles: list[KubeError] = []
    async with loopback(half_open) as server, networked(an_access(server.url)) as client:
        maps = client.of(CONFIG_MAPS, ConfigMap, "here")
        seen = Seen()
        async with maps.watch(EVERYTHING, on_trouble=troubles.append) as watching:
            async for update in watching:
                seen.take(update)
                if "c" in seen.state:
                    break
    assert silent.is_set()
    assert set(seen.state) == {"a", "b", "c"}
    assert {type(trouble) for trouble in troubles} >= {errors.Stalled}
    resumed = [heard.target for heard in server.heard if "resourceVersion=6" in heard.target]
    assert resumed, "it went on from the last event it had"


async def test_lines_longer_than_any_buffer_are_read() -> None:
    long = line("ADDED", {**stored("b", 6), "data": {"x": "y" * (2 << 20)}})

    async def talkative(heard: Heard, writer: asyncio.StreamWriter) -> None:
        if not await begins(heard, writer):
            writer.write(CHUNKED)
            for start in range(0, len(long), 40_000):
                writer.write(chunk(long[start : start + 40_000]))
            await writer.drain()
            await asyncio.Event().wait()

    async with loopback(talkative) as server, networked(an_access(server.url)) as client:
        maps = client.of(CONFIG_MAPS, ConfigMap, "here")
        async with maps.watch() as watching:
            await anext(watching)
            assert await _next_change(watching) == ["b"]


@pytest.mark.parametrize("how", ["by its status", "by an event"])
async def test_a_server_that_has_forgotten_is_read_anew(how: str) -> None:
    gone = {"kind": "Status", "apiVersion": "v1", "code": 410, "reason": "Expired"}

    async def forgetful(heard: Heard, writer: asyncio.StreamWriter) -> None:
        if await begins(heard, writer):
            return
        if how == "by its status":
            writer.write(http(410, gone))
        else:
            writer.write(CHUNKED + chunk(line("ERROR", gone)) + b"0\r\n\r\n")

    async with loopback(forgetful) as server, networked(an_access(server.url)) as client:
        maps = client.of(CONFIG_MAPS, ConfigMap, "here")
        async with maps.watch() as watching:
            for _ in range(3):
                assert isinstance(await anext(watching), Snapshot)


async def test_a_server_of_garbage_neither_ends_the_watch_nor_makes_it_spin() -> None:
    async def garbage(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(http(200, b"<html>It works!</html>\n"))

    troubles: list[KubeError] = []
    async with loopback(garbage) as server, networked(an_access(server.url)) as client:
        maps = client.of(CONFIG_MAPS, ConfigMap, "here")
        async with maps.watch(on_trouble=troubles.append):
            await eventually(lambda: _enough(troubles), "some troubles")
            assert len(server.heard) <= 10
    assert {type(trouble) for trouble in troubles} == {errors.Unreadable}


async def _enough(troubles: list[KubeError]) -> bool:
    return len(troubles) >= 4
