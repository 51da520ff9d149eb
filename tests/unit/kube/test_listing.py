# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.transport import MemoryTransport, answer, failure
from tests.support.virtual import virtual
from tests.unit.kube.builders import CONFIG_MAPS, ConfigMap, Meta, a_client, a_config_map
from trellis.kube import errors
from trellis.kube.verbs import Selection

if TYPE_CHECKING:
    from trellis.kube.collection import Collection
    from trellis.kube.transport import Response

EXPIRED = failure(410, "Expired")


def a_page(*names: str, version: int = 5, more: str = "") -> Response:
    items = [a_config_map(name) for name in names]
    metadata = {"resourceVersion": str(version), "continue": more}
    return answer({"kind": "ConfigMapList", "metadata": metadata, "items": items})


def config_maps(transport: MemoryTransport) -> Collection[ConfigMap]:
    return a_client(transport).of(CONFIG_MAPS, ConfigMap, "here")


def queries(transport: MemoryTransport) -> list[dict[str, str]]:
    return [dict(request.query) for request in transport.requests]


@virtual
async def test_pages_are_read_to_the_end() -> None:
    transport = MemoryTransport(a_page("a", "b", more="next"), a_page("c"))
    listing = await config_maps(transport).list(Selection(labels="x=y"))
    assert [found.metadata.name for found in listing.objects] == ["a", "b", "c"]
    assert listing.resource_version == "5"
    first = {"labelSelector": "x=y", "limit": "500"}
    assert queries(transport) == [first, {**first, "continue": "next"}]


@virtual
async def test_a_list_that_expires_midway_is_begun_anew() -> None:
    transport = MemoryTransport(
        a_page("old", more="next"), EXPIRED, a_page("a", version=9, more="other"), a_page("b")
    )
    listing = await config_maps(transport).list()
    assert [found.metadata.name for found in listing.objects] == ["a", "b"]
    assert [query.get("continue") for query in queries(transport)] == [None, "next", None, "other"]


@virtual
async def test_a_list_that_always_expires_is_given_up() -> None:
    transport = MemoryTransport(
        lambda request: EXPIRED if dict(request.query).get("continue") else a_page("a", more="x")
    )
    with pytest.raises(errors.Expired):
        await config_maps(transport).list()
    assert len(transport.requests) == 8


@pytest.mark.parametrize("items", [None, []])
@virtual
async def test_nothing_may_be_null(items: list[Any] | None) -> None:
    transport = MemoryTransport(answer({"metadata": {"resourceVersion": "3"}, "items": items}))
    listing = await config_maps(transport).list()
    assert (listing.objects, listing.resource_version) == ([], "3")


@virtual
async def test_raw_objects_are_kept_as_they_came() -> None:
    body = b'{"metadata":{"resourceVersion":"3"},"items":[{"a": 1}, {"b":  [2]}]}'
    transport = MemoryTransport(answer(body))
    listing = await a_client(transport).of(CONFIG_MAPS, bytes, "here").list()
    assert listing.objects == [b'{"a": 1}', b'{"b":  [2]}']


ODD = {"metadata": {"name": "odd", "namespace": "here"}, "data": 5}


@virtual
async def test_one_odd_object_is_named_and_the_others_are_there() -> None:
    body = {"metadata": {"resourceVersion": "3"}, "items": [a_config_map("a"), ODD]}
    listing = await config_maps(MemoryTransport(answer(body))).list_readable()
    assert listing.objects == [ConfigMap(Meta("a", "here", "1"))]
    [error] = listing.unreadable
    assert str(error).startswith("here/odd: GET /api/v1/namespaces/here/configmaps: ")
    with pytest.raises(errors.Unreadable, match="here/odd"):
        await config_maps(MemoryTransport(answer(body))).list()


@pytest.mark.parametrize("body", [b"<html>", b'{"items":[', b"[" * 100_000, b'{"items":[5]}'])
@virtual
async def test_a_list_of_garbage_is_one_error(body: bytes) -> None:
    with pytest.raises(errors.Unreadable, match="GET /api/v1/namespaces/here/configmaps: "):
        await config_maps(MemoryTransport(answer(body))).list()
