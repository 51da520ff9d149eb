# SPDX-License-Identifier: Apache-2.0
"""The gate: a gang starts together, and a scaled gang after its base gang, each time anew.

Only pods that a gang lists count, while they live. One that has only just begun to leave does too:
what rested on it may be under way.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tests.sim.chronicle import Place, is_leaving, label
from tests.sim.watching.finding import Finding
from tests.sim.watching.ledgers import ledger
from trellis.api.annotation import PLACEMENT
from trellis.api.labels import BASE_POD_GANG, GANG_GATE, POD_GANG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.chronicle import Body, Chronicle, Commit
    from tests.sim.watching.hearing import Hearing

_EVER = float("inf")


class Gates:
    """I-08, as far as it is the operator's: binding is the scheduler's. `unfenced`: another may
    have listed other names in the very moment."""

    def __init__(self, chronicle: Chronicle, hearing: Hearing, *, unfenced: bool) -> None:
        self._chronicle = chronicle
        self._hearing = hearing
        self._unfenced = unfenced
        self._made: dict[Place, float] = {}
        self._bound: dict[Place, float] = {}
        """Pods that were made, or had a node, and until when."""
        self._listed: dict[Place, list[tuple[float, dict[str, list[str]]]]] = defaultdict(list)
        """By PodGang, its ledgers and since when they were so."""

    def see(self, commit: Commit) -> Iterator[Finding]:
        if commit.place.plural == "podgangs" and commit.new is not None:
            self._listed[commit.place].append((commit.at, ledger(commit.new)))
        if commit.place.plural != "pods":
            return
        pod = commit.new
        self._note(commit)
        if pod is None or not commit.caller.is_operator or _is_gated(pod):
            return
        gang = self._chronicle.get("podgangs", commit.place.namespace, label(pod, POD_GANG))
        if commit.old is None:
            yield from _born_free(commit, gang)
        elif _is_gated(commit.old) and gang is not None:
            yield from self._lifted(commit, gang)

    def _note(self, commit: Commit) -> None:
        lives = commit.new is not None and not is_leaving(commit.new)
        bound = lives and bool(commit.body["spec"].get("nodeName"))
        for known, holds in ((self._made, lives), (self._bound, bound)):
            if holds:
                known[commit.place] = _EVER
            elif known.get(commit.place) == _EVER:
                known[commit.place] = commit.at

    def _lifted(self, commit: Commit, gang: Body) -> Iterator[Finding]:
        known = self._hearing.known(commit.at)
        made, bound = (
            {place for place, until in one.items() if until >= known}
            for one in (self._made, self._bound)
        )
        for name in self._short(gang, made, known if self._unfenced else commit.at):
            yield Finding("I-08", f"{commit.place} was let go before the pods of {name} were made")
        base = label(commit.body, BASE_POD_GANG)
        first = self._chronicle.get("podgangs", commit.place.namespace, base) if base else None
        for name in self._short(first, bound, known) if first else ():
            yield Finding("I-08", f"{commit.place} was let go before {name} of {base} had nodes")

    def _short(self, gang: Body, there: set[Place], known: float) -> Iterator[str]:
        """The groups of a gang of which there are not as many pods as it needs, whichever of the
        ledgers counts that it had since then."""
        namespace = gang["metadata"]["namespace"]
        place = self._chronicle.uids[gang["metadata"]["uid"]]
        for group in gang["spec"].get("podgroups", ()):
            counts = (
                sum(Place("pods", namespace, one) in there for one in listed.get(group["name"], ()))
                for listed in self._of_late(place, known)
            )
            if max(counts, default=0) < group["minReplicas"]:
                yield group["name"]

    def _of_late(self, place: Place, known: float) -> list[dict[str, list[str]]]:
        listed = self._listed[place]
        before = [number for number, (since, _) in enumerate(listed) if since <= known]
        return [one for _, one in listed[before[-1] if before else 0 :]]


def _born_free(commit: Commit, gang: Body | None) -> Iterator[Finding]:
    annotations = gang["metadata"].get("annotations", {}) if gang else {}
    if PLACEMENT not in annotations:
        yield Finding("I-08", f"{commit.place} was made without a gate, and nobody placed it")


def _is_gated(pod: Body) -> bool:
    return any(one["name"] == GANG_GATE for one in pod["spec"].get("schedulingGates") or ())
