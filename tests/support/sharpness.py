# SPDX-License-Identifier: Apache-2.0
"""Whether goldens would show a server that does something wrong."""

from __future__ import annotations

import msgspec

from tests.conformance import goldens
from tests.conformance.mutations import mutants
from tests.conformance.runner import normalised


def unseen(minor: str, *, every: int = 1) -> list[str]:
    """What could be wrong without being noticed, looked for in every so-manieth golden.

    The encoding compares as the goldens' own text does, order included, and is far quicker.
    """
    found = sorted(goldens.read(minor).items())[::every]
    return [
        f"{key}: {name}"
        for key, observations in found
        for encoded in [msgspec.json.encode(observations)]
        for name, mutant in mutants(observations, seed=1)
        if msgspec.json.encode(normalised(mutant, {})) == encoded
    ]
