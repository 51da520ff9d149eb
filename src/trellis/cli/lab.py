# SPDX-License-Identifier: Apache-2.0
"""`trellis lab`: the real control plane, built once and kept in the cache."""

from __future__ import annotations

from typing import Annotated

import typer

from trellis.cli.failure import fail
from trellis.cli.progress import Progress
from trellis.lab import build as building
from trellis.lab.errors import LabError
from trellis.lab.source import source

app = typer.Typer(help="The real Kubernetes control plane on this machine.", no_args_is_help=True)


@app.callback()
def lab() -> None:
    """The real Kubernetes control plane on this machine."""


Release = Annotated[
    str | None, typer.Option(help="A release other than the pinned one, such as 1.32.13.")
]


@app.command()
def path(kubernetes: Release = None) -> None:
    """Print where the control plane is, if it is built."""
    try:
        print(building.built(source(kubernetes)).path)
    except LabError as error:
        fail(str(error))


@app.command()
def build(kubernetes: Release = None) -> None:
    """Build the control plane once; print where it is."""
    progress = Progress()
    try:
        binary = building.build(source(kubernetes), progress)
    except LabError as error:
        progress.end()
        fail(str(error))
    progress.end()
    print(f"lab ready: Kubernetes {binary.kubernetes}, {binary.path}")
