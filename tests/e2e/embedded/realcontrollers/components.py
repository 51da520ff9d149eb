# SPDX-License-Identifier: Apache-2.0
"""The real kube-controller-manager and kube-scheduler, unmodified, on an embedded API server."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from tests.support.api import Api, new_session
from tests.support.embedded import embedded
from trellis.lab.components import CONTROLLER_MANAGER, SCHEDULER
from trellis.lab.process import Component
from trellis.webhooks.certificates import signing_key

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from trellis.lab.build import Binary
    from trellis.lab.errors import ComponentFailed

STOP_SECONDS = 2.0


@asynccontextmanager
async def real_controllers(binary: Binary, folder: Path) -> AsyncIterator[Api]:
    """The API of a cluster whose server and nodes are ours and whose controllers are not."""
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(
            embedded(fleet="tiny", controllers=False, scheduler=False)
        )
        session = await stack.enter_async_context(new_session())
        failing: list[asyncio.Task[ComponentFailed]] = []
        for name, more in (
            (CONTROLLER_MANAGER, _for_accounts(folder, cluster.authority)),
            (SCHEDULER, ()),
        ):
            command: list[str | Path] = [binary.path, name, *_arguments(cluster.kubeconfig), *more]
            child = await Component.start(name, command, folder / f"{name}.log")
            stack.push_async_callback(child.stop, STOP_SECONDS)
            failing.append(asyncio.create_task(child.failure()))
            stack.callback(failing[-1].cancel)
        yield Api(session=session, server=cluster.server, tls=cluster.tls, token=cluster.token)
        for ended in failing:
            if ended.done():
                raise ended.result()


def _arguments(kubeconfig: Path) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        # What an API server with request headers keeps in kube-system is not there.
        "--authentication-skip-lookup=true",
        "--bind-address=127.0.0.1",
        f"--secure-port={_free_port()}",
        "--leader-elect=false",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    ]


def _for_accounts(folder: Path, authority: str) -> tuple[str, ...]:
    private, _ = signing_key()
    key, certificate = folder / "sa.key", folder / "ca.crt"
    key.write_bytes(private)
    certificate.write_text(authority)
    return (
        f"--root-ca-file={certificate}",
        f"--service-account-private-key-file={key}",
        "--use-service-account-credentials=true",
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
