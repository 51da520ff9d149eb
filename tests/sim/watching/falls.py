# SPDX-License-Identifier: Apache-2.0
"""Gangs that fall: only what was broken for so long as its set says, and what must fall does.

A fall is a stamp on a PodGang that is new, with other names for the pods of what it names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tests.sim.chronicle import controller_uid, is_leaving, is_ready, label, needed
from tests.sim.watching.finding import Finding
from tests.sim.watching.ledgers import ledger
from trellis.api.annotation import RECYCLED
from trellis.api.labels import PART_OF, SCALING_GROUP, SET_REPLICA_INDEX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.chronicle import Body, Chronicle, Commit
    from tests.sim.watching.hearing import Hearing
    from tests.sim.watching.policies import Policies

_ALL = "*"
_EVER = float("inf")


class _Lack(NamedTuple):
    """A PodClique that had its minimum and lacked it, from when until when."""

    since: float
    until: float = _EVER


class Falls:
    """GT: nothing falls too early. `exact`: clocks are right, so that times can be judged."""

    def __init__(
        self, chronicle: Chronicle, hearing: Hearing, policies: Policies, *, exact: bool
    ) -> None:
        self._chronicle = chronicle
        self._hearing = hearing
        self._policies = policies
        self._exact = exact
        self._up: dict[str, bool] = {}
        """By uid, whether PodCliques have their minimum; none: they never had, or not since."""
        self._lacks: dict[str, _Lack] = {}
        self._gone: dict[str, Body] = {}
        """Those that lacked it before they went: who has not heard of their end acts on that."""
        self.fallen: dict[str, None] = {}
        """All PodCliques that ever fell, by name."""

    def see(self, commit: Commit) -> Iterator[Finding]:
        plural, old, new = commit.place.plural, commit.old, commit.new
        if plural == "pods":
            self._count(controller_uid(commit.body), commit.at)
        elif plural == "podcliques":
            self._count(commit.uid, commit.at)
            if new is None:
                self._went(commit)
        elif plural == "podgangs" and commit.caller.is_operator and old and new:
            yield from self._fell(commit, old, new)

    def _count(self, uid: str, now: float) -> None:
        clique = self._chronicle.by_uid(uid)
        if clique is None or self._chronicle.uids[uid].plural != "podcliques":
            return
        if self._ready(uid) >= needed(clique):
            lack = self._lacks.get(uid)
            if lack is not None and lack.until == _EVER:
                self._lacks[uid] = lack._replace(until=now)
            self._up[uid] = True
        elif self._up.get(uid):
            self._up[uid] = False
            last = self._lacks.get(uid)
            # Nobody may have heard that it was well for a moment.
            unheard = last is not None and last.until >= self._hearing.known(now)
            self._lacks[uid] = _Lack(last.since if last is not None and unheard else now)

    def _went(self, commit: Commit) -> None:
        lack = self._lacks.get(commit.uid)
        if lack is not None:
            self._lacks[commit.uid] = lack._replace(until=min(lack.until, commit.at))
            self._gone[commit.uid] = commit.body

    def _ready(self, uid: str) -> int:
        pods = self._chronicle.objects["pods"]
        mine = (pods[one] for one in self._chronicle.dependents.get(uid, ()) if one in pods)
        return sum(is_ready(one) and not is_leaving(one) for one in mine)

    def _fell(self, commit: Commit, old: Body, new: Body) -> Iterator[Finding]:
        before, now = _stamps(old), _stamps(new)
        stamped = [name for name, stamp in now.items() if before.get(name) != stamp]
        if not stamped:
            return
        was, listed = ledger(old), ledger(new)
        names = list(was) if _ALL in stamped else stamped
        renewed = [one for one in names if not set(was.get(one, ())) & set(listed.get(one, ()))]
        self.fallen.update(dict.fromkeys(renewed))
        # A scaled gang falls with its base gang, whose fall has been judged.
        follows = _ALL in stamped and label(new, SCALING_GROUP)
        if self._exact and not follows and not self._is_due(commit, new):
            yield Finding("GT", f"{commit.place} falls, and nothing was broken for long: {stamped}")
        for name in renewed:
            clique = self._chronicle.get("podcliques", commit.place.namespace, name)
            if clique is not None:
                self._up.pop(clique["metadata"]["uid"], None)

    def _is_due(self, commit: Commit, gang: Body) -> bool:
        """Whether something of the replica lacked its minimum for long, by what can be known."""
        known = self._hearing.known(commit.at)
        delay = self._policies.shortest_delay(controller_uid(gang), known)
        begun = commit.at - delay + (commit.at - known)
        keys = (PART_OF, SET_REPLICA_INDEX)
        return any(
            lack.since <= begun and lack.until >= known
            for clique in (*self._chronicle.of("podcliques"), *self._gone.values())
            if clique["metadata"]["namespace"] == commit.place.namespace
            and (lack := self._lacks.get(clique["metadata"]["uid"])) is not None
            and all(label(clique, key) == label(gang, key) for key in keys)
        )


def _stamps(gang: Body) -> dict[str, str]:
    text = gang["metadata"].get("annotations", {}).get(RECYCLED, "{}")
    return msgspec.json.decode(text, type=dict[str, str])
