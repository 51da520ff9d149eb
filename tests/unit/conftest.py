# SPDX-License-Identifier: Apache-2.0
"""Unit tests reach no network: a test that tries is wrong, not slow."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, NoReturn

import pytest
import structlog

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Console:
    """Prints where standard output is now: it is another one in every test."""

    def msg(self, message: str) -> None:
        print(message)

    debug = info = warning = error = critical = exception = log = msg


@pytest.fixture(autouse=True, scope="session")
def _plain_logs() -> None:
    """As they come, a traceback is drawn with its source and its variables: half a second each."""
    structlog.configure(
        [
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(),
        ],
        logger_factory=lambda *_: _Console(),
    )


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refuse(*_: object) -> NoReturn:
        pytest.fail("a unit test opened a connection")

    with monkeypatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        yield
