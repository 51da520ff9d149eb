# SPDX-License-Identifier: Apache-2.0
"""The server does what was recorded, and the comparison would notice if it did not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance import goldens
from tests.conformance.mutations import mutants
from tests.conformance.runner import Seen, all_probes, normalised, run

if TYPE_CHECKING:
    from tests.conformance.probe import Registered
    from tests.support.cluster import Cluster

PROBES = all_probes()
SEED = 7


@pytest.fixture(scope="session")
async def seen(cluster: Cluster) -> dict[str, Seen]:
    minor = int(cluster.minor.split(".")[1])
    return await run(cluster.api, [entry for entry in PROBES if entry.since <= minor], SEED)


@pytest.fixture(scope="session")
def recorded(cluster: Cluster) -> dict[str, goldens.Observations]:
    found = goldens.read(cluster.minor)
    assert found, f"no goldens of {cluster.minor}: python -m tests.conformance record"
    return found


@pytest.mark.parametrize("entry", PROBES, ids=[entry.key for entry in PROBES])
def test_the_server_does_what_was_recorded(
    entry: Registered, seen: dict[str, Seen], recorded: dict[str, goldens.Observations]
) -> None:
    if entry.key not in seen:
        pytest.skip(f"makes sense from Kubernetes 1.{entry.since} on")
    outcome = seen[entry.key]
    assert not outcome.broken, outcome.broken
    difference = goldens.difference(recorded[entry.key], outcome.observations)
    assert not difference, difference


def test_every_golden_has_a_probe(recorded: dict[str, goldens.Observations]) -> None:
    assert set(recorded) <= {entry.key for entry in PROBES}


def test_anything_wrong_in_what_the_server_said_is_seen(seen: dict[str, Seen]) -> None:
    """Spoils real answers before they are normalised, so that normalising cannot hide it."""
    unseen = [
        f"{key}: {name}"
        for key, outcome in seen.items()
        for name, mutant in mutants(outcome.raw, SEED)
        if not goldens.difference(outcome.observations, normalised(mutant, outcome.names))
    ]
    assert not unseen, unseen
