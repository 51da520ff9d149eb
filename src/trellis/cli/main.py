# SPDX-License-Identifier: Apache-2.0
"""The `trellis` command: parses, and hands over to one file a command."""

from __future__ import annotations

import typer

from trellis import __version__
from trellis.cli import crds, demo, lab, operator, up

app = typer.Typer(
    name="trellis",
    help="A GPU workload control plane for Kubernetes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(up.up)
app.command()(demo.demo)
app.command()(operator.operator)
app.command()(crds.crds)
app.add_typer(lab.app, name="lab")


@app.command()
def version() -> None:
    """Print the version."""
    print(__version__)


def main() -> None:
    app()
