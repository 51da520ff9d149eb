# SPDX-License-Identifier: Apache-2.0
"""`trellis down`: stops a cluster that `trellis up` started, and waits until it is gone."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from trellis.cli.failure import BAD_INPUT, fail
from trellis.cli.progress import Progress
from trellis.embedded import place as places
from trellis.embedded.place import Place

# Longer than everything that stops in order may take together.
PATIENCE_SECONDS = 30.0
_POLL_SECONDS = 0.05


def down(
    name: Annotated[
        str | None, typer.Argument(help="Which one. Not needed if only one is running.")
    ] = None,
) -> None:
    """Stop a cluster that `trellis up` started."""
    root = places.state_root(os.environ)
    try:
        place = _named(root, name) if name else _only(root)
    except (places.BadName, places.NoPlace) as error:
        fail(str(error), BAD_INPUT)
    if place is not None:
        _stop(root, place)


def _named(root: Path, name: str) -> Place | None:
    """None: it does not run, which is what was wanted."""
    place = places.look(root, name)
    if place is not None and place.alive:
        return place
    if place is not None:
        places.sweep(root, name)
        print(f"{name} was not running any more; what it had left is removed", file=sys.stderr)
        return None
    others = ", ".join(places.names(root)) or "nothing"
    print(f"{name} is not running; {others} is", file=sys.stderr)
    return None


def _only(root: Path) -> Place | None:
    found = places.names(root)
    if len(found) > 1:
        fail(
            f"several are running: {', '.join(found)}; name one: trellis down {found[0]}", BAD_INPUT
        )
    if not found:
        print("nothing is running", file=sys.stderr)
        return None
    return places.look(root, found[0])


def _stop(root: Path, place: Place) -> None:
    if not place.pid:
        fail(f"{place.folder} does not say which process it is; end it where it was started")
    progress = Progress()
    os.kill(place.pid, signal.SIGTERM)
    while progress.seconds < PATIENCE_SECONDS:
        now = places.look(root, place.name)
        if now is None or not now.alive or now.pid != place.pid:
            progress.clear()
            print(f"{place.name} is stopped")
            return
        progress(f"waiting for {place.name}, process {place.pid}, to end")
        time.sleep(_POLL_SECONDS)
    progress.end()
    fail(
        f"{place.name}, process {place.pid}, is still there after {PATIENCE_SECONDS:.0f} s;"
        f" see {place.log}, or end it at once with: kill -9 {place.pid}"
    )
