# SPDX-License-Identifier: Apache-2.0
"""`docs/quickstart.md`, followed by the letter: every command of it that is marked as typed."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.ups import TRELLIS, UP, Home, kubectl, up

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "quickstart.md"


def commands() -> Iterator[str]:
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL):
        yield from (line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ "))


async def typed(home: Home, command: str) -> str:
    """In a shell, as a person does, in the folder of the checkout."""
    programs = f"{TRELLIS.parent}:{kubectl().parent}:{home.environment['PATH']}"
    process = await asyncio.create_subprocess_shell(
        command,
        cwd=ROOT,
        env=home.environment | {"PATH": programs, "KUBECONFIG": str(home.kubeconfig())},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, f"{command}: {output.decode()}"
    return output.decode()


async def test_every_command_works_and_shows_something(tmp_path: Path) -> None:
    home = Home(tmp_path)
    told: dict[str, str] = {}
    async with up(home) as cluster:
        await cluster.until_said(UP)
        for command in commands():
            told[command] = await typed(home, command)
        assert await cluster.process.wait() == 0, "the last one stops it"
    assert all(told.values())
    assert "4 Insufficient nvidia.com/gpu" in "".join(told.values())
    assert told["trellis down"].endswith("default is stopped\n")
