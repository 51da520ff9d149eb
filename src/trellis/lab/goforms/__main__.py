# SPDX-License-Identifier: Apache-2.0
"""python -m trellis.lab.goforms: needs Go and the modules of the lab, as `make lab` has them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from trellis.lab.source import lay_out, source

PROGRAM = Path(__file__).with_name("main.go")
# A path and no import: the two rooms are neighbours.
TARGET = Path(__file__).parents[2] / "embedded" / "natives" / "goforms.json"
SETTINGS = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}


def main() -> None:
    go = shutil.which("go")
    if go is None:
        sys.exit("goforms: no Go on the PATH: install it, or leave the data as it is")
    with tempfile.TemporaryDirectory() as folder:
        lay_out(source(), Path(folder))
        shutil.copy(PROGRAM, Path(folder) / PROGRAM.name)
        made = subprocess.run(
            [go, "run", "."],
            cwd=folder,
            env={**os.environ, **SETTINGS},
            stdout=subprocess.PIPE,
            check=True,
        )
    TARGET.write_bytes(made.stdout)
    print(f"{TARGET.name}: {len(made.stdout)} bytes")  # noqa: T201


main()
