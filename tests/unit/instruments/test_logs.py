# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import json
import logging
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from tests.support.quiet import restored_logs
from tests.support.virtual import VirtualClock, virtual
from trellis.instruments.logs import REDACTED, configure, logger, redact, to_json, to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJl"


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    with restored_logs():
        yield


def lines(stream: io.StringIO) -> list[Any]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@virtual
async def test_a_line_says_when_where_and_what_with_the_context_of_its_run() -> None:
    stream = io.StringIO()
    configure(VirtualClock(), stream=stream)
    with structlog.contextvars.bound_contextvars(reconcile="4f1a"):
        logger("trellis.test").info("converged", created=3)
    assert lines(stream) == [
        {
            "module": "trellis.test",
            "created": 3,
            "event": "converged",
            "reconcile": "4f1a",
            "level": "info",
            "timestamp": "2026-01-01T00:00:00.000Z",
        }
    ]


@virtual
async def test_what_libraries_log_has_the_same_form() -> None:
    stream = io.StringIO()
    configure(VirtualClock(), stream=stream)
    logging.getLogger("aiohttp.server").error("bad\nthing %s", f"Bearer {JWT}")
    (line,) = lines(stream)
    assert line["module"] == "aiohttp.server"
    assert line["event"] == f"bad\nthing Bearer {REDACTED}"


@virtual
async def test_an_exception_is_one_line_and_holds_no_credentials() -> None:
    stream = io.StringIO()
    configure(VirtualClock(), stream=stream)
    try:
        raise ValueError(f"refused Bearer {JWT}")
    except ValueError:
        logger("trellis.test").exception("failed")
    (line,) = lines(stream)
    assert "ValueError: refused Bearer [redacted]" in line["exception"]


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        pytest.param("token", "abc", REDACTED, id="by name"),
        pytest.param("bearer_token", "abc", REDACTED, id="by the end of its name"),
        pytest.param("clientKeyData", "abc", REDACTED, id="in camel case"),
        pytest.param("client-key-data", "abc", REDACTED, id="as kubeconfigs call it"),
        pytest.param("header", f"Bearer {JWT}", "Bearer [redacted]", id="a header"),
        pytest.param("text", f"got {JWT} back", f"got {REDACTED} back", id="a bare token"),
        pytest.param(
            "text",
            "-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY-----",
            REDACTED,
            id="a private key",
        ),
        pytest.param("url", "https://me:pw@host/x", f"https://{REDACTED}@host/x", id="in a URL"),
        pytest.param("inner", {"password": "x", "n": 1}, {"password": REDACTED, "n": 1}, id="deep"),
        pytest.param("list", [f"Bearer {JWT}"], ["Bearer [redacted]"], id="in a list"),
        pytest.param("count", 7, 7, id="a number stays one"),
        pytest.param("tokens", 7, 7, id="a count of tokens is no token"),
    ],
)
def test_credentials_do_not_get_out(field: str, value: object, shown: object) -> None:
    assert redact(None, "info", {field: value}) == {field: shown}


@given(st.text(), st.text())
def test_a_json_line_is_one_printable_line_whatever_is_said(event: str, value: str) -> None:
    line = to_json(None, "info", redact(None, "info", {"event": event, "value": value}))
    assert line.isascii()
    assert line.isprintable()


@given(st.text(), st.text())
def test_a_line_for_people_cannot_be_forged(event: str, value: str) -> None:
    line = to_text(None, "info", {"event": event, "value": value, "level": "info"})
    assert line.isprintable()
    assert line.endswith(("value=" + value, "value=" + json.dumps(value)))


def test_a_traceback_for_people_keeps_its_lines() -> None:
    told = {"event": "failed", "exception": "Traceback:\n  here\x1b[2J", "level": "error"}
    assert to_text(None, "error", told).splitlines()[1:] == [
        "    Traceback:",
        "      here\\u001b[2J",
    ]


def test_a_value_is_cut_before_anything_looks_at_it() -> None:
    shown = redact(None, "info", {"text": "x" * 1_000_000})["text"]
    assert len(shown) < 20_000
