# SPDX-License-Identifier: Apache-2.0
"""`trellis rollout`: how the update of a PodCliqueSet goes."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import typer

from trellis.api.meta import Key
from trellis.api.syntax import dns_subdomain_problem
from trellis.cli.durations import seconds
from trellis.cli.failure import BAD_INPUT, fail
from trellis.cli.progress import Progress
from trellis.cli.reaching import Kubeconfig, with_client
from trellis.cli.rollout_watching import NoSuchSet, Rollout
from trellis.kube.access import Access
from trellis.kube.client import Client
from trellis.kube.errors import KubeError, clipped
from trellis.views.rollout import Report, Verdict

app = typer.Typer(help="How the update of a PodCliqueSet goes.", no_args_is_help=True)


@app.callback()
def rollout() -> None:
    """How the update of a PodCliqueSet goes."""


@app.command()
def status(
    name: Annotated[str, typer.Argument(help="The PodCliqueSet.")],
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", help="Where it is. As kubectl has it, without.")
    ] = "",
    timeout: Annotated[
        str, typer.Option(help="How long to wait at most: 10m. For ever without, or with 0s.")
    ] = "0s",
    watch: Annotated[
        Literal["true", "false"],
        typer.Option(help="false: tell how it is now, and wait for nothing."),
    ] = "true",
    kubeconfig: Kubeconfig = None,
) -> None:
    """Show how an update goes until it is over.

    Ends with 0 when everything has the current template and no minAvailable is missed, with 1 when
    it has failed or takes too long. With OnDelete, which leaves pods until somebody deletes them,
    it says how many have the current template, and ends with 0.
    """
    for option, value in (("NAME", name), ("--namespace", namespace)):
        if value and (problem := dns_subdomain_problem(value)):
            fail(f"{option}: {clipped(value, 80)!r} {problem}", BAD_INPUT)
    limit = seconds("--timeout", timeout) or None
    progress = Progress(each=True)

    async def look(client: Client, access: Access) -> Report:
        key = Key(namespace or access.namespace, name)
        async with asyncio.timeout(limit):
            rollout = await Rollout(client=client, key=key).seen()
            if watch == "false":
                return await rollout.now()
            return await rollout.until_over(lambda text: progress(clipped(text)))

    try:
        found = with_client(kubeconfig, look, (KubeError, NoSuchSet))
    except TimeoutError:
        last = progress.last or "the API has not answered"
        found = Report(Verdict.FAILED, f"{name} is not rolled out after {timeout}: {last}")
    finally:
        progress.clear()
    _end(found)


def _end(found: Report) -> None:
    if found.verdict is Verdict.FAILED:
        fail(clipped(found.text))
    print("\n  ".join(map(clipped, (found.text, *found.details))))
