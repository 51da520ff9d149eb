# SPDX-License-Identifier: Apache-2.0
"""Which scheduler a gang is for, and how it is handed to it. Pure.

KAI either reads our PodGang itself or is given a PodGroup of its own kind. Which of the two is
decided when a gang is made and stays: its pods are marked for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.workloads.kai import KAI, is_handed_as_pod_group, queue_of, scheduler_of

if TYPE_CHECKING:
    from trellis.api.config.types import OperatorConfiguration
    from trellis.api.scheduler.podgang import PodGang
    from trellis.workloads.outline import Outline

POD_GROUP = "podgroup"
AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """`queue` and `problem` are KAI's: where its pods wait, or why it cannot be told."""

    scheduler: str
    as_pod_group: bool = False
    queue: str = ""
    problem: str = ""

    @property
    def is_kai(self) -> bool:
        return self.scheduler == KAI


@dataclass(frozen=True, slots=True, kw_only=True)
class KaiHere:
    """The KAI of this cluster: whether its PodGroups are served, and know groups of groups."""

    serves_pod_groups: bool = False
    knows_subgroups: bool = False


def backend(
    outline: Outline, gang: PodGang | None, configured: OperatorConfiguration, here: KaiHere
) -> Backend:
    scheduler = scheduler_of(
        outline.set.spec.template.cliques, configured.scheduler.default_profile_name
    )
    if scheduler != KAI:
        return Backend(scheduler=scheduler)
    as_pod_group = (
        is_handed_as_pod_group(gang)
        if gang is not None
        else _as_pod_group(configured.trellis.kai.mode, here)
    )
    queue = queue_of(outline.set)
    problem = queue.problem
    if as_pod_group and not here.serves_pod_groups:
        problem = problem or (
            "the gang was to be handed to KAI as a PodGroup, and podgroups.scheduling.run.ai is "
            "not served here: install KAI, or set trellis.kai.mode to podgang"
        )
    return Backend(
        scheduler=scheduler, as_pod_group=as_pod_group, queue=queue.name, problem=problem
    )


def _as_pod_group(mode: str, here: KaiHere) -> bool:
    if mode == AUTO:
        return here.serves_pod_groups and here.knows_subgroups
    return mode == POD_GROUP
