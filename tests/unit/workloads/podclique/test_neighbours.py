# SPDX-License-Identifier: Apache-2.0
"""Who is woken by a PodClique that is scaled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from tests.unit.workloads.podcliqueset.builders import World
from tests.unit.workloads.sets import a_clique, a_group, a_set
from trellis.kube.events import Snapshot
from trellis.workloads.caches import Caches
from trellis.workloads.podclique.neighbours import Neighbours, is_scaled

if TYPE_CHECKING:
    from trellis.api.grove.podclique import PodClique

WORLD = World(
    a_set(
        "llm",
        *(a_clique(name, 2) for name in ("alone", "last", "first", "middle")),
        groups=(a_group("x", "first", "middle", "last", replicas=2),),
    )
)


def scaled(name: str, replicas: int) -> PodClique:
    found = WORLD.cliques[name]
    return structs.replace(found, spec=structs.replace(found.spec, replicas=replicas))


@pytest.mark.parametrize(
    ("name", "replicas", "woken"),
    [
        pytest.param(
            "llm-0-x-1-first", 3, ["llm-0-x-1-middle", "llm-0-x-1-last"], id="the first, out"
        ),
        pytest.param(
            "llm-0-x-0-first", 0, ["llm-0-x-0-middle", "llm-0-x-0-last"], id="the first, to zero"
        ),
        pytest.param("llm-0-x-0-middle", 1, ["llm-0-x-0-last"], id="one between"),
        pytest.param("llm-0-x-0-last", 5, [], id="the last, which nobody is behind"),
        pytest.param("llm-0-x-0-first", 2, [], id="as its template says"),
        pytest.param("llm-0-alone", 5, [], id="one in no group"),
    ],
)
def test_who_is_behind_it_in_its_replica_counts_again(
    name: str, replicas: int, woken: list[str]
) -> None:
    caches = Caches()
    caches.sets.replace(Snapshot([WORLD.outline.set], "1"))
    caches.groups.replace(Snapshot(list(WORLD.groups.values()), "1"))
    found = Neighbours(caches).after(scaled(name, replicas))
    assert [key.name for key in found] == woken


def test_nothing_but_its_number_matters() -> None:
    before = WORLD.cliques["llm-0-x-0-first"]
    told = structs.replace(before, status=structs.replace(before.status, ready_replicas=1))
    assert not is_scaled(before, told)
    assert is_scaled(before, scaled("llm-0-x-0-first", 3))
