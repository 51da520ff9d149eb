# SPDX-License-Identifier: Apache-2.0
"""`trellis up --real`: the real control plane, and the operator beside it."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from trellis.api.config import OperatorConfiguration
from trellis.app.local.installing import NotServed
from trellis.app.local.operating import Beside, Companion, NotReady, draw_ports, operating
from trellis.cli.configuration import local_configuration
from trellis.cli.failure import BAD_INPUT, fail
from trellis.cli.serving import serve
from trellis.embedded import place as places
from trellis.instruments.clock import SystemClock
from trellis.kube.access import Surroundings
from trellis.kube.connect import connected, find_access
from trellis.kube.errors import KubeError
from trellis.kube.kubeconfig_writing import WouldOverwrite
from trellis.lab.build import Binary, built
from trellis.lab.cluster import Lab, Place, running
from trellis.lab.components import Settings
from trellis.lab.errors import LabError
from trellis.lab.source import source
from trellis.runtime.racing import first


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The options, as they were given."""

    name: str | None = None
    kubeconfig: Path | None = None
    data: Path | None = None
    operator: bool = True
    config: Path | None = None
    feature_gates: str = ""
    runtime_config: str = ""
    audit: bool = False
    kubernetes: str | None = None


def start(wanted: Wanted) -> None:
    configuration = local_configuration(wanted.config) if wanted.operator else None
    place = Place(name=wanted.name, kubeconfig=wanted.kubeconfig, data=wanted.data)
    try:
        binary = built(source(wanted.kubernetes))
        settings = Settings(
            kubernetes=binary.kubernetes,
            feature_gates=_listed(wanted.feature_gates),
            runtime_config=_listed(wanted.runtime_config),
            audit=wanted.audit,
            durable=wanted.data is not None,
        )
        serve(_until_failure(binary, settings, place, configuration))
    except WouldOverwrite as error:
        fail(str(error), BAD_INPUT)
    except (KubeError, LabError, NotReady, NotServed) as error:
        fail(str(error))


async def _until_failure(
    binary: Binary, settings: Settings, place: Place, configuration: OperatorConfiguration | None
) -> None:
    started = time.monotonic()
    print(f"starting Kubernetes {binary.kubernetes} …", file=sys.stderr, flush=True)
    async with running(binary, settings, place) as lab:
        with _registered(lab, operator=configuration is not None):
            if configuration is None:
                _announce(lab, time.monotonic() - started)
                raise await lab.failure()
            async with _operator(lab, configuration) as operator:
                await operator.ready()
                _announce(lab, time.monotonic() - started)
                raise await first(lab.failure(), operator.failure())


@contextmanager
def _registered(lab: Lab, *, operator: bool) -> Iterator[None]:
    """So that `trellis down` finds it; where that cannot be, there is still Ctrl-C."""
    try:
        claim = places.claim(places.state_root(os.environ), lab.name)
    except (places.AlreadyRunning, places.NoPlace):
        yield
        return
    try:
        about = places.About(server=lab.server, kubeconfig=str(lab.kubeconfig), operator=operator)
        claim.announce(about)
        yield
    finally:
        claim.release()


@asynccontextmanager
async def _operator(lab: Lab, configuration: OperatorConfiguration) -> AsyncIterator[Companion]:
    clock = SystemClock()
    surroundings = Surroundings(clock=clock, environ=os.environ)
    access = find_access(surroundings, file=lab.kubeconfig)
    dice = random.Random()  # noqa: S311  jitter, no secrets
    async with connected(access, clock, dice) as client:
        beside = Beside(
            client=client, server=lab.server, authority=lab.authority, folder=lab.folder
        )
        async with operating(beside, configuration, draw_ports(client)) as operator:
            yield operator


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
