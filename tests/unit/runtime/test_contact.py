# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from structlog.testing import capture_logs

from tests.support import virtual
from tests.support.transport import MemoryTransport, answer, failure
from tests.support.virtual import VirtualClock, dice
from trellis.kube.client import Client
from trellis.kube.errors import Ambiguous, BadConfig, NoContact, Unreachable, Unreadable, Untrusted
from trellis.runtime.contact import PATIENCE_SECONDS, PERIOD_SECONDS, Contact

if TYPE_CHECKING:
    from tests.support.transport import Answer, Script
    from trellis.kube.errors import KubeError
    from trellis.kube.transport import Request

SERVER = "https://there:6443"
VERSION = answer({"major": "1", "minor": "36", "gitVersion": "v1.36.0"})
REFUSED = Unreachable(f"{SERVER} cannot be reached: Connection refused")
SLOW = Ambiguous("GET /version: no complete answer within 5 s")


def a_contact(*answers: Answer | Script) -> tuple[Contact, MemoryTransport]:
    transport = MemoryTransport(*answers)
    return Contact(Client(transport, VirtualClock(), dice(1)), SERVER), transport


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        pytest.param(
            failure(401, "Unauthorized"),
            NoContact,
            f"{SERVER} refuses our credentials (401); renew the token or certificate",
            id="credentials that are refused",
        ),
        pytest.param(
            answer(b"<html>Welcome</html>", content_type="text/html"),
            NoContact,
            f"{SERVER} is no Kubernetes API (GET /version: an answer of 20 bytes is not JSON",
            id="a page",
        ),
        pytest.param(
            answer({"version": "3"}), NoContact, "is no Kubernetes API", id="some other API"
        ),
        pytest.param(answer(b'{"a":' * 100_000), NoContact, "nested too deeply", id="deep JSON"),
        pytest.param(
            answer(b"moved", 302, content_type="text/plain"),
            NoContact,
            "is no Kubernetes API (GET /version: 302 moved)",
            id="a login page",
        ),
        pytest.param(
            answer(b"no", 403, content_type="text/html"),
            NoContact,
            "is no Kubernetes API",
            id="a refusal that is not the API's",
        ),
        pytest.param(
            Unreadable(f"GET /version: {SERVER} does not speak HTTP"),
            NoContact,
            "does not speak HTTP",
            id="no HTTP",
        ),
        pytest.param(
            Untrusted(f"{SERVER} cannot be reached: its certificate is not trusted"),
            Untrusted,
            "its certificate is not trusted",
            id="a certificate of somebody else",
        ),
        pytest.param(
            BadConfig("config: users[me].user.tokenFile: cannot be read"),
            BadConfig,
            "tokenFile: cannot be read",
            id="credentials that cannot be had",
        ),
    ],
)
@virtual.virtual
async def test_what_no_waiting_would_mend_is_told_at_once_in_one_line(
    given: Answer, kind: type[KubeError], said: str
) -> None:
    contact, transport = a_contact(given)
    with capture_logs() as logs, pytest.raises(kind) as raised:
        await contact.make()
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert (len(transport.requests), logs) == (1, [])


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(VERSION, id="its version"),
        pytest.param(
            failure(403, "Forbidden", "forbidden: cannot get path /version"),
            id="a version that it shows to others alone",
        ),
    ],
)
@virtual.virtual
async def test_a_server_that_answers_is_in_contact(given: Answer) -> None:
    contact, _ = a_contact(given)
    assert contact.why_not() == "has not been asked yet"
    await contact.make()
    assert contact.why_not() is None


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(REFUSED, id="refused"),
        pytest.param(SLOW, id="silent"),
        pytest.param(failure(429, "TooManyRequests"), id="throttled"),
        pytest.param(answer(b"<html>", 502, content_type="text/html"), id="a proxy's page"),
        pytest.param(failure(503, "ServiceUnavailable"), id="not up yet"),
    ],
)
@virtual.virtual
async def test_a_server_that_is_not_there_is_waited_for_and_given_up_in_the_end(
    given: Answer,
) -> None:
    contact, transport = a_contact(lambda _: given)
    began = asyncio.get_running_loop().time()
    with capture_logs() as logs, pytest.raises(NoContact) as raised:
        await contact.make()
    assert PATIENCE_SECONDS / 2 < asyncio.get_running_loop().time() - began <= PATIENCE_SECONDS
    assert str(raised.value).startswith(SERVER)
    assert "gave up after 30 s: check the server's address, and that it runs" in str(raised.value)
    assert [line["event"] for line in logs] == ["no contact with the server"]
    assert 3 < len(transport.requests) < 20
    assert (contact.why_not() or "").startswith(SERVER)


@virtual.virtual
async def test_every_change_of_a_server_that_comes_up_is_one_line() -> None:
    contact, _ = a_contact(REFUSED, REFUSED, SLOW, SLOW, VERSION)
    with capture_logs() as logs:
        await contact.make()
    assert [line.get("why", line["event"]) for line in logs] == [
        str(REFUSED),
        f"{SERVER}: {SLOW}",
        "in contact with the server",
    ]


@virtual.virtual
async def test_once_it_was_there_it_is_waited_for_for_ever_and_readiness_says_why() -> None:
    given: list[Answer] = [VERSION]

    def script(_: Request) -> Answer:
        return given[0]

    contact, transport = a_contact(script)
    await contact.make()
    with capture_logs() as logs:
        keeping = asyncio.create_task(contact.keep())
        await asyncio.sleep(5 * PERIOD_SECONDS)
        assert contact.why_not() is None
        given[0] = failure(401, "Unauthorized")
        await asyncio.sleep(2 * PERIOD_SECONDS)
        assert "refuses our credentials" in (contact.why_not() or "")
        given[0], before = REFUSED, len(transport.requests)
        await asyncio.sleep(3600)
        assert contact.why_not() == str(REFUSED)
        assert len(transport.requests) - before < 3600 / 2
        given[0] = VERSION
        await asyncio.sleep(PERIOD_SECONDS)
        assert contact.why_not() is None
        keeping.cancel()
    assert [line["log_level"] for line in logs] == ["warning", "warning", "info"]


@virtual.virtual
async def test_one_answer_that_is_lost_changes_nothing() -> None:
    contact, transport = a_contact(VERSION, SLOW, lambda _: VERSION)
    await contact.make()
    with capture_logs() as logs:
        keeping = asyncio.create_task(contact.keep())
        await asyncio.sleep(PERIOD_SECONDS + 0.1)
        assert len(transport.requests) == 2
        assert contact.why_not() is None
        await asyncio.sleep(PERIOD_SECONDS)
        keeping.cancel()
    assert logs == []
