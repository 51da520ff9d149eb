# SPDX-License-Identifier: Apache-2.0
"""`trellis up`: a cluster on this machine until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from trellis.cli.failure import fail
from trellis.lab.build import Binary, built
from trellis.lab.cluster import Lab, Place, running
from trellis.lab.components import Settings
from trellis.lab.errors import LabError
from trellis.lab.source import source

NO_EMBEDDED_CLUSTER = (
    "this version has no embedded cluster yet; for a real Kubernetes control plane on this "
    "machine: trellis lab build, then trellis up --real"
)
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
NO_OPERATOR = "note: this version has no operator yet; the cluster starts without one"


def up(  # noqa: PLR0913, PLR0917  each is an option that a user reads in --help
    real: Annotated[
        bool, typer.Option("--real", help="The real Kubernetes control plane (see `lab build`).")
    ] = False,
    name: Annotated[str | None, typer.Option(help="Name it, to tell several apart.")] = None,
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Write the kubeconfig here, once the API answers.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Keep objects and keys in this folder between runs.")
    ] = None,
    operator: Annotated[
        bool, typer.Option("--operator/--no-operator", help="Start the operator too.")
    ] = True,
    feature_gates: Annotated[
        str, typer.Option(help="For every component, as Kubernetes takes them: A=true,B=false.")
    ] = "",
    runtime_config: Annotated[
        str, typer.Option(help="For kube-apiserver: resource.k8s.io/v1beta2=true,…")
    ] = "",
    audit: Annotated[bool, typer.Option("--audit", help="Write an audit log.")] = False,
    kubernetes: Annotated[
        str | None, typer.Option(help="A release other than the pinned one, such as 1.32.13.")
    ] = None,
) -> None:
    """Start a cluster on this machine and keep it up until Ctrl-C."""
    if not real:
        fail(NO_EMBEDDED_CLUSTER)
    if operator:
        print(NO_OPERATOR, file=sys.stderr)
    place = Place(name=name, kubeconfig=kubeconfig, data=data)
    try:
        binary = built(source(kubernetes))
        settings = Settings(
            kubernetes=binary.kubernetes,
            feature_gates=_listed(feature_gates),
            runtime_config=_listed(runtime_config),
            audit=audit,
            durable=data is not None,
        )
        asyncio.run(_serve(binary, settings, place))
    except LabError as error:
        fail(str(error))


async def _serve(binary: Binary, settings: Settings, place: Place) -> None:
    """Runs until a signal or a failure. Leaving the block stops the lab in order, so the first
    signal only leaves it, during the start too; a second one changes nothing."""
    loop = asyncio.get_running_loop()
    serving = asyncio.create_task(_until_failure(binary, settings, place))

    def leave() -> None:
        for number in _SIGNALS:
            loop.add_signal_handler(number, lambda: None)
        print("stopping …", file=sys.stderr, flush=True)
        serving.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, leave)
    with contextlib.suppress(asyncio.CancelledError):
        await serving


async def _until_failure(binary: Binary, settings: Settings, place: Place) -> None:
    started = time.monotonic()
    print(f"starting Kubernetes {binary.kubernetes} …", file=sys.stderr, flush=True)
    async with running(binary, settings, place) as lab:
        _announce(lab, time.monotonic() - started)
        raise await lab.failure()


def _announce(lab: Lab, seconds: float) -> None:
    print(
        f"Kubernetes {lab.binary.kubernetes} is up after {seconds:.1f} s: "
        f"{lab.name}, {lab.server}\n"
        f"  export KUBECONFIG={lab.kubeconfig}\n"
        f"  {lab.kubectl} get namespaces\n"
        f"  logs are in {lab.folder}; Ctrl-C stops it",
        flush=True,
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
