# SPDX-License-Identifier: Apache-2.0
"""python -m tests.conformance.clients record|check [--cluster lab|embedded|KUBECONFIG]

Tells every story with every kubectl of this machine, and makes the calls of the Python clients.
`record` keeps what the real server made them print, `check` compares with it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from typing import TYPE_CHECKING

from tests.conformance import differences, goldens
from tests.conformance.clients import calling, judging, programs, transcripts
from tests.conformance.clients.stories import STORIES
from tests.conformance.clients.telling import BROKEN, tell
from tests.support.cluster import LAB, Cluster, cluster
from trellis.lab.errors import LabError

if TYPE_CHECKING:
    from tests.conformance.clients.story import Story


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.clients")
    parser.add_argument("action", choices=["record", "check"])
    parser.add_argument("--cluster", default=LAB, help="lab, embedded, or a kubeconfig")
    parser.add_argument("--only", default="", help="only stories whose title holds this")
    parser.add_argument("--kubectl", choices=programs.MINORS, action="append")
    arguments = parser.parse_args()
    try:
        return asyncio.run(_act(arguments))
    except LabError as error:
        print(error, file=sys.stderr)
        return 2


async def _act(arguments: argparse.Namespace) -> int:
    stories = [story for story in STORIES if arguments.only in story.title]
    async with cluster(arguments.cluster) as target:
        failures = 0
        for minor in arguments.kubectl or programs.MINORS:
            failures += await _kubectl(target, minor, stories, arguments.action)
        if not arguments.only and not arguments.kubectl:
            for module in calling.SCRIPTS:
                failures += await _python(target, module, arguments.action)
        if failure := target.failed():
            print(failure, file=sys.stderr)
            failures += 1
    return 1 if failures else 0


async def _kubectl(target: Cluster, minor: str, stories: list[Story], action: str) -> int:
    client = f"kubectl-{minor}"
    program = programs.kubectl(minor)
    if program is None:
        print(f"there is no {client} on this machine")
        return 0
    started = time.monotonic()
    told = await tell(target, program, stories)
    took = time.monotonic() - started
    commands = sum(story.commands for story in stories)
    print(f"{client}: {len(stories)} stories, {commands} commands in {took:.0f} s")
    broken = [f"{title}: {said[-1]}" for title, said in told.items() if BROKEN in said[-1]]
    expected = transcripts.read(target.minor, client)
    if action == "record" and not broken:
        print(f"wrote {transcripts.write(target.minor, client, expected | told)}")
        return 0
    known = differences.read() if target.embedded else []
    found = broken if action == "record" else judging.problems(client, expected, told, known)
    print(*found, sep="\n\n")
    return len(found)


async def _python(target: Cluster, module: str, action: str) -> int:
    client = f"python-{module}"
    said = await calling.called(target, module)
    print(f"{client}: {len(said)} calls")
    if action == "record":
        print(f"wrote {transcripts.write(target.minor, client, said)}")
        return 0
    difference = goldens.difference([transcripts.read(target.minor, client)], [said])
    print(difference or "all the same")
    return 1 if difference else 0


sys.exit(main())
