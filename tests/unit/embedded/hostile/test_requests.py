# SPDX-License-Identifier: Apache-2.0
"""Whatever is sent, the server answers, as the real one might: no failure of its own, no crash."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from tests.support.virtual import VirtualClock, dice, run
from tests.unit.embedded.hostile import requests
from tests.unit.embedded.hostile.objects import OBJECTS
from trellis.embedded.core.cluster import ADMIN, Cluster
from trellis.embedded.core.cluster import Settings as ClusterSettings
from trellis.embedded.exchange import Answer, Ask

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

EXAMPLES = 300
WATCH_SECONDS = 1.0
# The reason of a failure that nobody foresaw. What the real server answers with 5xx has others.
OURS = b"InternalError"
plenty = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@cache
def _opened() -> Cluster:
    """One for all examples, with an object of every kind in it: what breaks it must be seen."""
    clock = VirtualClock()
    tokens = {requests.TOKEN: ADMIN}
    return Cluster(ClusterSettings(clock=clock, rng=dice(1), tokens=tokens))


async def _prepared() -> Cluster:
    cluster = _opened()
    if not cluster.store.version:
        await cluster.start()
        for path, body in OBJECTS:
            headers = {"authorization": f"Bearer {requests.TOKEN}"}
            content = json.dumps(body).encode()
            await cluster.handle(Ask(method="POST", path=path, headers=headers, body=content))
    return cluster


async def _asked(ask: Ask) -> tuple[Answer, bytes]:
    answer = await (await _prepared()).handle(ask)
    if isinstance(answer.body, bytes):
        return answer, answer.body
    try:
        return answer, await _first(answer.body.__aiter__())
    finally:
        answer.body.close()


async def _first(feed: AsyncIterator[bytes]) -> bytes:
    """The first chunk of a watch, if one comes: it must be able to begin."""
    try:
        async with asyncio.timeout(WATCH_SECONDS):
            return await anext(feed)
    except (TimeoutError, StopAsyncIteration):
        return b""


def _check(ask: Ask) -> None:
    answer, body = run(_asked(ask))
    assert 200 <= answer.status < 600
    assert answer.status < 500 or OURS not in body, (ask, body)


@plenty
@given(requests.asks())
def test_anything_sent_anywhere_is_answered(ask: Ask) -> None:
    _check(ask)


@pytest.mark.parametrize("name", ["", "/one"], ids=["of all", "of one"])
def test_options_of_a_deletion_may_be_as_deep_as_they_like(name: str) -> None:
    path = f"/api/v1/namespaces/default/configmaps{name}"
    headers = {"authorization": f"Bearer {requests.TOKEN}", "content-type": "application/json"}
    body = b'{"a":' * 5000 + b"1" + b"}" * 5000
    _check(Ask(method="DELETE", path=path, headers=headers, body=body))


@plenty
@given(requests.writes())
def test_objects_with_anything_in_them_are_taken_or_refused(ask: Ask) -> None:
    _check(ask)


@plenty
@given(requests.patches())
def test_patches_with_anything_in_them_are_taken_or_refused(ask: Ask) -> None:
    _check(ask)
