# SPDX-License-Identifier: Apache-2.0
"""`docs/quickstart.md`, followed by the letter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e.examples.guides import ROOT, commands, typed
from tests.support.ups import TRELLIS, UP, Home, kubectl, up

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs" / "quickstart.md"


async def test_every_command_works_and_shows_something(tmp_path: Path) -> None:
    home = Home(tmp_path)
    programs = f"{TRELLIS.parent}:{kubectl().parent}:{home.environment['PATH']}"
    environment = home.environment | {"PATH": programs, "KUBECONFIG": str(home.kubeconfig())}
    told: dict[str, str] = {}
    async with up(home) as cluster:
        await cluster.until_said(UP)
        for command in commands(PAGE):
            told[command] = await typed(command, environment)
        assert await cluster.process.wait() == 0, "the last one stops it"
    assert all(told.values())
    assert "4 Insufficient nvidia.com/gpu" in "".join(told.values())
    assert told["trellis down"].endswith("default is stopped\n")
