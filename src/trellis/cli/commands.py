# SPDX-License-Identifier: Apache-2.0
"""Every command of `trellis`, as it is told to users and parsed; one file a command.

A command's file is read only when that command is meant: all of them together take longer to read
than most of them to run.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from trellis import __version__
from trellis.cli.attached import follow_parent

# In the order in which they are told to users. Each is a function of its file, or an `app`.
COMMANDS = {
    "up": "Start a cluster with simulated GPU nodes on this machine; it is up until Ctrl-C.",
    "down": "Stop a cluster that `trellis up` started.",
    "demo": "A tour on a cluster with simulated GPU nodes; not interactive, ends by itself.",
    "rollout": "How the update of a PodCliqueSet goes.",
    "sim": "Simulated nodes, and faults in them.",
    "operator": "Run the controllers and webhooks.",
    "crds": "Print the CustomResourceDefinitions: trellis crds | kubectl apply -f -",
    "lab": "The real Kubernetes control plane on this machine.",
    "wait": "Wait until other PodCliques of the set have enough pods ready; runs in pods.",
}
_PLAIN: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class Commands(TyperGroup):
    """Typer carries a click of its own, whose types cannot be named."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*COMMANDS, *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        file = import_module(f"trellis.cli.{cmd_name}")
        alone = getattr(file, "app", None)
        if alone is None:
            alone = typer.Typer(**_PLAIN)
            alone.command()(getattr(file, cmd_name))
        command = typer.main.get_command(alone)
        command.name = cmd_name
        return command

    def format_commands(self, _: Any, formatter: Any) -> None:
        """Without reading the files of all of them."""
        own = [(name, one.get_short_help_str()) for name, one in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items(), *own])


app = typer.Typer(
    name="trellis",
    cls=Commands,
    help="A GPU workload control plane for Kubernetes.",
    no_args_is_help=True,
    **_PLAIN,
)


@app.callback()
def trellis() -> None:
    """A GPU workload control plane for Kubernetes."""


@app.command()
def version() -> None:
    """Print the version."""
    print(__version__)


def run() -> None:
    follow_parent()
    app()
