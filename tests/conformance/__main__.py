# SPDX-License-Identifier: Apache-2.0
"""python -m tests.conformance record|check|show [--cluster lab|embedded|KUBECONFIG] [--only WORD]

`record` writes goldens for the server's minor, `check` compares with them. `--only` takes the
probes whose key begins so; recording then still writes whole areas, so it needs an area. What an
embedded cluster is known to do differently is in known_differences.yaml.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.conformance import differences, goldens
from tests.conformance.runner import QUICK, REAL, Seen, all_probes, run
from tests.support.cluster import LAB, Cluster, cluster
from trellis.lab.errors import LabError

if TYPE_CHECKING:
    from tests.conformance.probe import Registered


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("action", choices=sorted(_ACTIONS))
    parser.add_argument("--cluster", default=LAB, help="lab, embedded, or a kubeconfig")
    parser.add_argument("--kubernetes", help="a release of the lab other than the pinned one")
    parser.add_argument("--only", default="", help="only probes whose key starts with this")
    parser.add_argument("--seed", type=int, default=1, help="decides the order of the probes")
    parser.add_argument("--goldens", type=Path, default=goldens.FOLDER)
    arguments = parser.parse_args()
    try:
        return asyncio.run(_act(arguments))
    except LabError as error:
        print(error, file=sys.stderr)
        return 2


async def _act(arguments: argparse.Namespace) -> int:
    async with cluster(arguments.cluster, arguments.kubernetes) as target:
        chosen = _chosen(target, arguments.only)
        started = time.monotonic()
        pace = QUICK if target.embedded else REAL
        seen = await run(target.api, chosen, arguments.seed, pace)
        took = time.monotonic() - started
        if failure := target.failed():
            print(failure, file=sys.stderr)
    failures = _ACTIONS[arguments.action](target, seen, arguments)
    observations = sum(len(outcome.observations) for outcome in seen.values())
    print(
        f"Kubernetes {target.version}: {len(seen)} probes, {observations} observations in "
        f"{took:.0f} s, seed {arguments.seed}, {failures} failed"
    )
    return 1 if failures else 0


def _chosen(target: Cluster, only: str) -> list[Registered]:
    minor = int(target.minor.split(".")[1])
    return [entry for entry in all_probes() if entry.key.startswith(only) and entry.since <= minor]


def _show(_: Cluster, seen: dict[str, Seen], __: argparse.Namespace) -> int:
    for outcome in seen.values():
        print(f"{outcome.probe.key}\n{goldens.text(outcome.observations)}")
    return _broken(seen)


def _record(target: Cluster, seen: dict[str, Seen], arguments: argparse.Namespace) -> int:
    whole = {entry.key for entry in _chosen(target, "")}
    areas = {outcome.probe.area for outcome in seen.values()}
    partial = [key for key in whole - set(seen) if key.split(":")[0] in areas]
    if partial:
        print("--only must name whole areas to record: a golden file is written whole")
        return len(partial)
    broken = _broken(seen)
    if not broken:
        for file in goldens.write(target.minor, seen.values(), arguments.goldens):
            print(f"wrote {file}")
    return broken


def _broken(seen: dict[str, Seen]) -> int:
    broken = [outcome for outcome in seen.values() if outcome.broken]
    for outcome in broken:
        print(f"BROKEN {outcome.probe.key}\n{outcome.broken}", file=sys.stderr)
    return len(broken)


def _check(target: Cluster, seen: dict[str, Seen], arguments: argparse.Namespace) -> int:
    recorded = goldens.read(target.minor, arguments.goldens)
    known = differences.read() if target.embedded else []
    report = differences.judge(recorded, seen, known)
    for problem in report.problems:
        print(f"{problem}\n")
    print(report.summary)
    return len(report.problems)


_ACTIONS = {"show": _show, "record": _record, "check": _check}

sys.exit(main())
