# SPDX-License-Identifier: Apache-2.0
"""D-16: where nothing goes wrong, what is told of pods is true half a second after the last that
happened to them. An update is told of once a second, by each of three who hear of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.chronicle import label
from tests.sim.watching.finding import Finding
from trellis.api.labels import PART_OF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.chronicle import Body, Commit

BEHIND_SECONDS = 0.5
BEHIND_UPDATE_SECONDS = 2.0
_TELLERS = ("podcliques", "podcliquescalinggroups", "podcliquesets", "podgangs")
_COUNTS = ("readyReplicas", "scheduledReplicas", "availableReplicas", "updatedReplicas", "phase")


class Promptness:
    def __init__(self) -> None:
        self._happened: dict[tuple[str, str], float] = {}
        """By set, when anything last happened to what it is made of."""
        self._staffed: set[tuple[str, str]] = set()
        """The sets that have had pods."""
        self._updated: set[tuple[str, str]] = set()

    def see(self, commit: Commit) -> Iterator[Finding]:
        whose = _set_of(commit)
        if whose is None:
            return
        changed = _changed(commit)
        if changed is None:
            self._happened[whose] = commit.at
            if commit.place.plural == "pods":
                self._staffed.add(whose)
            return
        if commit.body["status"].get("updateProgress"):
            self._updated.add(whose)
        behind = commit.at - self._happened.get(whose, commit.at)
        most = BEHIND_UPDATE_SECONDS if whose in self._updated else BEHIND_SECONDS
        if changed and whose in self._staffed and behind > most:
            yield Finding("D-16", f"{commit.place} says {changed} {behind:.2f} s after it was so")


def _set_of(commit: Commit) -> tuple[str, str] | None:
    metadata = commit.body["metadata"]
    is_set = commit.place.plural == "podcliquesets"
    name = metadata["name"] if is_set else label(commit.body, PART_OF)
    return (commit.place.namespace, name) if name else None


def _changed(commit: Commit) -> dict[str, object] | None:
    """What a status tells anew of pods; None: this is no status that the operator wrote."""
    if commit.place.plural not in _TELLERS or commit.old is None or commit.new is None:
        return None
    old, new = (one.get("status", {}) for one in (commit.old, commit.new))
    if not commit.caller.is_operator or old == new:
        return None
    was, now = _facts(old), _facts(new)
    return {name: value for name, value in now.items() if value != was.get(name)}


def _facts(status: Body) -> dict[str, object]:
    conditions = {one["type"]: one["status"] for one in status.get("conditions", ())}
    return {**{name: status.get(name) or 0 for name in _COUNTS}, "Ready": conditions.get("Ready")}
