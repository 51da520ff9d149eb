# SPDX-License-Identifier: Apache-2.0
"""What a stranger relies on in a fresh clone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = ["requirements.txt", "requirements-dev.txt"]
TARGETS = ["install", "demo", "run", "test", "lab", "test-lab", "bench", "gen", "help"]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_requirement_has_a_version_and_hashes(lock: str) -> None:
    entries = (ROOT / lock).read_text().replace("\\\n", " ").splitlines()
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9.-]+==\S+ ", entry), entry
        assert "--hash=sha256:" in entry, entry


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_index(lock: str) -> None:
    assert not re.search(r"https?://|--(extra-)?index-url|--find-links", (ROOT / lock).read_text())


def test_what_runs_is_locked_the_same_in_development() -> None:
    runtime, development = (
        set(re.findall(r"^([a-z0-9.-]+==\S+)", (ROOT / lock).read_text(), re.MULTILINE))
        for lock in LOCKS
    )
    assert runtime < development


def test_help_lists_every_promised_target() -> None:
    said = subprocess.run(
        ["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    listed = set(re.findall(r"make ([a-z-]+)", said.stdout))
    assert set(TARGETS) <= listed


def test_the_readme_gives_commands_that_exist_and_ci_runs_its_tests() -> None:
    readme = (ROOT / "README.md").read_text()
    makefile = (ROOT / "Makefile").read_text()
    commands = set(re.findall(r"make ([a-z-]+)", readme))
    assert {"run", "test"} <= commands
    assert all(f"\n{target}:" in makefile for target in commands)
    assert "make test" in (ROOT / ".ci" / "run").read_text()
