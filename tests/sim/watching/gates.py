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
    """I-08, as far as it is the operator's: binding is the scheduler's."""

    def __init__(self, chronicle: Chronicle, hearing: Hearing) -> None:
        self._chronicle = chronicle
        self._hearing = hearing
        self._made: dict[Place, float] = {}
        self._bound: dict[Place, float] = {}
        """Pods that were made, or had a node, and until when."""
        self._gangs: dict[Place, list[tuple[float, Body]]] = defaultdict(list)
        """By PodGang, what it said and since when."""

    def see(self, commit: Commit) -> Iterator[Finding]:
        if commit.place.plural == "podgangs" and commit.new is not None:
            self._gangs[commit.place].append((commit.at, commit.new))
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
        # Another operator may have listed more in the very moment.
        for name in self._short(gang, made, known if self._hearing.shared else commit.at):
            yield Finding("I-08", f"{commit.place} was let go before the pods of {name} were made")
        base = label(commit.body, BASE_POD_GANG)
        first = self._chronicle.get("podgangs", commit.place.namespace, base) if base else None
        for name in self._short(first, bound, known) if first else ():
            yield Finding("I-08", f"{commit.place} was let go before {name} of {base} had nodes")

    def _short(self, gang: Body, there: set[Place], known: float) -> list[str]:
        """The groups of a gang of which there are not as many pods as it needs; none, if there
        were enough for what it said at any time since then."""
        said = self._gangs[self._chronicle.uids[gang["metadata"]["uid"]]]
        before = [number for number, (since, _) in enumerate(said) if since <= known]
        found = [list(_lacking(one, there)) for _, one in said[before[-1] if before else 0 :]]
        return found[-1] if all(found) else []


def _lacking(gang: Body, there: set[Place]) -> Iterator[str]:
    namespace, listed = gang["metadata"]["namespace"], ledger(gang)
    for group in gang["spec"].get("podgroups", ()):
        names = listed.get(group["name"], ())
        if sum(Place("pods", namespace, one) in there for one in names) < group["minReplicas"]:
            yield group["name"]


def _born_free(commit: Commit, gang: Body | None) -> Iterator[Finding]:
    annotations = gang["metadata"].get("annotations", {}) if gang else {}
    if PLACEMENT not in annotations:
        yield Finding("I-08", f"{commit.place} was made without a gate, and nobody placed it")


def _is_gated(pod: Body) -> bool:
    return any(one["name"] == GANG_GATE for one in pod["spec"].get("schedulingGates") or ())
