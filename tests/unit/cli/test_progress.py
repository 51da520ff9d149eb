# SPDX-License-Identifier: Apache-2.0
"""Progress where there is no terminal. On one, it is seen in `tests/e2e/cli`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.cli.progress import Progress

if TYPE_CHECKING:
    import pytest


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line.split("] ", 1)[1] for line in capsys.readouterr().err.splitlines()]


def test_a_step_is_a_line_however_far_it_has_come(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    for message in ("nodes: 1 of 9", "nodes: 2 of 9", "pods: 1 of 9"):
        progress(message)
    progress.end()
    assert lines(capsys) == ["nodes: 1 of 9", "pods: 1 of 9"]
    assert progress.last == "pods: 1 of 9"


def test_each_change_is_a_line_where_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(each=True)
    for message in ("wl: 1 of 9", "wl: 1 of 9", "wl: 2 of 9"):
        progress(message)
    progress.clear()
    assert lines(capsys) == ["wl: 1 of 9", "wl: 2 of 9"]
