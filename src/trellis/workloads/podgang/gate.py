# SPDX-License-Identifier: Apache-2.0
"""Which pods of a gang are let go, and how the gate is taken off a pod. Pure.

A gang starts when all its pods are there. Once it has begun, what comes later follows as soon as
every group has its minimum, with what has failed and waits to be replaced. Only our own gate goes:
those of users are theirs to lift.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.labels import GANG_GATE
from trellis.workloads.podgang.muster import all_exist

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trellis.api.core.pod import Pod
    from trellis.runtime.difference import Json
    from trellis.workloads.podgang.muster import Muster


def may_start(musters: Sequence[Muster]) -> bool:
    """Whether enough pods are there to be scheduled together."""
    if all_exist(musters):
        return True
    begun = any(each.has_begun for each in musters)
    return begun and all(each.is_enough for each in musters)


def held_back(musters: Sequence[Muster]) -> tuple[Pod, ...]:
    """The pods that our gate holds back."""
    return tuple(pod for each in musters for pod in each.gated)


def without_gate(pod: Pod) -> Json:
    """The patch that takes our gate off."""
    others = [{"name": name} for name in pod.gates if name != GANG_GATE]
    patch: Json = {"spec": {"schedulingGates": others or None}}
    if others:
        # A gate that a user has lifted meanwhile must not come back.
        patch["metadata"] = {"resourceVersion": pod.metadata.resource_version}
    return patch
