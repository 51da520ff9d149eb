# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import inf

import pytest

from tests.support.virtual import VirtualClock, virtual
from tests.unit.workloads.sets import a_set
from trellis.api.core.pod import Pod
from trellis.api.labels import PART_OF
from trellis.api.meta import Metadata
from trellis.kube.events import Change, Delta, Snapshot
from trellis.runtime.cache import Cache
from trellis.workloads.streams import MANY, MEMORY_SECONDS, Streams

CLOCK = VirtualClock()


def a_pod(name: str, of: str = "llm", namespace: str = "ns") -> Pod:
    metadata = Metadata(name=name, namespace=namespace, uid=name, labels={PART_OF: of})
    return Pod(metadata=metadata)


# What people call the whole that their set is a part of has nothing to do with it.
LLM = a_set("llm", metadata={"namespace": "ns", "labels": {PART_OF: "shop"}})
SHOP = a_set("shop", metadata={"namespace": "ns"})


class Told:
    """A cache of pods that hears of them, and who notes when."""

    def __init__(self) -> None:
        self.cache = Cache(Pod.resource, Pod)
        self.streams = Streams(self.cache, CLOCK)

    def tell(self, *pods: Pod) -> None:
        for pod in pods:
            change = Change(pod.metadata.namespace, pod.metadata.name, pod)
            self.cache.apply(Delta([change], "1"))

    async def of(self, name: str, count: int, every: float = 0.01) -> None:
        for n in range(count):
            self.tell(a_pod(f"{name}-{n}", name))
            await CLOCK.sleep(every)


@virtual
async def test_many_things_are_needed_and_all_that_belongs_to_a_set_knows_of_them() -> None:
    told = Told()
    await told.of("llm", MANY - 1)
    assert told.streams.many_since(LLM) == -inf
    await told.of("llm", 1)
    assert told.streams.many_since(LLM) == -inf, "that is known already"
    told.tell(a_pod("another"))
    expected = pytest.approx(CLOCK.monotonic() - MANY * 0.01)
    assert told.streams.many_since(LLM) == expected
    assert told.streams.many_since(a_pod("any")) == expected


@virtual
async def test_sets_are_told_apart_by_name_and_namespace() -> None:
    told = Told()
    await told.of("llm", MANY)
    assert told.streams.many_since(SHOP) == -inf
    assert told.streams.many_since(a_pod("any", namespace="another")) == -inf


@virtual
async def test_what_a_list_brings_may_have_happened_long_ago() -> None:
    told = Told()
    told.cache.replace(Snapshot([a_pod(str(n)) for n in range(MANY)], "7"))
    assert told.streams.many_since(LLM) == -inf


@virtual
async def test_of_sets_whose_pods_have_come_to_rest_nothing_is_remembered() -> None:
    told = Told()
    for name in ("a", "b", "c"):
        await told.of(name, MANY)
    assert len(told.streams) == 3
    await CLOCK.sleep(MEMORY_SECONDS)
    await told.of("d", 1)
    assert len(told.streams) == 1
