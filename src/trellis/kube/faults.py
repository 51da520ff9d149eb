# SPDX-License-Identifier: Apache-2.0
"""What went wrong on the network, in the terms of the transport: was the request sent or not?

aiohttp's own errors hold the request's headers, so they are never passed on.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import aiohttp

from trellis.kube.errors import (
    Ambiguous,
    KubeError,
    Unreachable,
    Unreadable,
    Untrusted,
    clipped,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from trellis.kube.transport import Request

NEVER_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientConnectorCertificateError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.InvalidURL,
)

_UNTOLD = "no reason given"


class Lost(Exception):
    """The connection went away under a request that had been given to it."""


FAULTS = (aiohttp.ClientError, Lost, TimeoutError, OSError)


async def send_once(
    request: aiohttp.ClientRequest,
    send: Callable[[aiohttp.ClientRequest], Awaitable[aiohttp.ClientResponse]],
) -> aiohttp.ClientResponse:
    """Keeps aiohttp from sending PUT and DELETE again by itself when a connection is lost."""
    try:
        return await send(request)
    except NEVER_SENT:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise Lost(str(error)) from None


def meaning(request: Request, server: str, error: Exception) -> KubeError:
    if isinstance(error, aiohttp.ClientSSLError) and not _cut_off(error):
        return Untrusted(f"{server} cannot be reached: {_distrust(error)}")
    if isinstance(error, NEVER_SENT):
        return Unreachable(f"{server} cannot be reached: {_why(error)}")
    if isinstance(error, aiohttp.ClientResponseError):
        return Unreadable(f"{request}: {server} does not speak HTTP: {clipped(error.message, 100)}")
    if isinstance(error, TimeoutError):
        return Ambiguous(f"{request}: no complete answer within {request.timeout:.0f} s")
    return Ambiguous(f"{request}: the connection was lost before the answer was complete")


def _cut_off(error: aiohttp.ClientSSLError) -> bool:
    """Whether the server went away while both were still greeting each other."""
    return isinstance(getattr(error, "os_error", None), ssl.SSLEOFError)


def _distrust(error: aiohttp.ClientSSLError) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        reason = getattr(error.certificate_error, "verify_message", "") or _UNTOLD
        return f"its certificate is not trusted ({reason}); check the certificate authority"
    reason = getattr(error.os_error, "reason", "") or _UNTOLD
    problem = reason.replace("_", " ").lower()
    return f"it speaks no TLS of ours ({problem}); check whether its address is http:// or https://"


def _why(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy answered {error.status} {clipped(error.message, 100)}"
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return "no connection in time"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "its name cannot be resolved"
    if isinstance(error, aiohttp.ClientConnectorError):
        told = error.os_error.strerror or str(error.os_error)
        return clipped(told or "the connection was cut off", 200)
    return "its address is no URL"
