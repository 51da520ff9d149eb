# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys

import pytest

from trellis.waiter.arguments import Parent, parsed


@pytest.mark.parametrize(
    ("arguments", "parents"),
    [
        pytest.param(["--podcliques=train-0-leader:1"], [("train-0-leader", 1)], id="one"),
        pytest.param(["--podcliques", "a:2"], [("a", 2)], id="in two words"),
        pytest.param(
            ["--podcliques=a:1", "--podcliques=b:3"], [("a", 1), ("b", 3)], id="in their order"
        ),
        pytest.param(
            ["--podcliques=a:1", "--podcliques=b:1", "--podcliques=a:2"],
            [("a", 2), ("b", 1)],
            id="the greater need of one that is named twice",
        ),
    ],
)
def test_parents_are_read(arguments: list[str], parents: list[tuple[str, int]]) -> None:
    assert parsed(arguments) == tuple(Parent(*one) for one in parents)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param([], "--podcliques", id="nobody to wait for"),
        pytest.param(["--podcliques=a"], "'a' names no PodClique", id="no number"),
        pytest.param(["--podcliques=a:-1"], "'a:-1' names no PodClique", id="below zero"),
        pytest.param(["--podcliques=a:1:2"], "names no PodClique", id="two numbers"),
        pytest.param(["--podcliques=a/../b:1"], "names no PodClique", id="a path"),
        pytest.param(["--podcliques=A:1"], "names no PodClique", id="upper case"),
        pytest.param(
            ["--podcliques=a:\u0661"], "names no PodClique", id="digits of another script"
        ),
        pytest.param(["--pod=a:1"], "--podcliques", id="a shortened option"),
    ],
)
def test_what_cannot_be_read_ends_it_with_a_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["-m", "trellis.waiter"], id="as a module"),
        pytest.param(["-m", "trellis.cli", "wait"], id="as a command"),
    ],
)
def test_it_says_that_it_is_in_no_cluster(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, *command, "--podcliques=a:1"],
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "KUBERNETES_SERVICE_HOST '' and KUBERNETES_SERVICE_PORT '443'" in done.stdout


@pytest.mark.parametrize(
    "run",
    [
        pytest.param("import trellis.waiter.run", id="its modules"),
        pytest.param(
            "from trellis.cli.main import main; sys.argv = ['trellis', 'wait', '-h'];\n"
            "try: main()\nexcept SystemExit: pass",
            id="the command",
        ),
    ],
)
def test_it_reads_nothing_beyond_the_standard_library(run: str) -> None:
    """Thousands of pods start it at once, in images that may hold little else."""
    code = f"import sys\n{run}\n"
    code += "known = sys.stdlib_module_names | {'trellis', '__main__'}\n"
    code += "rooms = {m.split('.')[1] for m in sys.modules if m.startswith('trellis.')}\n"
    # What the environment loads for itself, such as coverage, is there before us.
    code += "print(sorted({m.split('.')[0] for m in sys.modules} - known - before), sorted(rooms))"
    code = "import sys; before = {m.split('.')[0] for m in sys.modules}\n" + code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    others, rooms = done.stdout.splitlines()[-1].split("] ")
    assert others == "["
    assert rooms in ("['waiter']", "['cli', 'waiter']")
