# SPDX-License-Identifier: Apache-2.0
"""`trellis wait`: the start-order waiter, as the list of commands tells of it.

`trellis.cli.main` goes straight to the waiter, which does not need what parses commands.
"""

from __future__ import annotations

from typing import Annotated

import typer

from trellis.waiter.run import main


def wait(
    podcliques: Annotated[
        list[str],
        typer.Option(
            metavar="NAME:NUMBER", help="A PodClique, and how many of its pods. Repeatable."
        ),
    ],
) -> None:
    """Wait until other PodCliques of the set have enough pods ready; runs in pods."""
    raise typer.Exit(main([f"--podcliques={one}" for one in podcliques]))
