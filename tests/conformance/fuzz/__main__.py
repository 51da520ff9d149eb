# SPDX-License-Identifier: Apache-2.0
"""python -m tests.conformance.fuzz --seeds A-B [--real lab|PATH] [--other embedded|PATH]

Does the same, drawn from seeds, to the real server and to the embedded one, and shows where they
come to differ, with as few operations as it takes.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from random import Random

from tests.conformance.fuzz import kinds
from tests.conformance.fuzz.comparing import Difference, Pair
from tests.conformance.fuzz.operations import operations
from tests.support.cluster import EMBEDDED, LAB, cluster
from trellis.lab.errors import LabError

AT_ONCE = 6


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.fuzz", description=__doc__)
    parser.add_argument("--seeds", default="1-100", help="a range, both ends included")
    parser.add_argument("--real", default=LAB)
    parser.add_argument("--other", default=EMBEDDED)
    parser.add_argument("--shrink", type=int, default=20, help="how many differences to make small")
    arguments = parser.parse_args()
    try:
        return asyncio.run(_act(arguments))
    except LabError as error:
        print(error, file=sys.stderr)
        return 2


async def _act(arguments: argparse.Namespace) -> int:
    first, _, last = arguments.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    async with cluster(arguments.real) as real, cluster(arguments.other) as other:
        await asyncio.gather(kinds.install(real.api), kinds.install(other.api))
        pair = Pair(real.api, other.api)
        started = time.monotonic()
        turns = asyncio.Semaphore(AT_ONCE)

        async def one(seed: int) -> Difference | None:
            async with turns:
                return await pair.tried(seed)

        found = [one for one in await asyncio.gather(*map(one, seeds)) if one]
        took = time.monotonic() - started
        for index, difference in enumerate(found):
            small = await pair.shrunk(difference) if index < arguments.shrink else difference
            print(f"{small}\n", flush=True)
        if failure := other.failed():
            print(failure, file=sys.stderr)
    count = sum(len(operations(Random(seed))) for seed in seeds)  # noqa: S311
    print(f"{len(seeds)} seeds, {count} operations in {took:.0f} s: {len(found)} differ")
    return 1 if found else 0


sys.exit(main())
