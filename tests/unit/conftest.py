# SPDX-License-Identifier: Apache-2.0
"""Unit tests reach no network: a test that tries is wrong, not slow."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refuse(*_: object) -> NoReturn:
        pytest.fail("a unit test opened a connection")

    with monkeypatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        yield
