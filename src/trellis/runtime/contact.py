# SPDX-License-Identifier: Apache-2.0
"""Whether the server is there, is a Kubernetes API, and takes us for somebody.

At the start, what no waiting would mend is told at once, and a server that is not there yet is
waited for; later, whatever happens to the server is sat out, and readiness says what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import msgspec

from trellis.instruments.logs import logger
from trellis.kube.codec import decode
from trellis.kube.errors import (
    Ambiguous,
    BadConfig,
    Forbidden,
    KubeError,
    NoContact,
    ServerFailed,
    Throttled,
    TimedOut,
    Unauthorized,
    Unavailable,
    Unreachable,
    Untrusted,
)
from trellis.kube.status import refused
from trellis.kube.transport import Request
from trellis.runtime.backoff import Backoff

if TYPE_CHECKING:
    from trellis.kube.client import Client

# A control plane that restarts beside us is back by then. After that it is for whoever started us
# to try again: a pod that ends is seen by people, one that waits for ever is not.
PATIENCE_SECONDS = 30.0
PERIOD_SECONDS = 10.0
# One answer that is lost on the way is no reason to be taken out of service.
FAILURES = 2
_TIMEOUT = 5.0
_BACKOFF = Backoff(first=0.5, longest=PERIOD_SECONDS / 2)
_PASSING = (Unreachable, Ambiguous, Throttled, Unavailable, TimedOut, ServerFailed)

_log = logger(__name__)


class _Version(msgspec.Struct, rename="camel"):
    git_version: str


class Contact:
    """`server` is its address, to be named to people."""

    def __init__(self, client: Client, server: str) -> None:
        self._client = client
        self._server = server
        self._failures = 0
        self._trouble = "has not been asked yet"

    def why_not(self) -> str | None:
        """What keeps us from the server now."""
        return self._trouble or None

    async def make(self) -> None:
        """Returns when the server has answered; raises when it will not, or not in time."""
        clock = self._client.clock
        deadline = clock.monotonic() + PATIENCE_SECONDS
        while error := await self._attempt():
            if not isinstance(error, _PASSING) or isinstance(error, Untrusted):
                raise error
            self._failures += 1
            self._report(error)
            pause = _BACKOFF.delay(self._failures, self._client.rng)
            if clock.monotonic() + pause > deadline:
                raise NoContact(
                    f"{self._named(error)}; gave up after {PATIENCE_SECONDS:.0f} s:"
                    " check the server's address, and that it runs"
                )
            await clock.sleep(pause)
        self._recover()

    async def keep(self) -> NoReturn:
        """Asks for ever whether it is still there, once it was."""
        while True:
            if not self._failures:
                await self._client.clock.sleep(PERIOD_SECONDS)
            error = await self._attempt()
            if error is None:
                self._recover()
                continue
            self._failures += 1
            if self._failures >= FAILURES:
                self._report(error)
            await self._client.clock.sleep(_BACKOFF.delay(self._failures, self._client.rng))

    async def _attempt(self) -> KubeError | None:
        """Asks once, past the client's own patience: what is wrong is to be known at once."""
        request = Request(
            method="GET", path="/version", headers=self._client.headers, timeout=_TIMEOUT
        )
        try:
            response = await self._client.transport.request(request)
            if response.status >= 300:
                raise refused(str(request), response)
            decode(response.body, _Version, str(request))
        except KubeError as error:
            return self._judged(error)
        return None

    def _judged(self, error: KubeError) -> KubeError | None:
        """What it means to us, said so that a person can act on it."""
        if isinstance(error, (BadConfig, *_PASSING)):
            return error
        if isinstance(error, Unauthorized):
            return NoContact(
                f"{self._server} refuses our credentials (401); renew the token or certificate of"
                " the kubeconfig's user, or of the pod's service account"
            )
        if isinstance(error, Forbidden) and error.failure.reason:
            # So says an API server that knows us and shows its version to others alone.
            return None
        return NoContact(
            f"{self._server} is no Kubernetes API ({error}); check the server's address"
        )

    def _report(self, error: KubeError) -> None:
        told = self._named(error)
        if told != self._trouble:
            _log.warning("no contact with the server", why=told)
        self._trouble = told

    def _recover(self) -> None:
        if self._trouble:
            _log.info("in contact with the server", server=self._server)
        self._trouble = ""
        self._failures = 0

    def _named(self, error: KubeError) -> str:
        told = str(error)
        return told if self._server in told else f"{self._server}: {told}"
