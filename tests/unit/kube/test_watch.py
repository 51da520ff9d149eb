# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.transport import (
    HANG,
    MemoryTransport,
    Stream,
    answer,
    bookmark,
    event,
    failure,
    status_object,
)
from tests.support.virtual import settle, virtual
from tests.unit.kube.builders import CONFIG_MAPS, ConfigMap, Meta, a_client, a_config_map
from trellis.kube import errors
from trellis.kube.events import Change, Delta, Snapshot
from trellis.kube.verbs import Selection

if TYPE_CHECKING:
    from trellis.kube.errors import KubeError
    from trellis.kube.transport import Request
    from trellis.kube.watch import Watch

BEGUN = [event("ADDED", a_config_map("a", 3)), bookmark("5", initial_end=True)]
LIST = answer({"metadata": {"resourceVersion": "5"}, "items": [a_config_map("a", 3)]})
EVERYTHING = Snapshot([ConfigMap(Meta("a", "here", "3"))], "5")
NOT_SERVED = Stream([failure(422, "Invalid").body], 422)


def a_watch(
    transport: MemoryTransport, troubles: list[KubeError] | None = None, **given: Any
) -> Watch[ConfigMap]:
    maps = a_client(transport).of(CONFIG_MAPS, ConfigMap, "here")
    return maps.watch(on_trouble=troubles.append if troubles is not None else None, **given)


def put(name: str, version: int) -> Delta[ConfigMap]:
    change = Change("here", name, ConfigMap(Meta(name, "here", str(version))))
    return Delta([change], str(version))


def query(request: Request) -> dict[str, str]:
    return dict(request.query)


@virtual
async def test_everything_comes_first_and_then_what_changes() -> None:
    transport = MemoryTransport(
        streams=[Stream([*BEGUN, event("MODIFIED", a_config_map("a", 6)), bookmark("8"), HANG])]
    )
    async with a_watch(transport, selection=Selection(labels="x=y")) as watch:
        assert await anext(watch) == EVERYTHING
        assert await anext(watch) == put("a", 6)
        assert await anext(watch) == Delta([], "8")
    asked = query(transport.opened[0])
    assert asked.pop("timeoutSeconds") == "600"
    assert asked == {
        "labelSelector": "x=y",
        "watch": "true",
        "allowWatchBookmarks": "true",
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
    }


@virtual
async def test_a_server_without_initial_events_is_listed() -> None:
    transport = MemoryTransport(
        LIST, streams=[NOT_SERVED, Stream([event("ADDED", a_config_map("b", 6)), HANG])]
    )
    async with a_watch(transport) as watch:
        assert await anext(watch) == EVERYTHING
        assert await anext(watch) == put("b", 6)
        assert watch.trouble is None
    assert "sendInitialEvents" not in query(transport.opened[1])
    assert query(transport.opened[1])["resourceVersion"] == "5"


@pytest.mark.parametrize(
    "half",
    [
        pytest.param(Stream([BEGUN[0], HANG]), id="falls silent"),
        pytest.param(Stream([BEGUN[0]]), id="ends"),
    ],
)
@virtual
async def test_a_server_that_never_says_that_all_was_sent_is_listed(half: Stream) -> None:
    transport = MemoryTransport(LIST, streams=[half])
    async with a_watch(transport) as watch:
        assert await anext(watch) == EVERYTHING


@virtual
async def test_a_beginning_that_is_cut_off_is_made_anew() -> None:
    half: list[bytes | KubeError] = [BEGUN[0], errors.Ambiguous("lost")]
    transport = MemoryTransport(streams=[Stream(half), Stream([*BEGUN, HANG])])
    async with a_watch(transport) as watch:
        assert await anext(watch) == EVERYTHING
    assert "resourceVersion" not in query(transport.opened[1])


@virtual
async def test_it_can_begin_where_something_else_has_ended() -> None:
    transport = MemoryTransport(streams=[Stream([event("ADDED", a_config_map("b", 9)), HANG])])
    async with a_watch(transport, resource_version="8") as watch:
        assert await anext(watch) == put("b", 9)
    assert query(transport.opened[0])["resourceVersion"] == "8"


@virtual
async def test_a_stream_closed_in_a_burst_is_resumed_at_once_from_the_last_event() -> None:
    bursts = [Stream([event("ADDED", a_config_map("b", version))]) for version in range(6, 106)]
    transport = MemoryTransport(streams=[Stream(BEGUN), *bursts])
    began = asyncio.get_running_loop().time()
    async with a_watch(transport) as watch:
        async for update in watch:
            if update.resource_version == "105":
                break
    # Only the first stream, which brought nothing new after its beginning, was waited for.
    assert asyncio.get_running_loop().time() - began < 0.2
    resumed = [query(request).get("resourceVersion") for request in transport.opened[1:101]]
    assert resumed == [str(version) for version in range(5, 105)]


@pytest.mark.parametrize(
    "gone",
    [
        pytest.param(Stream([failure(410, "Expired").body], 410), id="by its status"),
        pytest.param(
            Stream([event("ERROR", status_object(410, "Expired"))]), id="by an event of error"
        ),
        pytest.param(
            Stream([event("ADDED", a_config_map("x", 6)), event("ERROR", status_object(410))]),
            id="after an event",
        ),
    ],
)
@virtual
async def test_when_history_is_gone_everything_is_told_anew(gone: Stream) -> None:
    again = Stream([event("ADDED", a_config_map("b", 20)), bookmark("21", initial_end=True), HANG])
    transport = MemoryTransport(streams=[Stream(BEGUN), gone, again])
    troubles: list[KubeError] = []
    async with a_watch(transport, troubles) as watch:
        async for update in watch:
            if update.resource_version == "21":
                break
    assert update == Snapshot([ConfigMap(Meta("b", "here", "20"))], "21")
    assert [type(trouble) for trouble in troubles] == [errors.Expired]


@virtual
async def test_a_server_that_forgets_at_once_is_not_read_in_a_loop() -> None:
    def forgetful(request: Request) -> Stream:
        return Stream([failure(410).body], 410) if "resourceVersion" in query(request) else begun

    begun = Stream(BEGUN)
    transport = MemoryTransport(streams=forgetful)
    async with a_watch(transport):
        await asyncio.sleep(60)
    assert len(transport.opened) < 60


@virtual
async def test_a_silent_stream_is_noticed_and_resumed() -> None:
    troubles: list[KubeError] = []
    transport = MemoryTransport(
        streams=[Stream([HANG]), Stream([event("ADDED", a_config_map("b", 9)), HANG])]
    )
    async with a_watch(transport, troubles, resource_version="8") as watch:
        assert await anext(watch) == put("b", 9)
        assert asyncio.get_running_loop().time() <= 46
    assert [type(trouble) for trouble in troubles] == [errors.Stalled]
    assert 30 <= int(query(transport.opened[0])["timeoutSeconds"]) <= 40


@virtual
async def test_it_can_be_told_to_read_everything_anew_on_another_stream() -> None:
    transport = MemoryTransport(streams=[Stream([*BEGUN, HANG]), Stream([*BEGUN, HANG])])
    async with a_watch(transport) as watch:
        assert await anext(watch) == EVERYTHING
        watch.start_over()
        assert await anext(watch) == EVERYTHING
    assert len(transport.opened) == 2
    assert "resourceVersion" not in query(transport.opened[1])


@virtual
async def test_before_it_has_begun_there_is_nothing_to_read_anew() -> None:
    transport = MemoryTransport(streams=[Stream([*BEGUN, HANG])])
    watch = a_watch(transport)
    watch.start_over()
    async with watch:
        assert await anext(watch) == EVERYTHING
    assert len(transport.opened) == 1


@virtual
async def test_a_quiet_stream_that_began_it_all_is_renewed_before_long() -> None:
    transport = MemoryTransport(streams=[Stream([*BEGUN, HANG])])
    troubles: list[KubeError] = []
    async with a_watch(transport, troubles):
        await asyncio.sleep(41)
    assert len(transport.opened) == 2
    assert troubles == []


@virtual
async def test_a_server_that_is_away_is_asked_less_and_less_but_often_enough() -> None:
    troubles: list[KubeError] = []
    transport = MemoryTransport(streams=lambda _: errors.Unreachable("away"))
    async with a_watch(transport, troubles, resource_version="8") as watch:
        await asyncio.sleep(60)
        assert isinstance(watch.trouble, errors.Unreachable)
    assert 15 < len(transport.opened) < 40
    assert len(troubles) == len(transport.opened)


@virtual
async def test_a_forbidden_watch_goes_on_when_it_is_allowed_again() -> None:
    allowed = False

    def guarded(_: Request) -> Stream:
        return Stream([*BEGUN, HANG]) if allowed else Stream([failure(403).body], 403)

    transport = MemoryTransport(streams=guarded)
    troubles: list[KubeError] = []
    async with a_watch(transport, troubles) as watch:
        await asyncio.sleep(300)
        assert isinstance(watch.trouble, errors.Forbidden)
        assert len(transport.opened) < 30
        allowed = True
        assert await anext(watch) == EVERYTHING
        assert watch.trouble is None


@virtual
async def test_an_odd_object_is_reported_and_the_others_go_on() -> None:
    odd = event("ADDED", {**a_config_map("odd", 6), "data": 5})
    troubles: list[KubeError] = []
    transport = MemoryTransport(
        streams=[Stream([*BEGUN, odd, event("ADDED", a_config_map("b", 7)), HANG])]
    )
    async with a_watch(transport, troubles) as watch:
        assert await anext(watch) == EVERYTHING
        await settle()
        assert await anext(watch) == put("b", 7)
    assert ["here/odd" in str(trouble) for trouble in troubles] == [True]


@virtual
async def test_garbage_makes_it_read_everything_anew() -> None:
    transport = MemoryTransport(streams=[Stream(BEGUN), Stream([b"<html>\n"]), Stream(BEGUN)])
    troubles: list[KubeError] = []
    async with a_watch(transport, troubles) as watch:
        assert await anext(watch) == EVERYTHING
        assert await anext(watch) == EVERYTHING
    assert [type(trouble) for trouble in troubles] == [errors.Unreadable]


@virtual
async def test_a_reader_that_is_busy_finds_the_latest_of_each_object() -> None:
    lines = [event("MODIFIED", a_config_map("a", version)) for version in range(6, 1006)]
    transport = MemoryTransport(
        streams=[Stream([*BEGUN, b"".join(lines[:500]), *lines[500:], HANG])]
    )
    async with a_watch(transport) as watch:
        assert await anext(watch) == EVERYTHING
        await asyncio.sleep(20)
        assert await anext(watch) == put("a", 1005)


@virtual
async def test_leaving_the_block_ends_it_all() -> None:
    before = asyncio.all_tasks()
    async with a_watch(MemoryTransport(streams=[Stream([*BEGUN, HANG])])) as watch:
        await anext(watch)
    assert asyncio.all_tasks() == before


@virtual
async def test_a_mistake_in_the_caller_s_hook_is_not_taken_for_silence() -> None:
    def broken(_: KubeError) -> None:
        raise ZeroDivisionError

    maps = a_client(MemoryTransport(streams=lambda _: errors.Unreachable("away")))
    async with maps.of(CONFIG_MAPS, ConfigMap, "here").watch(on_trouble=broken) as watch:
        with pytest.raises(ZeroDivisionError):
            await anext(watch)


@virtual
async def test_a_watch_outside_its_block_says_so() -> None:
    with pytest.raises(RuntimeError, match="inside its own block"):
        await anext(a_watch(MemoryTransport()))
