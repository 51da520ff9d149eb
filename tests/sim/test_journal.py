# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import structlog
from structlog.testing import capture_logs

from tests.sim.journal import listening
from trellis.instruments.logs import logger

if TYPE_CHECKING:
    from collections.abc import Iterator

LOG = logger(__name__)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = structlog.get_config()
    yield
    structlog.configure(**before)


def test_errors_are_heard_though_others_have_said_where_logs_go() -> None:
    structlog.configure(cache_logger_on_first_use=False)
    heard: list[str] = []
    for _ in range(2):
        with listening(lambda _, what: heard.append(what)):
            LOG.warning("nothing to hear")
            LOG.error("broken", why="a mistake")
    assert [one.partition(" ")[0] for one in heard] == ["broken", "broken"]


@pytest.mark.parametrize("configured", [False, True])
def test_afterwards_others_hear_what_they_heard_before(configured: bool) -> None:
    structlog.reset_defaults()
    if configured:
        structlog.configure(cache_logger_on_first_use=False)
    with listening(lambda *_: None):
        LOG.error("theirs")
    assert structlog.is_configured() is configured
    with capture_logs() as logs:
        LOG.warning("ours")
    assert [one["event"] for one in logs] == ["ours"]
