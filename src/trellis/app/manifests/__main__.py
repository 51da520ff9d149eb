# SPDX-License-Identifier: Apache-2.0
"""Writes the manifests into `deploy`, or into the folder that is named: `make gen`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from trellis.app import wiring
from trellis.app.manifests.bundle import files
from trellis.app.manifests.installation import Installation

if TYPE_CHECKING:
    from trellis.app.manifests.declarations import Component

FOLDER = Path(__file__).parents[4] / "deploy"


def components() -> tuple[Component, ...]:
    """What is shipped: all that is wired."""
    return tuple(part.component for part in wiring.parts())


def main(folder: Path = FOLDER) -> None:
    for name, text in files(components(), Installation()).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"{folder.name}/{name}: {len(text)} bytes")  # noqa: T201


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
