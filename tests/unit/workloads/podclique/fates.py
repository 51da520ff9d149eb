# SPDX-License-Identifier: Apache-2.0
"""Pods in the ways that they can be, and what a PodClique's status says of them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tests.unit.workloads.podclique.builders import (
    NOW,
    Scene,
    a_pod,
    a_scene,
    crashed,
    pod_name,
)
from trellis.api.core.pod import ContainerStatus
from trellis.workloads.podclique.census import census
from trellis.workloads.podclique.status import status
from trellis.workloads.podclique.updating import update_facts

if TYPE_CHECKING:
    from datetime import datetime

    from trellis.api.core.pod import Pod
    from trellis.api.grove.podclique import PodCliqueStatus
    from trellis.workloads.trouble import Trouble

CLIQUE = "llm-0-worker"
LATER = NOW + timedelta(minutes=5)


def names(count: int) -> list[str]:
    return [pod_name(CLIQUE, index) for index in range(count)]


def some_pods(*each: dict[str, Any]) -> tuple[Pod, ...]:
    return tuple(
        a_pod(name, index, **more)
        for index, (name, more) in enumerate(zip(names(len(each)), each, strict=True))
    )


def told(scene: Scene, now: datetime = NOW, trouble: Trouble | None = None) -> PodCliqueStatus:
    state = scene.state
    counted = census(state)
    return status(state, counted, update_facts(state, counted, trouble, now), trouble, now)


READY: dict[str, Any] = {}
NEW: dict[str, Any] = {"template_hash": a_scene().outline.template_hashes["worker"]}
STARTING: dict[str, Any] = {"ready": False}
GATED: dict[str, Any] = {"gated": True}
PENDING: dict[str, Any] = {"node": "", "ready": False}
CRASHED: dict[str, Any] = {"ready": False, "containers": crashed()}
UNREADY: dict[str, Any] = {
    "ready": False,
    "containers": (ContainerStatus(started=True, ready=False),),
}
