# SPDX-License-Identifier: Apache-2.0
"""What clients printed when the real server answered them: a file a client, a folder a minor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parent / "transcripts"


def read(minor: str, client: str) -> dict[str, Any]:
    file = FOLDER / minor / f"{client}.json"
    found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return found


def write(minor: str, client: str, told: Mapping[str, Any]) -> Path:
    file = FOLDER / minor / f"{client}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    return file
