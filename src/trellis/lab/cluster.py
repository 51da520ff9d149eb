# SPDX-License-Identifier: Apache-2.0
"""A running lab: starts the real control plane in order, watches it, and stops it in order."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp

from trellis.kube import kubeconfig_writing as kubeconfig
from trellis.lab import components, folders
from trellis.lab.components import API_SERVER, CONTROLLER_MANAGER, ETCD, SCHEDULER, Settings
from trellis.lab.errors import ComponentFailed
from trellis.lab.pki import Keys
from trellis.lab.process import Component

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from trellis.lab.build import Binary

# Without it no pod can be made.
DEFAULT_ACCOUNT = "/api/v1/namespaces/default/serviceaccounts/default"
START_SECONDS = 60.0
POLL_SECONDS = 0.05
# Together under five seconds, the promise made for `stop`.
STOP_SECONDS = {SCHEDULER: 1.0, CONTROLLER_MANAGER: 1.0, API_SERVER: 2.5, ETCD: 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a lab is to be: its name, the kubeconfig it writes, a folder that outlives it."""

    name: str | None = None
    kubeconfig: Path | None = None
    data: Path | None = None
    root: Path | None = None


class Lab:
    """The real control plane, running. Make one with `running`."""

    def __init__(self, binary: Binary, settings: Settings, place: Place) -> None:
        if place.kubeconfig:
            kubeconfig.refuse_foreign(place.kubeconfig)
        self.binary = binary
        self.settings = settings
        data = place.data.resolve() if place.data else None
        self._claim = folders.claim(place.root or folders.cache_root(), place.name, data)
        self.name = self._claim.name
        self.folder = Path(self._claim.layout.run)
        self.kubeconfig = (place.kubeconfig or self.folder / "kubeconfig").absolute()
        self._running: dict[str, Component] = {}
        self._watch: asyncio.Task[ComponentFailed] | None = None
        try:
            keys = Keys(Path(self._claim.layout.pki), datetime.now(UTC))
            self._prepare(keys)
        except BaseException:
            self._claim.release()
            raise
        self.token = keys.token
        self.authority = keys.authority.pair.certificate
        self.tls = ssl.create_default_context(cadata=self.authority.decode())
        self._admin = kubeconfig.with_token(self.name, self.server, self.authority, self.token)

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self._claim.ports.api_server}"

    @property
    def audit_log(self) -> Path:
        return Path(self._claim.layout.audit_log)

    @property
    def kubectl(self) -> Path:
        return self.binary.kubectl

    def pid(self, component: str) -> int:
        return self._running[component].pid

    async def failure(self) -> ComponentFailed:
        """Waits until a component ends without being told to, and returns which and why."""
        assert self._watch is not None  # noqa: S101
        return await asyncio.shield(self._watch)

    def failed(self) -> ComponentFailed | None:
        """The component that has ended without being told to, if one has."""
        ended = self._watch and self._watch.done() and not self._watch.cancelled()
        return self._watch.result() if self._watch and ended else None

    async def start(self) -> None:
        """Ready when the API answers and pods can be made: the default service account exists."""
        async with aiohttp.ClientSession() as session:
            for name in (ETCD, API_SERVER):
                await self._launch(name)
                await self._until(name, self._ready(name, session))
            for name in (CONTROLLER_MANAGER, SCHEDULER):
                await self._launch(name)
            await self._until(CONTROLLER_MANAGER, self._ready(CONTROLLER_MANAGER, session))
        self._watch = asyncio.create_task(self._first_failure())
        kubeconfig.write(self.kubeconfig, self._admin)

    async def restart(self, component: str) -> None:
        """Stops one component and starts it again while the others run on; ready as in `start`."""
        await self._running[component].stop(STOP_SECONDS[component])
        async with aiohttp.ClientSession() as session:
            await self._launch(component)
            await self._until(component, self._ready(component, session))
        if self._watch:
            self._watch.cancel()
        self._watch = asyncio.create_task(self._first_failure())

    async def stop(self, *, keep: bool = False) -> None:
        """Stops what runs, last started first. `keep` leaves the logs for a person to read."""
        if self._watch and not self._watch.done():
            self._watch.cancel()
        kubeconfig.remove(self.kubeconfig, self._admin)
        for names in ((SCHEDULER, CONTROLLER_MANAGER), (API_SERVER,), (ETCD,)):
            running = [self._running[name] for name in names if name in self._running]
            await asyncio.gather(*(child.stop(STOP_SECONDS[child.name]) for child in running))
        self._claim.release(keep=keep)

    def _prepare(self, keys: Keys) -> None:
        authority = keys.authority.pair.certificate
        for name in (CONTROLLER_MANAGER, SCHEDULER):
            pair = keys.component(name)
            text = kubeconfig.with_certificate(
                name, self.server, authority, pair.certificate, pair.key
            )
            kubeconfig.write(Path(self._claim.layout.kubeconfig(name)), text)
        if self.settings.audit:
            Path(self._claim.layout.audit_policy).write_text(components.AUDIT_POLICY)

    async def _launch(self, name: str) -> None:
        layout = self._claim.layout
        arguments = components.arguments(self.settings, layout, self._claim.ports)[name]
        log = Path(layout.log(name))
        command: list[str | Path] = [self.binary.path, name, *arguments]
        self._running[name] = await Component.start(name, command, log, self._claim.locks)

    def _ready(self, name: str, session: aiohttp.ClientSession) -> Callable[[], Awaitable[bool]]:
        if name == ETCD:
            return lambda: _accepts(self._claim.ports.etcd)
        path = "/readyz" if name == API_SERVER else DEFAULT_ACCOUNT
        return lambda: self._answers(session, path)

    async def _until(self, name: str, ready: Callable[[], Awaitable[bool]]) -> None:
        """Waits for `ready`. A component that ends meanwhile is named, or `name` if it is late."""
        waiting = asyncio.create_task(_poll(ready))
        failing = asyncio.create_task(self._first_failure())
        try:
            done, _ = await asyncio.wait(
                {waiting, failing}, timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if failing in done:
                raise failing.result()
            if not done:
                late = f"was not ready after {START_SECONDS:.0f} s"
                raise ComponentFailed(name, late, self._running[name].tail())
            waiting.result()
        finally:
            await _cancel(waiting, failing)

    async def _first_failure(self) -> ComponentFailed:
        ends = [asyncio.create_task(child.failure()) for child in self._running.values()]
        try:
            done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            # When several ended at once, the one started first took the others down.
            return next(end.result() for end in ends if end in done)
        finally:
            await _cancel(*ends)

    async def _answers(self, session: aiohttp.ClientSession, path: str) -> bool:
        headers = {"Authorization": f"Bearer {self.token}"}
        try:
            async with session.get(self.server + path, headers=headers, ssl=self.tls) as response:
                return response.status == 200
        except aiohttp.ClientConnectionError:
            return False


@asynccontextmanager
async def running(binary: Binary, settings: Settings, place: Place) -> AsyncIterator[Lab]:
    """A lab for the length of a block. Logs stay behind when it failed, and only then."""
    lab = Lab(binary, settings, place)
    failed = False
    try:
        await lab.start()
        yield lab
    except ComponentFailed:
        failed = True
        raise
    finally:
        await lab.stop(keep=failed or lab.failed() is not None)


async def _poll(ready: Callable[[], Awaitable[bool]]) -> None:
    while not await ready():
        await asyncio.sleep(POLL_SECONDS)


async def _accepts(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True


async def _cancel(*tasks: asyncio.Task[object]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
