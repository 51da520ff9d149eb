# SPDX-License-Identifier: Apache-2.0
"""The index of a pod among all pods of its replica of a scaling group: it has no gaps. Pure.

It follows from how many pods the cliques before have now, so it moves for pods that run when one
of those is scaled: who is behind it is woken. Containers read it when they start next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.labels import SCALING_GROUP_POD_INDEX
from trellis.runtime.plan import Edit
from trellis.workloads.pods import is_live

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.api.core.pod import Pod
    from trellis.workloads.podclique.state import State


def rank(pods_before: int, index: int) -> str:
    """As a label. `pods_before`: pods of the cliques before its own in the same replica."""
    return str(pods_before + index)


def renumbered(state: State, pods_before: int) -> Iterator[Edit[Pod]]:
    """What is to be patched. Pods that another operator made without one are left as they are."""
    by_name = {name: index for index, name in state.listed.items()}
    for pod in state.pods:
        told = pod.metadata.labels.get(SCALING_GROUP_POD_INDEX)
        index = by_name.get(pod.metadata.name)
        if told is None or index is None or not is_live(pod):
            continue
        if told != (now := rank(pods_before, index)):
            yield Edit(pod, {"metadata": {"labels": {SCALING_GROUP_POD_INDEX: now}}})
