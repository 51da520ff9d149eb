# SPDX-License-Identifier: Apache-2.0
"""Who tests the tester: bugs that are put into a copy of the source, and must be found.

A mutant is a patch under `mutants/`. Its lines are looked for wherever they stand now, so that it
keeps its meaning while the source moves; one that no longer fits is an error, never a pass.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).with_name("mutants")
ROOT = Path(__file__).parents[2]
MOST_SCHEDULES = 2000
_SECONDS = 3600
_FILE = re.compile(r"^\+\+\+ b/(?P<path>\S+)", re.MULTILINE)
_FOUND_BY = "Found by: "
_HUNK = re.compile(r"^@@.*$", re.MULTILINE)


class DoesNotFit(ValueError):
    """The source has changed so that the patch means nothing any more."""


@dataclass(frozen=True, slots=True)
class Hunk:
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """One bug. `why` says which of the field's bugs it is, or by which rule it was made.

    `finder` is the name of the story that finds it first.
    """

    name: str
    why: str
    finder: str
    path: str
    hunks: tuple[Hunk, ...]

    def applied(self, text: str) -> str:
        for hunk in self.hunks:
            if text.count(hunk.old) != 1:
                raise DoesNotFit(
                    f"{self.name}: these lines are {text.count(hunk.old)} times in {self.path}, "
                    f"and must be there once:\n{hunk.old}"
                )
            text = text.replace(hunk.old, hunk.new)
        return text


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a hunt ended with. No finding: it got away."""

    schedules: int
    story: str = ""
    finding: str = ""


def mutants(folder: Path = FOLDER) -> Iterator[Mutant]:
    for path in sorted(folder.glob("*.patch")):
        yield read(path.stem, path.read_text())


def read(name: str, text: str) -> Mutant:
    head, _, rest = text.partition("--- a/")
    said = [line.removeprefix("#").strip() for line in head.splitlines()]
    why = " ".join(line for line in said if not line.startswith(_FOUND_BY))
    finder = "".join(line.removeprefix(_FOUND_BY) for line in said if line.startswith(_FOUND_BY))
    found = _FILE.search(rest)
    if found is None:
        raise DoesNotFit(f"{name}: it names no file")
    hunks = tuple(_hunk(body) for body in _HUNK.split(rest[found.end() :])[1:])
    return Mutant(name, why, finder, found["path"], hunks)


def planted(mutant: Mutant, into: Path) -> Path:
    """A copy of the source with the bug in it; returns what to put on the path of Python."""
    source = into / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    file = into / mutant.path
    file.write_text(mutant.applied(file.read_text()))
    return source


def hunted(mutant: Mutant, into: Path, most: int = MOST_SCHEDULES) -> Found:
    """Tells stories to the mutant, in a process of its own, until one of them finds it."""
    return _told(mutant, into, "--most", str(most))


def met(mutant: Mutant, into: Path) -> Found:
    """Tells it only the story by which it was found."""
    return _told(mutant, into, "--story", mutant.finder)


def _told(mutant: Mutant, into: Path, *chosen: str) -> Found:
    source = planted(mutant, into)
    outcome = subprocess.run(
        [sys.executable, "-m", "tests.sim", "hunt", *chosen],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=False,
        timeout=_SECONDS,
    )
    if outcome.returncode not in (0, 1):
        said = outcome.stderr.decode(errors="replace").strip().splitlines()
        raise RuntimeError(f"{mutant.name}: the hunt itself failed: {said[-1:]}")
    return msgspec.json.decode(outcome.stdout.splitlines()[-1], type=Found)


def _hunk(body: str) -> Hunk:
    lines = [line for line in body.split("\n") if line[:1] in (" ", "-", "+")]
    old = "\n".join(line[1:] for line in lines if line[0] in " -")
    new = "\n".join(line[1:] for line in lines if line[0] in " +")
    return Hunk(old, new)
