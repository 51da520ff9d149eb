# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.yamls import documents
from trellis import __version__
from trellis.cli.main import app

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


@pytest.mark.parametrize("command", ["up", "demo"])
def test_what_does_not_exist_yet_says_so_and_fails(command: str) -> None:
    result = CliRunner().invoke(app, [command])
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "has no embedded cluster yet" in result.stderr
    assert result.stderr.count("\n") == 1


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
