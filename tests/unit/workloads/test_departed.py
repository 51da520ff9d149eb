# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import tracemalloc
from typing import TYPE_CHECKING

from tests.support.virtual import START, VirtualClock, virtual
from trellis.api.core.pod import Pod
from trellis.api.meta import Key, Metadata, OwnerReference
from trellis.kube.events import Change, Delta
from trellis.runtime.cache import Cache
from trellis.workloads.departed import LAPSE_SECONDS, Departed

if TYPE_CHECKING:
    from datetime import datetime

W = Key("ns", "w")


def a_pod(name: str, owner: str = "uid-w", *, leaving: bool = True) -> Pod:
    reference = OwnerReference(
        api_version="grove.io/v1alpha1", kind="PodClique", name="w", uid=owner, controller=True
    )
    metadata = Metadata(
        name=name,
        namespace="ns",
        uid=f"uid-{name}",
        owner_references=(reference,),
        deletion_timestamp=START if leaving else None,
    )
    return Pod(metadata=metadata)


class Told:
    """A cache of pods that hears of them, and who remembers."""

    def __init__(self) -> None:
        self._cache = Cache(Pod.resource, Pod)
        self.departed = Departed(self._cache, VirtualClock())

    def tell(self, name: str, pod: Pod | None, leaving: datetime | None = None) -> None:
        self._cache.apply(Delta([Change("ns", name, pod, leaving)], "1"))


@virtual
async def test_only_what_was_there_and_is_gone_has_departed() -> None:
    told = Told()
    told.tell("a", a_pod("a"))
    told.tell("b", a_pod("b"))
    told.tell("never", None)
    assert not told.departed.of(W)
    told.tell("a", None)
    assert set(told.departed.of(W)) == {"a"}
    assert not told.departed.of(Key("ns", "another"))


@virtual
async def test_what_left_and_went_in_one_moment_has_departed_too() -> None:
    told = Told()
    told.tell("a", a_pod("a", leaving=False))
    told.tell("a", None, START)
    assert set(told.departed.of(W)) == {"a"}


@virtual
async def test_what_was_not_leaving_may_only_be_out_of_sight() -> None:
    told = Told()
    told.tell("a", a_pod("a", leaving=False))
    told.tell("a", None)
    assert not told.departed.of(W)


@virtual
async def test_it_is_forgotten_after_a_while() -> None:
    told = Told()
    told.tell("a", a_pod("a"))
    told.tell("a", None)
    await asyncio.sleep(LAPSE_SECONDS - 1)
    told.tell("b", a_pod("b"))
    told.tell("b", None)
    assert set(told.departed.of(W)) == {"a", "b"}
    await asyncio.sleep(2)
    assert set(told.departed.of(W)) == {"b"}
    await asyncio.sleep(LAPSE_SECONDS)
    assert not told.departed.of(W)


@virtual
async def test_of_a_clique_that_never_rests_only_the_last_moments_are_kept() -> None:
    told = Told()
    tracemalloc.start()
    for index in range(5000):
        name = f"pod-{index}"
        told.tell(name, a_pod(name))
        told.tell(name, None)
        assert len(told.departed.of(W)) <= 2
        await asyncio.sleep(LAPSE_SECONDS / 2)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 100_000


@virtual
async def test_a_clique_that_is_made_anew_inherits_what_was_used_up() -> None:
    told = Told()
    told.tell("a", a_pod("a", owner="uid-of-before"))
    told.tell("b", a_pod("b"))
    told.tell("a", None)
    assert set(told.departed.of(W)) == {"a"}
