# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ssl

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from trellis.kube.errors import Ambiguous, KubeError, Unreachable, Untrusted
from trellis.kube.faults import Lost, meaning
from trellis.kube.transport import Request

SERVER = "https://there:6443"
REQUEST = Request(method="GET", path="/version", timeout=5)
WHERE = ConnectionKey("there", 6443, True, True, None, None, None)


def no_tls(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, f"[SSL: {reason}] whatever (_ssl.c:1006)")
    error.reason = reason
    return error


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        pytest.param(
            aiohttp.ClientConnectorError(WHERE, OSError(111, "Connection refused")),
            Unreachable,
            "cannot be reached: Connection refused",
            id="refused",
        ),
        pytest.param(
            aiohttp.ClientConnectorError(WHERE, ConnectionResetError()),
            Unreachable,
            "cannot be reached: the connection was cut off",
            id="cut off without a word",
        ),
        pytest.param(
            aiohttp.ClientConnectorDNSError(WHERE, OSError(-2, "Name or service not known")),
            Unreachable,
            "cannot be reached: its name cannot be resolved",
            id="a name that nobody knows",
        ),
        pytest.param(
            aiohttp.ClientConnectorSSLError(WHERE, no_tls("WRONG_VERSION_NUMBER")),
            Untrusted,
            "it speaks no TLS of ours (wrong version number); check whether its address is http://",
            id="no TLS",
        ),
        pytest.param(
            aiohttp.ClientConnectorSSLError(WHERE, ssl.SSLEOFError(8, "EOF occurred")),
            Unreachable,
            "cannot be reached: EOF occurred",
            id="gone while greeting",
        ),
        pytest.param(
            aiohttp.ClientConnectorCertificateError(
                WHERE, ssl.SSLCertVerificationError(1, "certificate verify failed")
            ),
            Untrusted,
            "its certificate is not trusted (no reason given)",
            id="a certificate of somebody else",
        ),
        pytest.param(Lost(), Ambiguous, "the connection was lost", id="lost after sending"),
        pytest.param(TimeoutError(), Ambiguous, "no complete answer within 5 s", id="too late"),
    ],
)
def test_what_went_wrong_is_said_in_one_line(
    error: Exception, kind: type[KubeError], said: str
) -> None:
    meant = meaning(REQUEST, SERVER, error)
    assert type(meant) is kind
    assert said in str(meant)
    assert "\n" not in str(meant)
