# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.transport import MemoryTransport, answer, failure
from tests.support.virtual import run, virtual
from tests.unit.kube.builders import CONFIG_MAPS, NODES, ConfigMap, Meta, a_client, a_config_map
from trellis import __version__
from trellis.kube import errors
from trellis.kube.inflight import START
from trellis.kube.verbs import (
    Deletion,
    Selection,
    apply_patch,
    json_patch,
    merge_patch,
    strategic_patch,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from trellis.kube.collection import Collection

    Verb = Callable[[Collection[Any]], Coroutine[Any, Any, Any]]

ROOT = "/api/v1/namespaces/here/configmaps"
BODY = {"metadata": {"name": "a"}}
BY_US = {"fieldManager": "trellis"}


def asked(verb: Verb, namespace: str = "here") -> dict[str, Any]:
    """What one verb sends, without the headers that are always there."""
    transport = MemoryTransport(answer(a_config_map()))

    async def scenario() -> None:
        await verb(a_client(transport).of(CONFIG_MAPS, ConfigMap, namespace))

    run(scenario())
    [request] = transport.requests
    headers = dict(request.headers)
    assert headers.pop("Accept") == "application/json"
    assert headers.pop("User-Agent") == f"trellis/{__version__}"
    return {
        "request": str(request),
        "query": dict(request.query),
        "body": json.loads(request.body) if request.body else None,
        "type": headers.pop("Content-Type", None),
        "more": headers,
    }


def sent(
    request: str, query: dict[str, str], body: Any = None, kind: str | None = None
) -> dict[str, Any]:
    return {"request": request, "query": query, "body": body, "type": kind, "more": {}}


JSON = "application/json"
DRY = {**BY_US, "dryRun": "All"}


@pytest.mark.parametrize(
    ("verb", "want"),
    [
        pytest.param(lambda c: c.get("a"), sent(f"GET {ROOT}/a", {}), id="get"),
        pytest.param(
            lambda c: c.get("a", resource_version="0", subresource="scale"),
            sent(f"GET {ROOT}/a/scale", {"resourceVersion": "0"}),
            id="get a part from the cache",
        ),
        pytest.param(
            lambda c: c.create(BODY), sent(f"POST {ROOT}", BY_US, BODY, JSON), id="create"
        ),
        pytest.param(
            lambda c: c.create(ConfigMap(Meta("a"), {"k": "v"}), dry_run=True),
            sent(
                f"POST {ROOT}",
                DRY,
                {
                    "metadata": {"name": "a", "namespace": "", "resourceVersion": ""},
                    "data": {"k": "v"},
                },
                JSON,
            ),
            id="create a struct as a dry-run",
        ),
        pytest.param(
            lambda c: c.create_in("a", "eviction", BODY),
            sent(f"POST {ROOT}/a/eviction", BY_US, BODY, JSON),
            id="create a part",
        ),
        pytest.param(
            lambda c: c.replace("a", BODY, subresource="status"),
            sent(f"PUT {ROOT}/a/status", BY_US, BODY, JSON),
            id="replace a part",
        ),
        pytest.param(
            lambda c: c.patch("a", json_patch([{"op": "remove", "path": "/x"}])),
            sent(
                f"PATCH {ROOT}/a",
                BY_US,
                [{"op": "remove", "path": "/x"}],
                "application/json-patch+json",
            ),
            id="JSON patch",
        ),
        pytest.param(
            lambda c: c.patch("a", merge_patch(BODY), subresource="status", dry_run=True),
            sent(f"PATCH {ROOT}/a/status", DRY, BODY, "application/merge-patch+json"),
            id="merge patch of a part as a dry-run",
        ),
        pytest.param(
            lambda c: c.patch("a", strategic_patch(BODY)),
            sent(f"PATCH {ROOT}/a", BY_US, BODY, "application/strategic-merge-patch+json"),
            id="strategic merge patch",
        ),
        pytest.param(
            lambda c: c.patch("a", apply_patch(BODY, force=True)),
            sent(
                f"PATCH {ROOT}/a",
                {**BY_US, "force": "true"},
                BODY,
                "application/apply-patch+yaml",
            ),
            id="apply by force",
        ),
        pytest.param(
            lambda c: c.delete("a"), sent(f"DELETE {ROOT}/a", {}, {}, JSON), id="plain delete"
        ),
        pytest.param(
            lambda c: c.delete(
                "a",
                Deletion(uid="u", resource_version="7", propagation="Foreground", grace_seconds=0),
                dry_run=True,
            ),
            sent(
                f"DELETE {ROOT}/a",
                {"dryRun": "All"},
                {
                    "preconditions": {"uid": "u", "resourceVersion": "7"},
                    "propagationPolicy": "Foreground",
                    "gracePeriodSeconds": 0,
                    "dryRun": ["All"],
                },
                JSON,
            ),
            id="delete with everything",
        ),
        pytest.param(
            lambda c: c.delete_all(Selection(labels="a=b", fields="metadata.name=x")),
            sent(
                f"DELETE {ROOT}",
                {"labelSelector": "a=b", "fieldSelector": "metadata.name=x"},
                {},
                JSON,
            ),
            id="delete a selection",
        ),
    ],
)
def test_what_every_verb_sends(verb: Verb, want: dict[str, Any]) -> None:
    assert asked(verb) == want


@virtual
async def test_a_kind_without_namespaces_has_its_own_paths() -> None:
    transport = MemoryTransport(answer(a_config_map("n")))
    await a_client(transport).of(NODES, ConfigMap).get("n")
    assert transport.requests[0].path == "/api/v1/nodes/n"


@virtual
async def test_a_deletion_tells_what_lingers_from_what_is_gone() -> None:
    gone = {"kind": "Status", "apiVersion": "v1", "status": "Success"}
    transport = MemoryTransport(answer(gone), answer(a_config_map("a", 9)))
    maps = a_client(transport).of(CONFIG_MAPS, ConfigMap, "here")
    assert await maps.delete("a") is None
    assert await maps.delete("a") == ConfigMap(Meta("a", "here", "9"))


@virtual
async def test_a_refused_request_waits_as_long_as_it_was_asked_and_then_succeeds() -> None:
    transport = MemoryTransport(answer({}, 429, retry_after="2"), answer(a_config_map()))
    client = a_client(transport)
    began = client.clock.monotonic()
    await client.of(CONFIG_MAPS, ConfigMap, "here").create(BODY)
    assert 2 <= client.clock.monotonic() - began <= 3
    assert transport.requests[0] == transport.requests[1]
    assert client.gate.window.limit == START // 2


@virtual
async def test_a_write_that_was_turned_away_for_too_long_is_not_sent_again() -> None:
    transport = MemoryTransport(answer({}, 429, retry_after="2"), answer(a_config_map()))
    client = a_client(transport)
    began = client.clock.monotonic()
    with pytest.raises(errors.Outdated):
        await client.of(CONFIG_MAPS, ConfigMap, "here", patience=0.5).create(BODY)
    # Whoever decides on it anew may ask the server again by now.
    assert 2 <= client.clock.monotonic() - began <= 3
    assert len(transport.requests) == 1


@virtual
async def test_a_read_is_patient_and_so_is_a_write_that_waits_only_for_a_moment() -> None:
    transport = MemoryTransport(answer({}, 429, retry_after="2"), answer(a_config_map()))
    await a_client(transport).of(CONFIG_MAPS, ConfigMap, "here", patience=0.5).get("a")
    assert len(transport.requests) == 2
    transport = MemoryTransport(errors.Unreachable("not there"), answer(a_config_map()))
    await a_client(transport).of(CONFIG_MAPS, ConfigMap, "here", patience=0.5).create(BODY)
    assert len(transport.requests) == 2


@virtual
async def test_a_server_that_is_not_there_is_told_of_when_patience_ends() -> None:
    transport = MemoryTransport(lambda _: errors.Unreachable("not there"))
    client = a_client(transport)
    began = client.clock.monotonic()
    with pytest.raises(errors.Unreachable):
        await client.of(CONFIG_MAPS, ConfigMap, "here", patience=0.5).create(BODY)
    assert client.clock.monotonic() - began <= 0.5
    assert len(transport.requests) > 1


@virtual
async def test_a_server_that_never_relents_is_given_up() -> None:
    transport = MemoryTransport(lambda _: failure(429, "TooManyRequests", retryAfterSeconds=1))
    client = a_client(transport)
    with pytest.raises(errors.Throttled) as raised:
        await client.of(CONFIG_MAPS, ConfigMap, "here").get("a")
    assert len(transport.requests) == 6
    assert raised.value.retry_after == 1
    assert client.gate.under_way == 0


@virtual
async def test_a_write_that_may_have_happened_is_sent_once() -> None:
    transport = MemoryTransport(lambda _: errors.Ambiguous("lost"))
    with pytest.raises(errors.Ambiguous):
        await a_client(transport).of(CONFIG_MAPS, ConfigMap, "here").create(BODY)
    assert len(transport.requests) == 1


@virtual
async def test_requests_wait_for_their_turn() -> None:
    under_way, most = 0, 0

    class Slow(MemoryTransport):
        async def request(self, request: Any) -> Any:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(1)
            under_way -= 1
            return await super().request(request)

    maps = a_client(Slow(lambda _: answer(a_config_map()))).of(CONFIG_MAPS, ConfigMap, "here")
    await asyncio.gather(*(maps.get("a") for _ in range(200)))
    assert most == START


@virtual
async def test_a_cancelled_request_gives_its_place_up() -> None:
    class Silent(MemoryTransport):
        async def request(self, request: Any) -> Any:
            await asyncio.sleep(3600)
            return await super().request(request)

    client = a_client(Silent())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await client.of(CONFIG_MAPS, ConfigMap, "here").get("a")
    assert client.gate.under_way == 0


@virtual
async def test_a_name_that_leads_elsewhere_is_never_sent() -> None:
    transport = MemoryTransport()
    with pytest.raises(errors.BadName):
        await a_client(transport).of(CONFIG_MAPS, ConfigMap, "here").get("../../secrets/x")
    assert transport.requests == []
