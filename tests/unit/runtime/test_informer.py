# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from structlog.testing import capture_logs

from tests.support import virtual
from tests.support.memory_api import MemoryApi
from tests.support.virtual import VirtualClock, dice
from tests.unit.runtime.builders import BALLS, NAMESPACE, Ball
from tests.unit.runtime.toys import BALL_PATH
from trellis.instruments.metrics import Meter
from trellis.kube.client import Client
from trellis.kube.errors import Unreachable
from trellis.runtime.cache import Cache, Scope
from trellis.runtime.informer import Informer

if TYPE_CHECKING:
    from trellis.kube.transport import Request


def an_informer(api: MemoryApi, namespace: str = "") -> tuple[Informer[Ball], Meter]:
    meter = Meter()
    cache = Cache(BALLS, Ball, scope=Scope(namespace=namespace))
    return Informer(cache, Client(api, VirtualClock(), dice(1)), meter), meter


@virtual.virtual
async def test_the_cache_is_what_the_cluster_is() -> None:
    api = MemoryApi()
    for name in ("a", "b"):
        await api.do("POST", BALL_PATH, {"metadata": {"name": name}, "spec": {"colour": "blue"}})
    informer, meter = an_informer(api)
    running = asyncio.create_task(informer.run())
    await informer.cache.until_synced()
    await api.do("DELETE", f"{BALL_PATH}/a")
    await api.do("POST", BALL_PATH, {"metadata": {"name": "c"}})
    await asyncio.sleep(300)
    assert [ball.metadata.name for ball in informer.cache] == ["b", "c"]
    assert informer.cache.resource_version == api.version
    assert meter.value("trellis_cache_objects", resource="balls.toys.dev") == 2.0
    assert meter.value("trellis_cache_synced", resource="balls.toys.dev") == 1.0
    assert meter.value("trellis_watch_lists_total", resource="balls.toys.dev") == 1.0
    assert informer.silent_for() < 60
    running.cancel()


@virtual.virtual
async def test_an_object_that_cannot_be_read_any_more_leaves_when_it_is_deleted() -> None:
    api = MemoryApi()
    await api.do("POST", BALL_PATH, {"metadata": {"name": "a"}, "spec": {"colour": "blue"}})
    informer, meter = an_informer(api)
    running = asyncio.create_task(informer.run())
    await informer.cache.until_synced()
    await api.do("PATCH", f"{BALL_PATH}/a", {"spec": {"colour": 5}})
    await api.do("DELETE", f"{BALL_PATH}/a")
    await asyncio.sleep(1)
    assert list(informer.cache) == []
    assert meter.value("trellis_watch_lists_total", resource="balls.toys.dev") == 1.0
    running.cancel()


@virtual.virtual
async def test_one_namespace_may_be_enough() -> None:
    api = MemoryApi()
    await api.do("POST", BALL_PATH, {"metadata": {"name": "here"}})
    elsewhere = BALL_PATH.replace(NAMESPACE, "elsewhere")
    await api.do("POST", elsewhere, {"metadata": {"name": "there"}})
    informer, _ = an_informer(api, NAMESPACE)
    running = asyncio.create_task(informer.run())
    await informer.cache.until_synced()
    assert [ball.metadata.name for ball in informer.cache] == ["here"]
    running.cancel()


@virtual.virtual
async def test_a_long_trouble_is_one_warning_and_its_end_is_told() -> None:
    def down(request: Request) -> None:
        raise Unreachable(f"{request} never arrived")

    api = MemoryApi(before=down)
    informer, meter = an_informer(api)
    with capture_logs() as logs:
        running = asyncio.create_task(informer.run())
        await asyncio.sleep(120)
        assert informer.why_not_synced() is not None
        api.before = lambda _: None
        await asyncio.sleep(10)
    told = [line["event"] for line in logs if line["log_level"] != "debug"]
    assert told == ["watch troubled", "watch recovered"]
    assert informer.why_not_synced() is None
    assert (meter.value("trellis_watch_troubles_total", resource="balls.toys.dev") or 0) > 10
    running.cancel()
