# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from tests.e2e.kube.kinds import CONFIG_MAPS, DEPLOYMENTS, FLOW_SCHEMAS
from trellis.kube.client import Client
from trellis.kube.discovery import discover

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from trellis.api.meta import Resource
    from trellis.kube.discovery import Served
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
    assert built_in(one_by_one) == built_in(aggregated)


def built_in(served: Served) -> set[Resource]:
    """Without custom kinds, which other tests define and remove meanwhile."""
    assert not [name for name in served.unreachable if is_built_in(name.partition("/")[0])]
    return {resource for resource in served.resources if is_built_in(resource.group)}


def is_built_in(group: str) -> bool:
    return "." not in group or group.endswith(".k8s.io")


async def test_the_version_of_claims_is_chosen(client: Client, namespace: str) -> None:
    served = await discover(client)
    claims = served.choose("resource.k8s.io", "resourceclaims", ("v1", "v1beta2", "v1beta1"))
    assert claims
    assert claims.kind == "ResourceClaim"
    assert (await client.of(claims, dict, namespace).list()).objects == []
    assert served.choose("resource.nvidia.com", "computedomains") is None
