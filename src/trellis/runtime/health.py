# SPDX-License-Identifier: Apache-2.0
"""What an operator shows of itself: /livez, /readyz with the reasons why not, and /metrics.

Liveness says that the event loop answers and nothing about the cluster: were it to fail with the
API server, every instance would be restarted at the worst moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from aiohttp import web

from trellis.instruments.metrics import CONTENT_TYPE

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.instruments.metrics import Meter

    # What a check says: why not, or None when all is well.
    Check: TypeAlias = Callable[[], str | None]


class Readiness:
    """Checks by name. Ready is who passes all of them."""

    def __init__(self) -> None:
        self._checks: dict[str, Check] = {}

    def add(self, name: str, check: Check) -> None:
        self._checks[name] = check

    def why_not(self) -> tuple[str, ...]:
        """Each check that fails, and what it says."""
        said = ((name, _asked(check)) for name, check in self._checks.items())
        return tuple(f"{name}: {why}" for name, why in said if why is not None)


def _asked(check: Check) -> str | None:
    try:
        return check()
    except Exception as error:
        return f"cannot be checked: {error}"


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen. Port 0 takes any that is free."""

    host: str = "0.0.0.0"  # noqa: S104  probes come from outside the pod
    port: int = 8080


class Health:
    """The server, for the length of a block."""

    def __init__(self, address: Address, readiness: Readiness, meter: Meter) -> None:
        self._address = address
        self._readiness = readiness
        self._meter = meter
        application = web.Application()
        application.router.add_get("/livez", self._live)
        application.router.add_get("/healthz", self._live)
        application.router.add_get("/readyz", self._ready)
        application.router.add_get("/metrics", self._metrics)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        _, port, *_ = self._runner.addresses[0]
        return int(port)

    async def __aenter__(self) -> Health:
        await self._runner.setup()
        await web.TCPSite(self._runner, self._address.host, self._address.port).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _live(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _ready(self, _: web.Request) -> web.Response:
        reasons = self._readiness.why_not()
        if not reasons:
            return web.Response(text="ok\n")
        return web.Response(status=503, text="".join(f"not ready: {why}\n" for why in reasons))

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(body=self._meter.show(), headers={"Content-Type": CONTENT_TYPE})
