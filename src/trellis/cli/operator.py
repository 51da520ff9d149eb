# SPDX-License-Identifier: Apache-2.0
"""`trellis operator`: the controllers and webhooks, until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer
import uvloop

from trellis import __version__
from trellis.api.config import Loaded, OperatorConfiguration
from trellis.app.manifests.installation import Installation
from trellis.app.operator import CannotListen, Choice, Operator, UnknownController, chosen, window
from trellis.app.wiring import Means, parts
from trellis.cli.configuration import read_configuration
from trellis.cli.failure import fail
from trellis.instruments.clock import SystemClock
from trellis.instruments.logs import configure, logger
from trellis.kube.access import Surroundings
from trellis.kube.connect import connected, find_access
from trellis.kube.errors import KubeError
from trellis.runtime.env import Env
from trellis.runtime.writes import LeadershipLost
from trellis.topology import guard

if TYPE_CHECKING:
    from trellis.kube.access import Access

_ACCOUNT = "GROVE_OPERATOR_SERVICE_ACCOUNT_NAME"
_DEFAULT_ACCOUNT = "grove-operator"
# Without its version: that of this operator is added.
_WAITER_IMAGE = "GROVE_INIT_CONTAINER_IMAGE"

# What ends the operator and says by itself what is to be done.
_EXPLAINED = (
    CannotListen,
    KubeError,
    LeadershipLost,
    UnknownController,
    guard.NoServiceAccount,
)

_log = logger(__name__)


def operator(
    config: Annotated[
        Path | None, typer.Option(help="The operator's configuration file. Defaults without.")
    ] = None,
    controllers: Annotated[
        str, typer.Option(help="Run only these, comma-separated; `webhooks` is one. All without.")
    ] = "",
    kubeconfig: Annotated[
        Path | None,
        typer.Option(help="Which cluster. As kubectl finds it, or in-cluster, without."),
    ] = None,
    namespace: Annotated[
        str, typer.Option(help="The operator's own namespace. That of its credentials without.")
    ] = "",
    check_config: Annotated[
        bool, typer.Option("--check-config", help="Only check the configuration file.")
    ] = False,
) -> None:
    """Run the controllers and webhooks."""
    loaded = _load(config)
    if check_config:
        for warning in loaded.warnings:
            print(f"warning: {warning}", file=sys.stderr)
        print("the configuration is valid")
        return
    clock = SystemClock()
    _start_logging(loaded.configuration, clock)
    for warning in loaded.warnings:
        _log.warning("configuration", said=warning)
    try:
        choice = chosen([name.strip() for name in controllers.split(",") if name.strip()], parts())
        surroundings = Surroundings(clock=clock, environ=os.environ, terminal=sys.stdin.isatty())
        access = find_access(surroundings, file=kubeconfig)
        account = guard.Operator(
            namespace=namespace or access.namespace,
            service_account=os.environ.get(_ACCOUNT, _DEFAULT_ACCOUNT),
        )
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(loaded.configuration, choice, access, account))
    except _EXPLAINED as error:
        fail(str(error))


def _load(config: Path | None) -> Loaded:
    return read_configuration(config) if config else Loaded(OperatorConfiguration())


def _start_logging(configuration: OperatorConfiguration, clock: SystemClock) -> None:
    style = cast("Literal['json', 'text']", configuration.log_format)
    level = logging.getLevelNamesMapping()[configuration.log_level.upper()]
    configure(clock, level=level, style=style)


async def _serve(
    configuration: OperatorConfiguration, choice: Choice, access: Access, account: guard.Operator
) -> None:
    env = Env(clock=SystemClock(), rng=random.Random())  # noqa: S311  jitter, no secrets
    instance = f"{socket.gethostname()}_{env.rng.getrandbits(64):016x}"
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with connected(access, env.clock, env.rng, window(configuration)) as client:
        means = Means(
            configuration=configuration,
            client=client,
            server=access.server,
            env=env,
            operator=account,
            waiter_image=_waiter_image(),
        )
        await Operator(means, choice, parts(), instance).run(stop)


def _waiter_image() -> str:
    image = os.environ.get(_WAITER_IMAGE) or Installation().image
    return f"{image}:{__version__}"
