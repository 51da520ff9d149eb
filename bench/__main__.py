# SPDX-License-Identifier: Apache-2.0
"""python -m bench [NAME]: measurements side by side, as ratios within one run."""

from __future__ import annotations

import asyncio
import sys

from bench import admission, cache, client, embedded, lab, rolling, up, workloads
from trellis.lab.errors import LabError

MEASUREMENTS = {
    "lab": lab.measure,
    "client": client.measure,
    "cache": cache.measure,
    "admission": admission.measure,
    "up": up.measure,
    "embedded": embedded.measure,
    "workloads": workloads.measure,
    "rolling": rolling.measure,
}


def main() -> None:
    chosen = [name for name in sys.argv[1:] if not name.startswith("--")] or list(MEASUREMENTS)
    unknown = [name for name in chosen if name not in MEASUREMENTS]
    if unknown:
        sys.exit(f"bench: no measurement {unknown[0]!r}; there are: {', '.join(MEASUREMENTS)}")
    for name in chosen:
        try:
            asyncio.run(MEASUREMENTS[name]())
        except LabError as error:
            sys.exit(f"bench: {error}")


main()
