# SPDX-License-Identifier: Apache-2.0
"""What a pass has found out about a gang whose ledger is as it should be. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.workloads.outline import min_available
from trellis.workloads.podgang.muster import Muster, muster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from trellis.api.scheduler.podgang import PodGang
    from trellis.workloads.podgang.backend import Backend
    from trellis.workloads.podgang.plan import Plan
    from trellis.workloads.podgang.recycle import Decision, Threat
    from trellis.workloads.podgang.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    state: State
    gang: PodGang
    plan: Plan
    decision: Decision
    backend: Backend
    now: datetime

    def musters(self) -> tuple[Muster, ...]:
        """Of what is yet to join, for which the rest of its unit waits, and of every group."""
        return (*self._joining(), *self._listed())

    def threats(self) -> tuple[Threat, ...]:
        """Those that concern this gang."""
        state = self.state
        return tuple(
            threat
            for threat in self.decision.threats
            if threat.is_whole or state.members_of(threat.group, threat.index)
        )

    def is_renewed(self) -> bool:
        """Whether pods are still there that it had when it was last made anew."""
        stamps = self.plan.stamps
        return bool(stamps) and any(self._left_over())

    def seconds_left(self) -> float | None:
        """Until something is due without anybody telling."""
        dues = [due for due in (self.plan.due, self.decision.next) if due is not None]
        return (min(dues) - self.now).total_seconds() if dues else None

    def _listed(self) -> Iterator[Muster]:
        """Those that have no PodClique just now have no pods either."""
        parts = {part.name: part for part in self.state.parts}
        for group in self.gang.spec.podgroups:
            yield (
                muster(
                    group.name,
                    group.min_replicas,
                    self.plan.listings[group.name].entries.values(),
                    parts[group.name].pods,
                )
                if group.name in parts
                else Muster(clique=group.name, minimum=group.min_replicas, listed=1)
            )

    def _joining(self) -> Iterator[Muster]:
        """Its PodCliques that were never in it, as their template has them."""
        listed = {group.name for group in self.gang.spec.podgroups}
        for member in self.state.absent:
            replicas = member.template.spec.replicas
            if replicas > 0 and member.name not in listed:
                minimum = min(min_available(member.template), replicas)
                yield Muster(clique=member.name, minimum=minimum, listed=1)

    def _left_over(self) -> Iterator[bool]:
        latest = max(self.plan.stamps.values())
        for part in self.state.parts:
            listed = set(self.plan.listings[part.name].entries.values())
            for name, pod in part.pods.items():
                created = pod.metadata.creation_timestamp
                yield name not in listed and created is not None and created <= latest
