# SPDX-License-Identifier: Apache-2.0
"""Pages of `docs/`, followed by the letter: every command of them that is marked as typed."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parents[3]
_CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


def commands(page: Path) -> Iterator[str]:
    for block in _CONSOLE.findall(page.read_text()):
        yield from (line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ "))


async def typed(command: str, environment: Mapping[str, str]) -> str:
    """In a shell, as a person does, in the folder of the checkout."""
    process = await asyncio.create_subprocess_shell(
        command,
        cwd=ROOT,
        env=dict(environment),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, f"{command}: {output.decode()}"
    return output.decode()
