# SPDX-License-Identifier: Apache-2.0
"""`trellis up` for the embedded cluster: what is said while it starts, runs and ends."""

from __future__ import annotations

import logging
import os
import sys
import time
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from pathlib import Path

from trellis.api.config import OperatorConfiguration
from trellis.app.local.example import NotRunning
from trellis.app.local.installing import NotServed
from trellis.app.local.operating import NotReady
from trellis.app.local.standing import Order, standing
from trellis.cli.configuration import local_configuration
from trellis.cli.failure import BAD_INPUT, fail
from trellis.cli.progress import Progress
from trellis.cli.serving import serve
from trellis.embedded import place as places
from trellis.embedded.fleets import Choice, OtherFleet, UnknownFleet, remembered
from trellis.embedded.front.server import NotLoopback
from trellis.embedded.keeping import UnusableData
from trellis.embedded.nodes.announcing import RealNodes
from trellis.embedded.nodes.expanding import TooFewNodes
from trellis.embedded.nodes.loading import READY_MADE, InvalidFleet
from trellis.embedded.parts import PartEnded
from trellis.embedded.place import About, AlreadyRunning, Claim, Place
from trellis.embedded.running import CannotListen, Plan
from trellis.embedded.store.problems import JournalProblem
from trellis.instruments.clock import SystemClock
from trellis.instruments.logs import configure
from trellis.kube.errors import KubeError
from trellis.kube.kubeconfig_writing import WouldOverwrite
from trellis.lab.errors import LabError
from trellis.runtime.collector import spared

# What the user must write differently; what is in the way; what broke, so that its logs matter.
BADLY_ASKED = (
    InvalidFleet,
    NotLoopback,
    OtherFleet,
    TooFewNodes,
    UnknownFleet,
    WouldOverwrite,
    places.BadName,
)
IN_THE_WAY = (CannotListen, JournalProblem, UnusableData, places.NoPlace)
BROKEN = (KubeError, LabError, NotReady, NotRunning, NotServed, PartEnded, RealNodes)
# A start that takes longer than this has no end.
_OTHERS_START_SECONDS = 120.0
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The options, as they were given."""

    name: str | None = None
    fleet: str | None = None
    nodes: int | None = None
    data: Path | None = None
    fsync: bool = False
    kubeconfig: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0
    expose: bool = False
    operator: bool = True
    config: Path | None = None
    example: bool = True


class Witness:
    """Shows what is waited for; what has happened needs no word here, unless it is a note."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def waits(self, what: str) -> None:
        self._progress(f"waiting for {what}")

    def happened(self, what: str) -> None:
        if what.startswith("note: "):
            self._progress.end()
            print(what, file=sys.stderr, flush=True)


def start(wanted: Wanted) -> None:
    configuration = local_configuration(wanted.config) if wanted.operator else None
    root = places.state_root(os.environ)
    try:
        if wanted.kubeconfig:
            places.refuse_others_files(wanted.kubeconfig, os.environ)
        claim = places.claim(root, wanted.name or places.DEFAULT)
    except AlreadyRunning:
        _show_running(root, wanted)
        return
    except BADLY_ASKED as error:
        fail(str(error), BAD_INPUT)
    except IN_THE_WAY as error:
        fail(str(error))
    _run(claim, wanted, configuration)


def announce(about: About, headline: str, stop: str) -> None:
    """What a person needs next: how to point kubectl here, and what to look at first."""
    kind = "podcliquesets" if about.operator else "jobs"
    look = f"kubectl get {kind},pods -o wide" if about.example else "kubectl get namespaces"
    print(
        f"{headline}\n"
        f"  export KUBECONFIG={about.kubeconfig}\n"
        "\n"
        "  kubectl get nodes\n"
        f"  {look}\n"
        f"  {stop}",
        flush=True,
    )


def _run(claim: Claim, wanted: Wanted, configuration: OperatorConfiguration | None) -> None:
    broken = False
    progress = Progress()
    try:
        with claim.place.log.open("a") as log:
            configure(SystemClock(), stream=log, level=logging.WARNING, style="text")
            order = _order(claim.place, wanted, configuration)
            serve(_stand(claim, order, progress))
    except BADLY_ASKED as error:
        progress.end()
        fail(_in_options(error, wanted), BAD_INPUT)
    except IN_THE_WAY as error:
        progress.end()
        fail(str(error))
    except BROKEN as error:
        broken = True
        progress.end()
        fail(f"{error}\nlogs are in {claim.place.folder}")
    finally:
        progress.end()
        claim.release(keep=broken)


def _in_options(error: Exception, wanted: Wanted) -> str:
    """In terms of what was written on the command line."""
    if isinstance(error, NotLoopback):
        return (
            f"--host {wanted.host} can be reached from other machines, and whoever reaches it may"
            " try tokens; add --expose if that is meant, or take 127.0.0.1"
        )
    if isinstance(error, InvalidFleet):
        return "\n".join(f"{wanted.fleet}: {line}" for line in str(error).splitlines())
    return str(error)


def _order(place: Place, wanted: Wanted, configuration: OperatorConfiguration | None) -> Order:
    data = wanted.data.absolute() if wanted.data else None
    choice = _choice(wanted, data)
    plan = Plan(
        fleet=choice.fleet,
        nodes=choice.nodes,
        host=wanted.host,
        port=wanted.port,
        exposed=wanted.expose,
        data=data,
        fsync=wanted.fsync,
    )
    return Order(
        plan=plan,
        name=f"trellis-{place.name}",
        kubeconfig=(wanted.kubeconfig or place.kubeconfig).absolute(),
        folder=place.folder,
        configuration=configuration,
        example=wanted.example,
    )


def _choice(wanted: Wanted, data: Path | None) -> Choice:
    """Without a word about nodes, those of before."""
    if data is not None and wanted.fleet is None and wanted.nodes is None:
        before = remembered(data)
        if before is not None:
            return before
    fleet = wanted.fleet or READY_MADE[0]
    if fleet not in READY_MADE and Path(fleet).exists():
        # To be found again from wherever the next `up` on this data is run.
        fleet = str(Path(fleet).absolute())
    return Choice(fleet=fleet, nodes=wanted.nodes)


async def _stand(claim: Claim, order: Order, progress: Progress) -> None:
    witness = Witness(progress)
    async with AsyncExitStack() as stack:
        # Nodes by the thousand come in at once; none of that is garbage.
        loading = stack.enter_context(ExitStack())
        loading.enter_context(spared())
        local = await stack.enter_async_context(standing(order, witness))
        for step in (local.operator_is_ready, local.example_runs):
            try:
                await step(witness)
            except (NotReady, NotRunning) as error:
                # What there is can be used, and shows by itself what it waits for.
                witness.happened(f"note: {error}")
        loading.close()
        progress.clear()
        about = local.about
        claim.announce(about)
        fleet = f", {about.nodes} nodes with {about.gpus} GPUs" if about.nodes else ""
        headline = f"up after {progress.seconds:.1f} s: {claim.place.name}, {about.server}{fleet}"
        announce(about, headline, f"{_down(claim.place.name)}   # or Ctrl-C here")
        raise await local.failure()


def _show_running(root: Path, wanted: Wanted) -> None:
    """The one that has the name. One that is only about to be up is waited for."""
    name = wanted.name or places.DEFAULT
    progress = Progress()
    while progress.seconds < _OTHERS_START_SECONDS:
        place = places.look(root, name)
        if place is None or not place.alive:
            fail(f"{name} was about to start, and has ended; start it again")
        if about := place.about():
            progress.clear()
            headline = f"running already: {name}, {about.server}, process {place.pid}"
            announce(about, headline, _down(name))
            if wanted != Wanted(name=wanted.name):
                note = f"note: it goes on as it was started; first `{_down(name)}` to change that"
                print(note, file=sys.stderr)
            return
        progress(f"waiting for {name}, which another process is starting")
        time.sleep(_POLL_SECONDS)
    fail(f"{name} is not up after {_OTHERS_START_SECONDS:.0f} s; see {root / name / 'log'}")


def _down(name: str) -> str:
    return "trellis down" if name == places.DEFAULT else f"trellis down {name}"
