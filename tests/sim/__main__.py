# SPDX-License-Identifier: Apache-2.0
"""python -m tests.sim run --seeds A-B | replay SEED | scenarios | hunt | mutants."""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec

from tests.sim.drawing import drawn
from tests.sim.exhaustive import Unwell, basis, everywhere, judged
from tests.sim.faults import Kind
from tests.sim.hunting import hunt, retell
from tests.sim.mutants import MOST_SCHEDULES, hunted, mutants
from tests.sim.regressions import Kept, keep, read
from tests.sim.running import Tally, told_to_the_end
from tests.sim.scenarios import SCENARIOS
from tests.sim.shrinking import shrunk
from tests.sim.telling import Manner, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tests.sim.mutants import Found, Mutant
    from tests.sim.story import Story
    from tests.sim.telling import Report

_CHUNK = 25


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sim", description=__doc__)
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="tell the stories of these seeds")
    run.add_argument("--seeds", required=True, help="A-B, both included")
    run.add_argument("--jobs", type=int, default=1, help="how many processes")
    run.add_argument("--keep", action="store_true", help="shrink and keep what fails")
    run.set_defaults(command=_run)
    replay = commands.add_parser("replay", help="tell the story of one seed, aloud")
    replay.add_argument("seed", help="a seed, or a file under regressions/")
    replay.add_argument("--shrink", action="store_true", help="the shortest that fails alike")
    replay.set_defaults(command=_replay)
    scenarios = commands.add_parser("scenarios", help="every scenario with every fault everywhere")
    scenarios.add_argument("--only", default="", help="scenarios whose name has this in it")
    scenarios.add_argument("--kinds", default="", help="only these faults: crash-before,stale")
    scenarios.add_argument("--stride", type=int, default=1, help="only every n-th place")
    scenarios.add_argument("--first", type=int, default=0, help="how many places to leave out")
    scenarios.add_argument("--jobs", type=int, default=1, help="how many processes")
    scenarios.set_defaults(command=_scenarios)
    hunting = commands.add_parser("hunt", help="tell stories until one fails")
    hunting.add_argument("--most", type=int, default=MOST_SCHEDULES)
    hunting.add_argument("--story", default="", help="only the one that is called so")
    hunting.set_defaults(command=_hunt)
    bred = commands.add_parser("mutants", help="hunt every bug that is planted")
    bred.add_argument("--only", default="", help="mutants whose name has this in it")
    bred.add_argument("--most", type=int, default=MOST_SCHEDULES)
    bred.add_argument("--jobs", type=int, default=1, help="how many processes")
    bred.set_defaults(command=_mutants)
    chosen = parser.parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = chosen.command
    return command(chosen)


def _run(chosen: argparse.Namespace) -> int:
    first, _, last = chosen.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    began = time.monotonic()
    total = Tally()
    chunks = [seeds[start : start + _CHUNK] for start in range(0, len(seeds), _CHUNK)]
    for tally in _tallies(chunks, chosen.jobs):
        total.merge(tally)
        print(f"… {total.line(time.monotonic() - began)}", file=sys.stderr, flush=True)
    for name in total.failed if chosen.keep else ():
        _kept(int(name.removeprefix("seed ")))
    print(total.line(time.monotonic() - began))
    return 1 if total.failed else 0


def _tallies(chunks: Sequence[range], jobs: int) -> Iterable[Tally]:
    if jobs == 1:
        yield from map(_told, chunks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(_told, chunks)


def _told(seeds: range) -> Tally:
    tally = Tally()
    for seed in seeds:
        report = told_to_the_end(drawn(seed))
        tally.add(report)
        for finding in report.findings[:3]:
            print(f"seed {seed}: {finding}", flush=True)
    return tally


def _replay(chosen: argparse.Namespace) -> int:
    story = _story(chosen.seed)
    if chosen.shrink:
        story = shrunk(story, told_to_the_end)
    report = tell(story, Manner(aloud=True))
    print(story.told())
    print("\n".join(report.lines))
    return _end(report)


def _scenarios(chosen: argparse.Namespace) -> int:
    began = time.monotonic()
    total = Tally()
    names = [name for name in SCENARIOS if chosen.only in name]
    kinds = frozenset(Kind(name) for name in chosen.kinds.split(",") if name) or frozenset(Kind)
    told = partial(_told_everywhere, kinds=kinds, first=chosen.first, stride=chosen.stride)
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for name, tally in zip(names, pool.map(told, names), strict=True):
            total.merge(tally)
            print(f"… {name}: {tally.schedules} places", file=sys.stderr, flush=True)
    print(f"{len(names)} scenarios: {total.line(time.monotonic() - began)}")
    return 1 if total.failed else 0


def _told_everywhere(name: str, kinds: frozenset[Kind], first: int, stride: int) -> Tally:
    tally = Tally()
    try:
        base = basis(SCENARIOS[name])
    except Unwell as error:
        print(f"without any fault: {error}", flush=True)
        tally.failed.append(name)
        return tally
    stories = [one for one in everywhere(base) if one.faults[-1].kind in kinds]
    for story in stories[first::stride]:
        report = judged(base, story)
        tally.add(report)
        for finding in report.findings[:3]:
            print(f"{story.name}: {finding}", flush=True)
    return tally


def _hunt(chosen: argparse.Namespace) -> int:
    found = retell(chosen.story) if chosen.story else hunt(chosen.most)
    print(msgspec.json.encode(found).decode())
    return 1 if found.finding else 0


def _mutants(chosen: argparse.Namespace) -> int:
    missed: list[str] = []
    bred = [mutant for mutant in mutants() if chosen.only in mutant.name]
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for mutant, found in zip(bred, pool.map(partial(_hunted, chosen.most), bred), strict=True):
            if not found.finding:
                missed.append(mutant.name)
            told = f"after {found.schedules}: {found.story}: {found.finding}"
            print(f"{mutant.name}: {told[:200] if found.finding else 'GOT AWAY'}", flush=True)
    print(f"{len(bred)} mutants, {len(bred) - len(missed)} found, missed: {', '.join(missed)}")
    return 1 if missed else 0


def _hunted(most: int, mutant: Mutant) -> Found:
    with TemporaryDirectory(prefix="mutant-") as into:
        return hunted(mutant, Path(into), most)


def _kept(seed: int) -> None:
    story = shrunk(drawn(seed), told_to_the_end)
    found = tuple(str(one) for one in told_to_the_end(story).findings)
    print(f"kept {keep(Kept(story=story, found=found), f'seed-{seed}')}")


def _story(named: str) -> Story:
    return drawn(int(named)) if named.isdecimal() else read(Path(named)).story


def _end(report: Report) -> int:
    tally = Tally()
    tally.add(report)
    for finding in report.findings:
        print(finding)
    print(tally.line(0.0))
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())
