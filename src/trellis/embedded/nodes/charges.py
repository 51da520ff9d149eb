# SPDX-License-Identifier: Apache-2.0
"""The pods in a kubelet's charge: what it remembers of each, and what follows from that. Pure.

Keyed by uid through and through: a new pod under an old name is another charge.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from trellis.api.core.pod import FAILED, SUCCEEDED
from trellis.embedded.nodes import recovering, statuses
from trellis.embedded.nodes.faults import ON_POD, Blow, UnreadableFault, read_pod
from trellis.embedded.nodes.life import (
    Life,
    Part,
    Script,
    advance,
    born,
    is_over,
    next_due,
    running_since,
    stopped,
    struck,
)

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Collection

    from trellis.embedded.nodes.behaviour import Behaviours
    from trellis.embedded.nodes.expanding import NodePlan
    from trellis.embedded.nodes.pods import KubeletPod
    from trellis.embedded.nodes.statuses import Json, Place, Since

SERVER_REMOVES_SECONDS = 1.0


@dataclass(slots=True, kw_only=True)
class Charge:
    """One pod. `written`: a digest of the status that the API has from us."""

    uid: str
    plan: NodePlan
    place: Place
    script: Script
    life: Life
    since: Since = field(default_factory=dict)
    written: bytes = b""
    fault: str = ""
    """The annotation of faults that was followed last."""
    removed: bool = False
    over_since: float | None = None
    released: bool = False
    """Whether its address has been given back, as that of a pod that is over is."""
    running: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    """Programs that run in it."""

    def live(self, pod: KubeletPod, now: float) -> UnreadableFault | None:
        """Brings it up to now: orders and faults first, then what is due.

        Returns what is wrong with a fault that cannot be followed, once.
        """
        life, problem = self.life, None
        if pod.metadata.deleting:
            life = stopped(life, now, float(pod.metadata.deletion_grace_period_seconds or 0))
        text = pod.metadata.annotations.get(ON_POD, "")
        if text != self.fault:
            self.fault = text
            try:
                life = self._struck(life, text, now)
            except UnreadableFault as error:
                problem = error
        self.life = advance(self.script, life, now)
        return problem

    def told(self, container: str, exit_code: int, now: float) -> None:
        """A program of its own has ended."""
        self.strike(container, Blow(exit_code), now)

    def strike(self, container: str, blow: Blow, now: float) -> None:
        """Something from outside ends a container, if it runs."""
        self.life = struck(self.script, self.life, container, blow, now)

    @property
    def over(self) -> bool:
        return is_over(self.script, self.life)

    def left_to_the_server(self, pod: KubeletPod, now: float) -> float:
        """For how long yet: what is deleted without grace, the server removes in the same breath.

        A pod that is there all the same after a moment is ours to remove.
        """
        if pod.metadata.deletion_grace_period_seconds != 0:
            return 0.0
        if self.over_since is None:
            self.over_since = now
        return max(0.0, self.over_since + SERVER_REMOVES_SECONDS - now)

    def due(self, now: float) -> float | None:
        """Seconds until something happens by itself."""
        at = next_due(self.script, self.life, now)
        return None if at is None else at - now

    def status(self, pod: KubeletPod, now: float) -> Json:
        """What the API is to know. Remembers since when each condition holds."""
        status, findings = statuses.rendered(pod, self.script, self.life, self.place, now)
        status["conditions"], self.since = statuses.conditions(findings, self.since, now)
        return status

    def take_up(self, pod: KubeletPod, now: float) -> None:
        """Of a pod that ran before: what the API has of it already is not written again."""
        self.live(pod, now)
        status = self.status(pod, now)
        if recovering.agrees(pod, status):
            self.written = statuses.fingerprint(status)

    def to_run(self) -> tuple[str, ...]:
        """The containers that are programs, are to run, and do not yet."""
        if self.life.stopping is not None:
            return ()
        parts = zip(self.script.inits, self.life.inits, strict=True)
        return tuple(
            part.name
            for part, course in parts
            if part.told and course.runs and part.name not in self.running
        )

    def _struck(self, life: Life, text: str, now: float) -> Life:
        if not text:
            return life
        fault = read_pod(text)
        begun = running_since(self.script, life, fault.container)
        if begun is None or begun > fault.at.timestamp():
            # It was struck before the simulator was started again, and has been restarted since.
            return life
        return struck(self.script, life, fault.container, Blow(fault.exit_code, fault.reason), now)


def script(pod: KubeletPod, asked: Behaviours, programs: Collection[str]) -> Script:
    return Script(
        policy=pod.spec.restart_policy,
        inits=tuple(
            Part(
                name=one.name,
                behaviour=behaviour,
                sidecar=one.restart_policy == "Always",
                told=one.name in programs,
            )
            for one, behaviour in zip(pod.spec.init_containers, asked.inits, strict=True)
        ),
        mains=tuple(
            Part(name=one.name, behaviour=behaviour)
            for one, behaviour in zip(pod.spec.containers, asked.mains, strict=True)
        ),
    )


def first_life(pod: KubeletPod, script: Script, now: float, pull_seconds: float) -> Life:
    """Of a pod that is new here, or that ran before the simulator was started again."""
    if not recovering.began(pod):
        return born(script, now, pull_seconds)
    life = recovering.recovered(pod, script, now)
    # Programs do not outlive the simulator: they are run again.
    again = tuple(
        replace(course, started=None) if part.told and course.runs else course
        for part, course in zip(script.inits, life.inits, strict=True)
    )
    return replace(life, inits=again)


def finished(pod: KubeletPod) -> bool:
    return pod.status.phase in (SUCCEEDED, FAILED)
