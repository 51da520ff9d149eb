# SPDX-License-Identifier: Apache-2.0
"""Init containers that are not played but run: our own start-order waiter, by its shipped code.

It gets what a kubelet would give it: its pod, and a token of the pod's own service account that
ends with the pod. Its exit code decides, as in any cluster.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from trellis.api.meta import Resource
from trellis.embedded.nodes.pods import PODS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trellis.api.meta import Key
    from trellis.kube.client import Client

START_ORDER = "grove-initc"
TOKEN_SECONDS = 3607
_ACCOUNTS = Resource("", "v1", "ServiceAccount", "serviceaccounts")
_STOP_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One start of such a container. `pod` is the whole object as the API has it."""

    pod: dict[str, Any]
    container: str
    token: str = field(repr=False)

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
    answer = msgspec.json.decode(await accounts.create_in(account, "token", request))
    return Start(pod=pod, container=container, token=answer["status"]["token"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A waiter that is a program of its own, with the container's arguments after `command`.

    It finds `token`, `namespace` and `ca.crt` in the folder that TRELLIS_SERVICE_ACCOUNT names, the
    pod in `pod.json` beside them, and the API where KUBERNETES_SERVICE_HOST and _PORT say.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    authority: str = ""

    async def __call__(self, start: Start) -> int:
        with tempfile.TemporaryDirectory(prefix="trellis-waiter-") as folder:
            mount = Path(folder)
            _fill(mount, start, self.authority)
            plain = {
                one["name"]: one["value"] for one in start.spec.get("env", []) if "value" in one
            }
            process = await asyncio.create_subprocess_exec(
                *self.command,
                *start.spec.get("args", []),
                env={**plain, **self.environment, "TRELLIS_SERVICE_ACCOUNT": folder},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            try:
                return await process.wait()
            except asyncio.CancelledError:
                await _stopped(process)
                raise


def _fill(mount: Path, start: Start, authority: str) -> None:
    contents = {
        "token": start.token.encode(),
        "namespace": start.pod["metadata"]["namespace"].encode(),
        "ca.crt": authority.encode(),
        "pod.json": msgspec.json.encode(start.pod),
    }
    for name, content in contents.items():
        (mount / name).write_bytes(content)


async def _stopped(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(_STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
