# SPDX-License-Identifier: Apache-2.0
"""TLS whose certificate can be exchanged while it serves: no connection is cut for it.

Every handshake begins with one context that holds no certificate, and takes that of the moment when
the client has said hello. Connections made with an earlier one go on, and are closed by the server
after their next answer.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.webhooks.identity import Papers, Unusable

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator
    from datetime import datetime

    from trellis.webhooks.certificates import Pair
    from trellis.webhooks.identity import Identity


@dataclass(frozen=True, slots=True)
class _Served:
    pair: Pair
    papers: Papers
    context: ssl.SSLContext


class ServingCertificate:
    """The certificate of a server, now. With a client authority (PEM), only who shows a
    certificate of that authority gets through the handshake."""

    def __init__(self, client_authority: bytes | None = None) -> None:
        self._client_authority = client_authority
        self._served: _Served | None = None
        self.context = self._new_context()
        self.context.sni_callback = self._choose

    @property
    def expires(self) -> datetime | None:
        return self._served.papers.expires if self._served else None

    def use(self, identity: Identity, now: datetime) -> None:
        """Serves with it from the next handshake on. Raises `Unusable`, and goes on with what it
        has, if that is better."""
        papers = Papers.of(identity)
        flaw = papers.flaw(now)
        if flaw and not self.flaw(now):
            raise Unusable(f"the one before it is served on: {flaw}")
        self._served = _Served(identity.pair, papers, self._context_of(identity.pair))

    def flaw(self, now: datetime) -> str:
        """Why the API server would not talk to us now; empty if it would."""
        return self._served.papers.flaw(now) if self._served else "there is no certificate yet"

    def is_current(self, transport: asyncio.BaseTransport) -> bool:
        """Whether a connection was made with the certificate of now."""
        session = transport.get_extra_info("ssl_object")
        return bool(self._served and session and session.context is self._served.context)

    def _choose(self, session: ssl.SSLObject, *_: object) -> int | None:
        if self._served is None:
            return ssl.ALERT_DESCRIPTION_INTERNAL_ERROR
        session.context = self._served.context
        return None

    def _context_of(self, pair: Pair) -> ssl.SSLContext:
        if self._served and self._served.pair == pair:
            # Only the bundle is another: connections need not be made anew for that.
            return self._served.context
        context = self._new_context()
        _load(context, pair)
        return context

    def _new_context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        # A resumed session would go on with the certificate it began with.
        context.num_tickets = 0
        context.options |= ssl.OP_NO_TICKET
        if self._client_authority is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(cadata=self._client_authority.decode())
        return context


def _load(context: ssl.SSLContext, pair: Pair) -> None:
    with _file(pair.certificate.rstrip() + b"\n" + pair.key) as path:
        try:
            # Without a password given, OpenSSL would ask for one on the terminal, and wait.
            context.load_cert_chain(path, password=lambda: b"")
        except ssl.SSLError as error:
            raise Unusable(
                f"the certificate and its key cannot be loaded together: {error.reason}"
            ) from error


@contextmanager
def _file(content: bytes) -> Iterator[str]:
    """The content under a path, for OpenSSL: in memory where the system can, since a key is in it
    and the file system of a container may be read-only."""
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("certificate"), "wb") as file:
            file.write(content)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
    else:
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            yield file.name
