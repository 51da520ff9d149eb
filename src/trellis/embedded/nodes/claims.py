# SPDX-License-Identifier: Apache-2.0
"""Whether the devices that a pod asked for are its own yet. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.meta import Key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trellis.api.core.resourceclaim import ResourceClaim
    from trellis.embedded.nodes.pods import KubeletPod


def are_its_own(pod: KubeletPod, find: Callable[[Key], ResourceClaim | None]) -> bool:
    """Whether every claim of the pod is allocated, and reserved for it."""
    return all(
        name is not None and _is_its_own(pod, find(Key(pod.metadata.namespace, name)))
        for name in pod.claims
    )


def consumers(claim: ResourceClaim) -> Iterator[Key]:
    """The pods that may use the claim."""
    for one in claim.status.reserved_for:
        if one.resource == "pods":
            yield Key(claim.metadata.namespace, one.name)


def _is_its_own(pod: KubeletPod, claim: ResourceClaim | None) -> bool:
    if claim is None or claim.status.allocation is None:
        return False
    return any(one.uid == pod.metadata.uid for one in claim.status.reserved_for)
