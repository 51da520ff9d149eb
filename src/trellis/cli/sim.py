# SPDX-License-Identifier: Apache-2.0
"""`trellis sim`: simulated nodes on any cluster, and faults in them on demand."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from trellis.api.meta import Key
from trellis.cli.durations import seconds
from trellis.cli.failure import BAD_INPUT, fail
from trellis.cli.progress import Progress
from trellis.cli.reaching import Kubeconfig, with_client
from trellis.embedded.nodes import injecting
from trellis.embedded.nodes.announcing import RealNodes
from trellis.embedded.nodes.expanding import NodePlan, TooFewNodes, expand
from trellis.embedded.nodes.faults import CRASH, OOM, NodeFault, PodFault, UnreadableFault
from trellis.embedded.nodes.fleet import NODES_LIMIT, Fleet
from trellis.embedded.nodes.loading import READY_MADE, InvalidFleet, load, ready_made
from trellis.embedded.nodes.simulator import Settings, Simulator
from trellis.embedded.nodes.waiters import shipped
from trellis.instruments.clock import SystemClock
from trellis.kube.access import Access
from trellis.kube.client import Client
from trellis.kube.errors import KubeError
from trellis.runtime.env import Env

_EXPLAINED = (KubeError, RealNodes, injecting.CannotStrike, UnreadableFault)
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

T = TypeVar("T")

app = typer.Typer(help="Simulated nodes, and faults in them.", no_args_is_help=True)
fault = typer.Typer(help="Make something go wrong in the simulation.", no_args_is_help=True)
app.add_typer(fault, name="fault")

Lasting = Annotated[str, typer.Option("--for", help="For how long: 90s. Until --clear without.")]
Clear = Annotated[bool, typer.Option("--clear", help="Take the faults out again.")]


@app.command()
def nodes(  # noqa: PLR0913, PLR0917  each is an option that a user reads in --help
    kubeconfig: Kubeconfig = None,
    fleet: Annotated[
        str, typer.Option(help=f"A fleet file, or one of {', '.join(READY_MADE)}.")
    ] = READY_MADE[0],
    count: Annotated[
        int | None,
        typer.Option("--nodes", min=1, max=NODES_LIMIT, help="So many nodes of that fleet."),
    ] = None,
    heartbeat: Annotated[
        str, typer.Option(help="Between renewals of a node's lease; 0 for never.")
    ] = "20s",
    beside_real_nodes: Annotated[
        bool, typer.Option("--beside-real-nodes", help="On a cluster that has real nodes too.")
    ] = False,
    taint: Annotated[
        bool | None,
        typer.Option(
            "--taint/--no-taint",
            help="Keep pods away that do not tolerate sim.trellis.dev/node; on beside real nodes.",
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave everything there at the end.")
    ] = False,
) -> None:
    """Run simulated nodes on a cluster until Ctrl-C; then remove them."""
    period = seconds("--heartbeat", heartbeat)
    found = _fleet(fleet)
    plans = _plans(found, count)
    progress = Progress()
    settings = Settings(
        timeline=found.faults,
        heartbeat=period or None,
        tainted=beside_real_nodes if taint is None else taint,
        beside_real_nodes=beside_real_nodes,
        clean_up=not keep,
        progress=lambda what, done, total: progress(f"{what}: {done} of {total}"),
    )

    async def simulate(client: Client, access: Access) -> None:
        waiters = shipped(access.server, access.trust, client.rng)
        await _simulate(client, plans, replace(settings, waiters=waiters), progress)

    try:
        _run(kubeconfig, simulate)
    finally:
        progress.end()


@fault.command("node")
def node_fault(  # noqa: PLR0913, PLR0917
    name: Annotated[str, typer.Argument(help="The node.")],
    vanish: Annotated[bool, typer.Option("--vanish", help="It is not heard of any more.")] = False,
    slow_images: Annotated[str, typer.Option(help="How much longer images take on it: 60s.")] = "",
    dcgm_silent: Annotated[
        bool, typer.Option("--dcgm-silent", help="Its exporter does not answer.")
    ] = False,
    lasting: Lasting = "",
    clear: Clear = False,
    kubeconfig: Kubeconfig = None,
) -> None:
    """What goes wrong with a node. --clear takes everything back, of its cards too."""
    if slow_images:
        seconds("--slow-images", slow_images)
    asked = (
        NodeFault(vanish=True) if vanish else None,
        NodeFault(slow_images=slow_images) if slow_images else None,
        NodeFault(dcgm="down") if dcgm_silent else None,
    )
    _strike_node(name, _Order(faults=asked, lasting=lasting, clear=clear), kubeconfig)


@fault.command("gpu")
def gpu_fault(  # noqa: PLR0913, PLR0917
    node: Annotated[str, typer.Argument(help="The node.")],
    address: Annotated[str, typer.Argument(help="The card's PCI address: 0000:17:00.0.")],
    xid: Annotated[int, typer.Option(min=0, max=1000, help="It reports this Xid.")] = 0,
    remove: Annotated[bool, typer.Option("--remove", help="It is not there any more.")] = False,
    lasting: Lasting = "",
    clear: Clear = False,
    kubeconfig: Kubeconfig = None,
) -> None:
    """What goes wrong with a card."""
    asked = (
        NodeFault(gpu=address, xid=xid) if xid else None,
        NodeFault(gpu=address, removed=True) if remove else None,
    )
    order = _Order(faults=asked, gpu=address, lasting=lasting, clear=clear)
    _strike_node(node, order, kubeconfig)


@fault.command("pod")
def pod_fault(  # noqa: PLR0913, PLR0917
    pod: Annotated[str, typer.Argument(help="The pod: namespace/name.")],
    crash: Annotated[bool, typer.Option("--crash", help="A container ends with an error.")] = False,
    oom: Annotated[
        bool, typer.Option("--oom", help="A container is killed for want of memory.")
    ] = False,
    container: Annotated[str, typer.Option(help="Which one. The first without.")] = "",
    exit_code: Annotated[int, typer.Option(min=1, max=255, help="With which code.")] = 1,
    kubeconfig: Kubeconfig = None,
) -> None:
    """What goes wrong with a pod."""
    namespace, slash, name = pod.partition("/")
    if not slash or not namespace or not name:
        fail(f"{pod}: is no pod; write it as namespace/name", BAD_INPUT)
    if crash == oom:
        fail("nothing to do, or two things at once; give --crash or --oom", BAD_INPUT)
    blow = OOM if oom else CRASH
    wanted = PodFault(
        at=SystemClock().now(),
        container=container,
        exit_code=blow.exit_code if oom else exit_code,
        reason=blow.reason,
    )

    async def strike(client: Client, _: Access) -> None:
        await injecting.strike_pod(client, Key(namespace, name), wanted)

    _run(kubeconfig, strike)
    print(f"pod {pod}: {wanted.reason}, exit code {wanted.exit_code}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """What is to go wrong with a node, or one of its cards, and for how long; or all to be well."""

    faults: tuple[NodeFault | None, ...]
    gpu: str = ""
    lasting: str = ""
    clear: bool = False


def _strike_node(name: str, order: _Order, kubeconfig: Path | None) -> None:
    faults = [one for one in order.faults if one is not None]
    if order.clear == bool(faults):
        fail("nothing to do, or two things at once; say what goes wrong, or --clear", BAD_INPUT)
    lasting = seconds("--for", order.lasting) if order.lasting else 0.0
    until = SystemClock().now() + timedelta(seconds=lasting) if lasting else None

    async def strike(client: Client, _: Access) -> injecting.Change:
        change = injecting.Change(())
        if order.clear:
            return await injecting.heal_node(client, name, order.gpu)
        for one in faults:
            change = await injecting.strike_node(client, name, one, until)
        return change

    left = len(_run(kubeconfig, strike).faults)
    print(f"node {name}: {left} fault{'' if left == 1 else 's'} now")


async def _simulate(
    client: Client, plans: tuple[NodePlan, ...], settings: Settings, progress: Progress
) -> None:
    env = Env(clock=client.clock, rng=client.rng)
    simulator = Simulator(client, plans, env, settings)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    began = time.monotonic()
    running = asyncio.create_task(simulator.run(stop))
    ready = asyncio.create_task(simulator.ready())
    await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
    if ready.done():
        progress.end()
        end = "removes them" if settings.clean_up else "leaves them without kubelets"
        print(
            f"{len(plans)} simulated nodes are ready after {time.monotonic() - began:.1f} s;"
            f" Ctrl-C {end}\n"
            f"  kubectl get nodes -l sim.trellis.dev/node\n"
            f"  trellis sim fault node {plans[0].name} --vanish --for 90s",
            flush=True,
        )
    ready.cancel()
    await running


def _run(kubeconfig: Path | None, work: Callable[[Client, Access], Awaitable[T]]) -> T:
    return with_client(kubeconfig, work, _EXPLAINED)


def _fleet(name: str) -> Fleet:
    if name in READY_MADE:
        return ready_made(name)
    try:
        return load(Path(name).read_text())
    except (OSError, UnicodeDecodeError) as error:
        known = ", ".join(READY_MADE)
        fail(f"--fleet {name}: cannot be read: {error}; or use one of {known}", BAD_INPUT)
    except InvalidFleet as error:
        fail("\n".join(f"{name}: {line}" for line in str(error).splitlines()), BAD_INPUT)


def _plans(fleet: Fleet, count: int | None) -> tuple[NodePlan, ...]:
    try:
        return expand(fleet, count)
    except TooFewNodes as error:
        fail(str(error), BAD_INPUT)
