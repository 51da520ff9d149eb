# SPDX-License-Identifier: Apache-2.0
"""The wheel, built here and installed into an environment elsewhere: nothing may be missing."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.e2e.app.operators import a_configuration, free_ports
from trellis import __version__
from trellis.api.schema.generate import files

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src"


def run(*command: str | Path, within: Path) -> str:
    """What it printed; nothing of this checkout may help it."""
    clean = {"PATH": "/usr/bin:/bin", "HOME": str(within), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        command, cwd=within, env=clean, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, within=ROOT)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel, and with what it depends on from here."""
    folder = tmp_path_factory.mktemp("elsewhere")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", within=folder)
    programs = folder / "venv" / "bin"
    python = programs / "python"
    offline = ("--no-deps", "--no-index", "--no-compile", "--quiet")
    run(
        *(sys.executable, "-m", "pip", "--python", python, "install", *offline, wheel),
        within=folder,
    )
    packages = Path(
        run(
            python, "-c", "import sysconfig as s; print(s.get_path('purelib'))", within=folder
        ).strip()
    )
    # A line of a path adds that folder alone, and none of the checkouts that it may lead on to.
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return programs


def test_every_file_of_the_package_is_in_it(wheel: Path) -> None:
    found = (one.relative_to(SOURCE) for one in (SOURCE / "trellis").rglob("*") if one.is_file())
    # Tools leave their own beside it.
    there = {str(one) for one in found if not any(part[0] in "._" for part in one.parts[:-1])}
    with zipfile.ZipFile(wheel) as content:
        packed = {name for name in content.namelist() if name.startswith("trellis/")}
    assert there <= packed
    assert "trellis/lab/go/go.mod" in packed


def test_it_runs_elsewhere(installed: Path, tmp_path: Path) -> None:
    where = run(
        installed / "python", "-c", "import trellis; print(trellis.__file__)", within=tmp_path
    )
    assert Path(where).is_relative_to(installed.parent)
    trellis = installed / "trellis"
    assert run(trellis, "version", within=tmp_path) == f"{__version__}\n"
    assert run(trellis, "crds", within=tmp_path) == "---\n".join(text for _, text in files())
    config = a_configuration(tmp_path, free_ports())
    said = run(trellis, "operator", "--check-config", "--config", config, within=tmp_path)
    assert said == "the configuration is valid\n"
