# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from tests.e2e.kube.kinds import CONFIG_MAPS, DEPLOYMENTS, FLOW_SCHEMAS
from trellis.kube.client import Client
from trellis.kube.discovery import discover

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from trellis.kube.transport import Request, Response, Stream, Transport


class OldFashioned:
    """Asks as clients did before there was an aggregated form."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    async def request(self, request: Request) -> Response:
        headers = tuple(header for header in request.headers if header[0] != "Accept")
        return await self._inner.request(structs.replace(request, headers=headers))

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        return self._inner.stream(request)

    async def close(self) -> None:
        await self._inner.close()


async def test_a_real_server_tells_the_same_in_both_forms(client: Client) -> None:
    aggregated = await discover(client)
    old = Client(OldFashioned(client.transport), client.clock, client.rng)
    one_by_one = await discover(old)
    assert set(aggregated.resources) >= {CONFIG_MAPS, DEPLOYMENTS, FLOW_SCHEMAS}
    assert set(one_by_one.resources) == set(aggregated.resources)
    assert aggregated.unreachable == one_by_one.unreachable == ()


async def test_the_version_of_claims_is_chosen(client: Client) -> None:
    served = await discover(client)
    claims = served.choose("resource.k8s.io", "resourceclaims", ("v1", "v1beta2", "v1beta1"))
    assert claims
    assert claims.kind == "ResourceClaim"
    assert (await client.of(claims, dict).list()).objects == []
    assert served.choose("resource.nvidia.com", "computedomains") is None
