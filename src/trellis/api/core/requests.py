# SPDX-License-Identifier: Apache-2.0
"""What a pod takes of a node, as the scheduler reckons it, in nano-units."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from trellis.api import quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.api.core.pod import Amounts, Container, PodSpec


def effective(spec: PodSpec) -> dict[str, int]:
    """Containers run together, init containers one after another, sidecars from their turn on.

    What is asked for on the pod as a whole takes the place of its containers' sum. Overhead of
    the sandbox comes on top.
    """
    total = _containers(spec)
    if spec.resources is not None:
        total.update(_amounts(spec.resources.requests))
    for name, amount in _amounts(spec.overhead).items():
        total[name] = total.get(name, 0) + amount
    return total


def _containers(spec: PodSpec) -> dict[str, int]:
    sidecars: Counter[str] = Counter()
    peak: dict[str, int] = {}
    for container in spec.init_containers:
        needed = Counter(_amounts(container.resources.requests))
        if container.is_sidecar:
            sidecars.update(needed)
            needed = sidecars
        else:
            needed.update(sidecars)
        peak = _largest(peak, needed)
    return _largest(peak, _sum(spec.containers, sidecars))


def _sum(containers: Iterable[Container], beside: Counter[str]) -> Counter[str]:
    total = Counter(beside)
    for container in containers:
        total.update(_amounts(container.resources.requests))
    return total


def _largest(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    names = [*one, *(name for name in other if name not in one)]
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in names}


def _amounts(written: Amounts) -> dict[str, int]:
    return {name: quantity.parse(amount) for name, amount in written.items()}
