# SPDX-License-Identifier: Apache-2.0
"""Runs the scripts of Python clients, each in a process of its own, and keeps what they said."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.conformance.clients.plain import plain_value
from tests.support.namespaces import fresh_namespace

if TYPE_CHECKING:
    from tests.support.cluster import Cluster

SCRIPTS = {"kubernetes": "official.py", "kr8s": "kr8s_calls.py"}
SECONDS = 120.0


async def called(cluster: Cluster, module: str) -> dict[str, Any]:
    """What each call gave, by its name."""
    script = Path(__file__).parent / SCRIPTS[module]
    async with fresh_namespace(cluster.api) as namespace:
        code, said = await _python(str(script), str(cluster.kubeconfig), namespace)
    assert code == 0, said
    found: dict[str, Any] = plain_value(json.loads(said), {namespace: "<ns>"})
    return found


async def _python(*arguments: str) -> tuple[int | None, str]:
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryDirectory() as home:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *arguments),
            # Nothing of this environment, nor what an earlier run found out about another server.
            env={"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home},
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
        )
        async with asyncio.timeout(SECONDS):
            out, _ = await process.communicate()
        errors.seek(0)
        said = out if process.returncode == 0 else out + errors.read()
    return process.returncode, said.decode()
