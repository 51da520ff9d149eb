# SPDX-License-Identifier: Apache-2.0
"""python -m bench [NAME …] [--ten]: measurements side by side, as ratios within one run.

With --ten, `workloads` also runs ten sets of 1,000 pods at once.
"""

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


OPTIONS = ("--ten",)


def main() -> None:
    unknown = [word for word in sys.argv[1:] if word not in (*MEASUREMENTS, *OPTIONS)]
    if unknown:
        known = ", ".join((*MEASUREMENTS, *OPTIONS))
        sys.exit(f"bench: no measurement or option {unknown[0]!r}; there are: {known}")
    for name in [word for word in sys.argv[1:] if word not in OPTIONS] or list(MEASUREMENTS):
        try:
            asyncio.run(MEASUREMENTS[name]())
        except LabError as error:
            sys.exit(f"bench: {error}")


main()
