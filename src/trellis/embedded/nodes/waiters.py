# SPDX-License-Identifier: Apache-2.0
"""Init containers that are not played but run: our own start-order waiter, by its shipped code.

It gets what a kubelet would give it: its arguments, its namespace, and tokens of the pod's own
service account that end with the pod. Its exit code decides, as in any cluster. It runs in this
process, because fleets have more pods than a machine has room for programs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from trellis.api.meta import Resource
from trellis.embedded.nodes.pods import PODS
from trellis.instruments.logs import logger
from trellis.kube.errors import KubeError
from trellis.kube.tls import context
from trellis.waiter.access import Address
from trellis.waiter.arguments import parsed
from trellis.waiter.run import wait

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping
    from random import Random

    from trellis.api.meta import Key
    from trellis.kube.client import Client
    from trellis.kube.tls import Trust

START_ORDER = "grove-initc"
TOKEN_SECONDS = 3607
_ACCOUNTS = Resource("", "v1", "ServiceAccount", "serviceaccounts")

_log = logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One start of such a container. `pod` is the whole object as the API has it."""

    pod: dict[str, Any]
    container: str
    token: str = field(repr=False)
    renew: Callable[[], Awaitable[str]] = field(repr=False)
    """Asks for the next token."""

    @property
    def spec(self) -> dict[str, Any]:
        """The container's own part of the pod."""
        found: dict[str, Any] = next(
            one for one in self.pod["spec"]["initContainers"] if one["name"] == self.container
        )
        return found


Waiter = Callable[[Start], Awaitable[int]]
"""Runs it to its end and returns its exit code. Cancelled when the pod is to end before."""


async def prepared(client: Client, key: Key, container: str) -> Start:
    """Reads the pod and asks for its token, as a kubelet would before it starts the container."""
    pod: dict[str, Any] = msgspec.json.decode(
        await client.of(PODS, bytes, key.namespace).get(key.name)
    )
    bound = {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": key.name,
        "uid": pod["metadata"]["uid"],
    }
    request = {"spec": {"expirationSeconds": TOKEN_SECONDS, "boundObjectRef": bound}}
    account = pod["spec"].get("serviceAccountName") or "default"
    accounts = client.of(_ACCOUNTS, bytes, key.namespace)

    async def renew() -> str:
        answer = msgspec.json.decode(await accounts.create_in(account, "token", request))
        token: str = answer["status"]["token"]
        return token

    return Start(pod=pod, container=container, token=await renew(), renew=renew)


def shipped(server: str, trust: Trust, dice: Random) -> Mapping[str, Waiter]:
    """What is run in pods of the cluster whose API is there, by the name of the container."""
    return {START_ORDER: _Shipped(server, trust, dice)}


class _Shipped:
    def __init__(self, server: str, trust: Trust, dice: Random) -> None:
        url = urlsplit(server)
        self._address = Address(url.hostname or "", url.port or 443)
        self._trust = context(trust, None)
        self._dice = dice

    async def __call__(self, start: Start) -> int:
        pod = start.pod["metadata"]
        log = _log.bind(pod=f"{pod['namespace']}/{pod['name']}")
        try:
            parents = parsed(start.spec.get("args", []))
        except SystemExit as end:
            return int(end.code or 0)
        access = _PodAccess(self._address, self._trust, start)
        await wait(parents, access, self._dice, lambda line: log.debug("waiter", said=line))
        return 0


class _PodAccess:
    """That of one pod. A token is renewed in good time, as kubelets do."""

    def __init__(self, address: Address, trust: ssl.SSLContext, start: Start) -> None:
        self.address = address
        self._trust = trust
        self._start = start
        self._token = start.token
        self._stale_at = self._later()

    async def namespace(self) -> str:
        found: str = self._start.pod["metadata"]["namespace"]
        return found

    async def token(self) -> str:
        if asyncio.get_running_loop().time() >= self._stale_at:
            # The old one is good for a while yet.
            with suppress(KubeError):
                self._token = await self._start.renew()
                self._stale_at = self._later()
        return self._token

    async def trust(self) -> ssl.SSLContext:
        return self._trust

    @staticmethod
    def _later() -> float:
        return asyncio.get_running_loop().time() + TOKEN_SECONDS * 0.8
