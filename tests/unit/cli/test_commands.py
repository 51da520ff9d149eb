# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.yamls import documents
from trellis import __version__
from trellis.cli.commands import COMMANDS, app

CRDS = Path(__file__).parents[3] / "deploy" / "crds"


def test_the_version_is_printed() -> None:
    result = CliRunner().invoke(app, ["version"])
    assert (result.exit_code, result.stdout) == (0, f"{__version__}\n")


def test_the_crds_are_printed_as_they_are_shipped() -> None:
    result = CliRunner().invoke(app, ["crds"])
    assert result.exit_code == 0
    printed = documents(result.stdout)
    shipped = [crd for file in CRDS.glob("*.yaml") for crd in documents(file.read_text())]
    by_name = {crd["metadata"]["name"]: crd for crd in shipped}
    assert {crd["metadata"]["name"]: crd for crd in printed} == by_name


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_of_each_what_it_says_itself(name: str) -> None:
    result = CliRunner().invoke(app, [name, "--help"])
    assert result.exit_code == 0
    assert COMMANDS[name] in " ".join(result.stdout.split())


def test_the_list_of_commands_is_told_without_reading_them_all() -> None:
    code = "import sys; from trellis.cli.commands import app; app(['-h'], standalone_mode=False);"
    code += "sys.exit(any(m in sys.modules for m in ('aiohttp', 'trellis.embedded', 'msgspec')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in (*COMMANDS, "version"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["--real", "--nodes", "3"], "--nodes is of no use with --real", id="nodes"),
        pytest.param(["--audit"], "--audit is of no use without --real", id="audit"),
        pytest.param(["--fsync"], "--fsync is of no use without --data", id="fsync"),
        pytest.param(
            ["--no-operator", "--config", "x"],
            "--config is of no use with --no-operator",
            id="config",
        ),
        pytest.param(["--name", "Me"], "'Me' is no name; use at most 40 lower case", id="name"),
        pytest.param(["--config", "/none"], "/none: cannot be read", id="no config"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    result = CliRunner().invoke(app, ["up", *arguments])
    assert result.exit_code == 2
    assert result.stdout == ""
    *_, last = result.stderr.splitlines()
    assert last.startswith(f"trellis: {said}")
    assert not list((tmp_path / "trellis").glob("*/")), "nothing is left behind"


def test_a_lab_that_is_not_built_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for arguments in (["lab", "path"], ["up", "--real", "--no-operator"]):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 1
        assert "is not built: make lab" in result.stderr
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["up", "--real", "--kubernetes", "1.30.1"], "1.32 or later", id="too old"),
        pytest.param(
            ["lab", "build", "--kubernetes", "newest"], "give a release such as", id="no release"
        ),
    ],
)
def test_a_release_that_cannot_be_had_is_named_in_one_line(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert said in result.stderr
    assert "Traceback" not in result.stderr
