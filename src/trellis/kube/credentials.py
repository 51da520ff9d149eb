# SPDX-License-Identifier: Apache-2.0
"""Who we are to the server, and where that is written down.

Nothing here shows a token, a password or a key: not in a repr, not in an error.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Protocol

import msgspec

from trellis.kube.errors import BadConfig
from trellis.kube.transport import Pairs

if TYPE_CHECKING:
    from collections.abc import Callable

    from trellis.instruments.clock import Clock

# Kubelet renews projected tokens well before they end; client-go looks as often.
REREAD_SECONDS = 60.0


class Secret(msgspec.Struct, frozen=True):
    """A value that must not be seen."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


class Certificate(Secret, frozen=True):
    """A client certificate with its chain, and its key, as PEM."""

    chain: bytes
    key: bytes


class Identity(Secret, frozen=True):
    """What a request is sent with: headers, and a certificate for its connection."""

    headers: Pairs = ()
    certificate: Certificate | None = None


class Credentials(Protocol):
    async def identity(self) -> Identity:
        """Who to be now. Raises `BadConfig` when that cannot be found out."""

    async def renewed(self, refused: Identity) -> Identity:
        """Who to be after the server refused that; the same if there is nothing newer."""


class Stored:
    """Credentials that are written down, in a kubeconfig or in files that may be renewed."""

    def __init__(self, read: Callable[[], Identity], clock: Clock) -> None:
        self._read = read
        self._clock = clock
        self._current: Identity | None = None
        self._read_at = 0.0

    async def identity(self) -> Identity:
        if self._current is None or self._clock.monotonic() - self._read_at > REREAD_SECONDS:
            return self._reread()
        return self._current

    async def renewed(self, refused: Identity) -> Identity:
        if self._current is not None and self._current != refused:
            return self._current
        return self._reread()

    def _reread(self) -> Identity:
        self._read_at = self._clock.monotonic()
        try:
            found = self._read()
        except BadConfig:
            # A file that is just being replaced; what it held may still do.
            if self._current is None:
                raise
            return self._current
        # The same object for as long as it says the same: connections are kept by it.
        if self._current is None or self._current != found:
            self._current = found
        return self._current


def bearer(token: str, where: str) -> Pairs:
    """The header of a token. `where` names its place when no header could carry it."""
    stripped = token.strip()
    if not re.fullmatch(r"[\x21-\x7e]+", stripped):
        raise BadConfig(
            f"{where}: is no token, it is empty or holds spaces; put only a token there"
        )
    return (("Authorization", f"Bearer {stripped}"),)


def basic(username: str, password: str) -> Pairs:
    pair = base64.b64encode(f"{username}:{password}".encode()).decode()
    return (("Authorization", f"Basic {pair}"),)
