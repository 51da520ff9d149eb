# SPDX-License-Identifier: Apache-2.0
"""`trellis lab`: the real control plane, built once and kept in the cache."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from trellis.cli.failure import fail
from trellis.lab import build as building
from trellis.lab.errors import LabError
from trellis.lab.source import source

app = typer.Typer(help="The real Kubernetes control plane on this machine.", no_args_is_help=True)
_QUIET_SECONDS = 30.0


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


class Progress:
    """One line that changes on a terminal; elsewhere a line now and then, and at each new step."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._last = -_QUIET_SECONDS
        self._step = ""
        self._open = False

    def __call__(self, message: str) -> None:
        now = time.monotonic()
        line = f"[{now - self._start:4.0f} s] {message}"
        if sys.stderr.isatty():
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
            self._open = True
            return
        step = message.split(":", 1)[0]
        if step != self._step or now - self._last >= _QUIET_SECONDS:
            print(line, file=sys.stderr, flush=True)
            self._step, self._last = step, now

    def end(self) -> None:
        if self._open:
            print(file=sys.stderr)
            self._open = False
