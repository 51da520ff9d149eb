# SPDX-License-Identifier: Apache-2.0
"""The client: sends requests through the gate, tries again where that is safe, names what failed.

It knows paths and verbs, and no kind. What a caller works with is a `Collection`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from trellis import __version__
from trellis.kube.codec import JSON
from trellis.kube.collection import Collection, Limits
from trellis.kube.errors import Ambiguous, KubeError, Outdated, Throttled, Unavailable
from trellis.kube.inflight import QUICK_SECONDS, Gate, Verdict
from trellis.kube.retry import is_late, wait_before_retry
from trellis.kube.status import refused

if TYPE_CHECKING:
    from random import Random

    from trellis.api.meta import Resource
    from trellis.instruments.clock import Clock
    from trellis.kube.inflight import Window
    from trellis.kube.transport import Pairs, Request, Response, Transport

T = TypeVar("T")

FIELD_MANAGER = "trellis"
USER_AGENT = f"trellis/{__version__}"
# Half of the server's own limit: one that has not answered by then is in trouble.
REQUEST_SECONDS = 30.0


class Client:
    """One user's view of one API. Whoever made the transport closes it."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        rng: Random,
        *,
        manager: str = FIELD_MANAGER,
        window: Window | None = None,
    ) -> None:
        self.transport = transport
        self.clock = clock
        self.rng = rng
        self.manager = manager
        self.headers: Pairs = (("Accept", JSON), ("User-Agent", USER_AGENT))
        self.gate = Gate(window)

    def of(
        self,
        resource: Resource,
        into: type[T],
        namespace: str = "",
        *,
        timeout: float = REQUEST_SECONDS,
        patience: float | None = None,
    ) -> Collection[T]:
        """Objects of that kind, in one namespace or in all, decoded into that type or `bytes`.

        `patience`: for how many seconds a write may wait to be sent again. For whoever decides by
        what they see: what was right may not be any more.
        """
        return Collection(self, resource, into, namespace, Limits(timeout, patience))

    async def send(self, request: Request) -> Response:
        """A request that must succeed. `Request.timeout` bounds each attempt.

        A write that the server turned away for longer than its patience is not sent again: that is
        raised when it may be asked once more. What else went wrong for so long is raised at once.
        """
        attempt, waited = 1, 0.0
        while True:
            try:
                return await self._exchange(request)
            except KubeError as error:
                wait = wait_before_retry(request, error, attempt, self.rng)
                if wait is None:
                    raise
                late = is_late(request, waited + wait)
                if late and not isinstance(error, Throttled):
                    raise
            await self.clock.sleep(wait)
            attempt, waited = attempt + 1, waited + wait
            if late:
                raise Outdated(f"{request} waited for {waited:.1f} s and is to be decided on anew")

    async def _exchange(self, request: Request) -> Response:
        verdict = None
        ticket = await self.gate.enter()
        began = self.clock.monotonic()
        try:
            response = await self.transport.request(request)
            if response.status >= 300:
                raise refused(str(request), response)
            took = self.clock.monotonic() - began
            self.gate.heard(took)
            verdict = Verdict.QUICK if took < QUICK_SECONDS else Verdict.SLOW
            return response
        except (Throttled, Unavailable, Ambiguous):
            verdict = Verdict.PUSHED_BACK
            raise
        finally:
            self.gate.leave(ticket, verdict)
