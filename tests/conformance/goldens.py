# SPDX-License-Identifier: Apache-2.0
"""Goldens: what the real server was seen to do, one file an area, one folder a minor."""

from __future__ import annotations

import difflib
import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.conformance.runner import Seen

FOLDER = Path(__file__).parent / "goldens"
MAX_DIFF_LINES = 60

Observations = list[dict[str, Any]]


def read(minor: str, folder: Path = FOLDER) -> dict[str, Observations]:
    """All goldens of a minor such as `1.36`, by the probe's key."""
    found: dict[str, Observations] = {}
    for file in sorted((folder / minor).glob("*.json")):
        for title, observations in json.loads(file.read_text()).items():
            found[f"{file.stem}: {title}"] = observations
    return found


def write(minor: str, seen: Iterable[Seen], folder: Path = FOLDER) -> list[Path]:
    """Writes the goldens of the areas that were seen, whole files at a time."""
    areas: dict[str, dict[str, Observations]] = defaultdict(dict)
    for outcome in sorted(seen, key=lambda one: one.probe.key):
        areas[outcome.probe.area][outcome.probe.title] = outcome.observations
    target = folder / minor
    target.mkdir(parents=True, exist_ok=True)
    files = []
    for area, observations in sorted(areas.items()):
        file = target / f"{area}.json"
        file.write_text(text(observations))
        files.append(file)
    return files


def difference(golden: Observations, seen: Observations) -> str | None:
    """What differs, as a diff a person can read; None if nothing does."""
    before, after = text(golden), text(seen)
    if before == after:
        return None
    lines = list(
        difflib.unified_diff(
            before.splitlines(), after.splitlines(), "golden", "seen", lineterm="", n=4
        )
    )
    more = len(lines) - MAX_DIFF_LINES
    return "\n".join(lines[:MAX_DIFF_LINES] + ([f"… {more} lines more"] if more > 0 else []))


def text(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
