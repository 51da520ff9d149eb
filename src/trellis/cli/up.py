# SPDX-License-Identifier: Apache-2.0
"""`trellis up`: a cluster on this machine until Ctrl-C. It only reads the options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trellis.cli.failure import BAD_INPUT, fail

LOOPBACK = "127.0.0.1"
_MOST_NODES = 100_000


def up(  # noqa: PLR0913, PLR0917  each is an option that a user reads in --help
    name: Annotated[str | None, typer.Option(help="Name it, to tell several apart.")] = None,
    fleet: Annotated[
        str | None,
        typer.Option(
            help="Which nodes: tiny (the default), nvl72, dgx-1k, dgx-10k, or a fleet file."
        ),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(min=0, max=_MOST_NODES, help="So many nodes of that fleet."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Keep objects and keys in this folder between runs.")
    ] = None,
    fsync: Annotated[
        bool, typer.Option("--fsync", help="With --data: outlive a power cut too. Slower.")
    ] = False,
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Write the kubeconfig here, once the API answers.")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = LOOPBACK,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen on. Any that is free: 0.")
    ] = 0,
    expose: Annotated[
        bool, typer.Option("--expose", help="Let --host be one that other machines can reach.")
    ] = False,
    operator: Annotated[
        bool, typer.Option("--operator/--no-operator", help="Start the operator too.")
    ] = True,
    config: Annotated[
        Path | None,
        typer.Option(help="The operator's configuration. Where it listens is decided here."),
    ] = None,
    example: Annotated[
        bool, typer.Option("--example/--no-example", help="Start something to look at.")
    ] = True,
    real: Annotated[
        bool, typer.Option("--real", help="The real Kubernetes control plane (see `lab build`).")
    ] = False,
    feature_gates: Annotated[
        str, typer.Option(help="With --real, for every component: A=true,B=false.")
    ] = "",
    runtime_config: Annotated[
        str, typer.Option(help="With --real, for kube-apiserver: resource.k8s.io/v1beta2=true,…")
    ] = "",
    audit: Annotated[
        bool, typer.Option("--audit", help="With --real: write an audit log.")
    ] = False,
    kubernetes: Annotated[
        str | None,
        typer.Option(help="With --real: a release other than the pinned one, such as 1.32.13."),
    ] = None,
) -> None:
    """Start a cluster with simulated GPU nodes on this machine; it is up until Ctrl-C."""
    only = {
        "--fleet": fleet is not None,
        "--nodes": nodes is not None,
        "--fsync": fsync,
        "--host": host != LOOPBACK,
        "--port": port != 0,
        "--expose": expose,
    }
    only_real = {
        "--feature-gates": bool(feature_gates),
        "--runtime-config": bool(runtime_config),
        "--audit": audit,
        "--kubernetes": kubernetes is not None,
    }
    for option, given in (only if real else only_real).items():
        if given:
            fail(f"{option} is of no use {'with' if real else 'without'} --real", BAD_INPUT)
    if config is not None and not operator:
        fail("--config is of no use with --no-operator", BAD_INPUT)
    if fsync and data is None:
        fail("--fsync is of no use without --data", BAD_INPUT)
    if real:
        from trellis.cli import up_real  # noqa: PLC0415  heavy, and the other one is not needed

        up_real.start(
            up_real.Wanted(
                name=name,
                kubeconfig=kubeconfig,
                data=data,
                operator=operator,
                config=config,
                feature_gates=feature_gates,
                runtime_config=runtime_config,
                audit=audit,
                kubernetes=kubernetes,
            )
        )
        return
    from trellis.cli import up_embedded  # noqa: PLC0415

    up_embedded.start(
        up_embedded.Wanted(
            name=name,
            fleet=fleet,
            nodes=nodes,
            data=data,
            fsync=fsync,
            kubeconfig=kubeconfig,
            host=host,
            port=port,
            expose=expose,
            operator=operator,
            config=config,
            example=example,
        )
    )
