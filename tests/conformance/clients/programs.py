# SPDX-License-Identifier: Apache-2.0
"""Which kubectls there are on this machine: the lab's own, and those of other minors."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
from pathlib import Path

from trellis.lab.build import built
from trellis.lab.errors import LabError
from trellis.lab.source import source

MINORS = ("1.32", "1.36")


def kubectl(minor: str) -> Path | None:
    """Looked for beside the machine's kubectl too, where Google's dispatcher keeps a matrix."""
    return next((found for found in _candidates(minor) if _minor(found) == minor), None)


def _candidates(minor: str) -> list[Path]:
    found = []
    with contextlib.suppress(LabError):
        found.append(built(source(None)).kubectl)
    if program := shutil.which("kubectl"):
        own = Path(program).resolve()
        found += [own.with_name(f"kubectl.{minor}"), own]
    return [program for program in found if program.exists()]


def _minor(program: Path) -> str:
    said = subprocess.run(
        [program, "version", "--client", "-o", "json"], capture_output=True, check=True
    )
    version: str = json.loads(said.stdout)["clientVersion"]["gitVersion"]
    return ".".join(version.removeprefix("v").split(".")[:2])
