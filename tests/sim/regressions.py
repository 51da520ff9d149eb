# SPDX-License-Identifier: Apache-2.0
"""Stories that once failed, kept for ever: each is a file that can be told again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tests.sim.story import Story

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).with_name("regressions")


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """`found` is what did not hold; `note` says why, once somebody knows."""

    story: Story
    found: tuple[str, ...]
    note: str = ""


def keep(kept: Kept, name: str, folder: Path = FOLDER) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(kept, order="sorted"), indent=2))
    return path


def all_kept(folder: Path = FOLDER) -> Iterator[tuple[str, Kept]]:
    for path in sorted(folder.glob("*.json")):
        yield path.stem, read(path)


def read(path: Path) -> Kept:
    return msgspec.json.decode(path.read_bytes(), type=Kept)
