# SPDX-License-Identifier: Apache-2.0
"""I-18: a status never says what cannot be, and takes nothing back that is not its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.chronicle import label
from tests.sim.watching.finding import Finding
from tests.sim.watching.owners import OWNERS
from trellis.api.labels import PART_OF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.chronicle import Body, Chronicle, Commit
    from tests.sim.watching.hearing import Hearing
    from tests.sim.watching.policies import Policies

# Each is at most the next one.
_CHAINS = {
    "podcliques": (
        ("readyReplicas", "scheduledReplicas", "replicas"),
        ("updatedReplicas", "replicas"),
        ("scheduleGatedReplicas", "replicas"),
    ),
    "podcliquescalinggroups": (
        ("availableReplicas", "replicas"),
        ("scheduledReplicas", "replicas"),
        ("updatedReplicas", "replicas"),
    ),
    "podcliquesets": (("availableReplicas", "replicas"), ("updatedReplicas", "replicas")),
    "podgangs": (),
}
FOREIGN = "example.com/Foreign"
"""The type of a condition that somebody else keeps."""


class Statuses:
    def __init__(self, chronicle: Chronicle, hearing: Hearing, policies: Policies) -> None:
        self._chronicle = chronicle
        self._hearing = hearing
        self._policies = policies

    def see(self, commit: Commit) -> Iterator[Finding]:
        if commit.place.plural not in OWNERS or commit.new is None or commit.old is None:
            return
        if not commit.caller.is_operator:
            return
        old, new = commit.old.get("status", {}), commit.new.get("status", {})
        if old == new:
            return
        texts = (
            *_counted(commit, new),
            *_observed(commit, old, new),
            *_turned(old, new),
            *_progressed(new),
            *(_begun(old, new) if self._is_by_hand(commit) else ()),
        )
        for text in texts:
            yield Finding("I-18", f"{commit.place}: {text}")

    def _is_by_hand(self, commit: Commit) -> bool:
        """Whether its set has been OnDelete for so long that everybody knows."""
        metadata = commit.body["metadata"]
        name = label(commit.body, PART_OF) or metadata["name"]
        found = self._chronicle.get("podcliquesets", metadata["namespace"], name)
        if found is None:
            return False
        known = self._hearing.known(commit.at)
        return self._policies.was_by_hand(found["metadata"]["uid"], known)


def _counted(commit: Commit, status: Body) -> Iterator[str]:
    for chain in _CHAINS[commit.place.plural]:
        values = [int(status.get(name, 0)) for name in chain]
        if values[0] < 0 or values != sorted(values):
            yield " > ".join(f"{n} {v}" for n, v in zip(chain, values, strict=True))


def _observed(commit: Commit, old: Body, new: Body) -> Iterator[str]:
    before, now = old.get("observedGeneration") or 0, new.get("observedGeneration") or 0
    generation = commit.body["metadata"].get("generation", 0)
    if now < before:
        yield f"observedGeneration went back from {before} to {now}"
    if now > generation:
        yield f"observedGeneration {now} is of the future: it is at {generation}"


def _turned(old: Body, new: Body) -> Iterator[str]:
    before = {one["type"]: one for one in old.get("conditions", ())}
    now = {one["type"]: one for one in new.get("conditions", ())}
    if len(now) != len(new.get("conditions", ())):
        yield "a condition is there twice"
    if FOREIGN in before and FOREIGN not in now:
        yield f"the condition {FOREIGN} of somebody else was dropped"
    for name, condition in now.items():
        was = before.get(name)
        if was is None or was["status"] != condition["status"]:
            continue
        if was.get("lastTransitionTime") != condition.get("lastTransitionTime"):
            yield f"{name} stayed {condition['status']} and its lastTransitionTime moved"


def _progressed(status: Body) -> Iterator[str]:
    """An update that has ended has nobody in hand, and did not end before it began."""
    progress = status.get("updateProgress") or {}
    started, ended = progress.get("updateStartedAt"), progress.get("updateEndedAt")
    in_hand = (
        "currentlyUpdating",
        "readyPodsSelectedToUpdate",
        "readyReplicaIndicesSelectedToUpdate",
    )
    if ended and any(progress.get(name) for name in in_hand):
        yield f"its update has ended and goes on: {progress}"
    if ended and started and ended < started:
        yield f"its update ended at {ended} and began at {started}"


def _begun(old: Body, new: Body) -> Iterator[str]:
    """What is left to people is over as soon as it begins."""
    before, now = (one.get("updateProgress") or {} for one in (old, new))
    started = now.get("updateStartedAt")
    if started != before.get("updateStartedAt") and started != now.get("updateEndedAt"):
        yield f"its update by hand began at {started} and ended at {now.get('updateEndedAt')}"
