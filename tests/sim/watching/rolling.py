# SPDX-License-Identifier: Apache-2.0
"""How an update goes: who is taken down for it, and how many at a time.

A *take* is the decision to renew what has long been Ready: the ledger gives its index another name,
or a PodClique of a scaling group gets another pod spec, with which all pods of its replica are to
be renewed. What was down costs nothing, and a gang that falls is no update.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tests.sim.chronicle import controller_uid, image, is_leaving, is_ready, label, needed
from tests.sim.watching.finding import Finding
from tests.sim.watching.ledgers import by_index, ledger
from tests.sim.watching.policies import is_by_hand
from trellis.api.annotation import READY_BEFORE, RECYCLED
from trellis.api.labels import (
    PART_OF,
    POD_INDEX,
    SCALING_GROUP,
    SCALING_GROUP_REPLICA_INDEX,
    SET_REPLICA_INDEX,
    SHORT_CLIQUE_NAME,
    SHORT_GROUP_NAME,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.chronicle import Body, Chronicle, Commit
    from tests.sim.watching.hearing import Hearing
    from tests.sim.watching.policies import Policies


class _Unit(NamedTuple):
    """A pod of a PodClique in no scaling group, or a replica of a scaling group."""

    namespace: str
    set_name: str
    set_replica: str
    of: str
    number: str


@dataclass(slots=True)
class _Take:
    """`members`: the PodCliques by uid, with how many pods of each were Ready. `at`: when."""

    members: dict[str, int]
    grouped: bool
    at: float
    doomed: dict[str, None] = field(default_factory=dict)


class Rolling:
    """I-19 nothing is taken under OnDelete; RU no more at a time than an update may take down.

    `exact`: clocks are right, so that it is known what was made only a moment ago.
    """

    def __init__(
        self, chronicle: Chronicle, hearing: Hearing, policies: Policies, *, exact: bool = True
    ) -> None:
        self._exact = exact
        self._chronicle = chronicle
        self._hearing = hearing
        self._policies = policies
        self._ready: dict[str, float] = {}
        """By uid, since when pods have been Ready, with the labels that they have now."""
        self._takes: dict[_Unit, _Take] = {}

    def see(self, commit: Commit) -> Iterator[Finding]:
        plural, old, new = commit.place.plural, commit.old, commit.new
        if plural == "pods":
            self._note(commit)
        if commit.caller.is_operator and old is not None and new is not None:
            if plural == "podgangs" and _recycled(old) == _recycled(new):
                yield from self._renamed(commit, old, new)
            elif plural == "podcliques" and old["spec"]["podSpec"] != new["spec"]["podSpec"]:
                yield from self._handed_over(commit, new)
            elif plural == "podcliquesets" and _ended(old) != _ended(new):
                yield from self._finished(commit, new)
        for unit in [unit for unit, take in self._takes.items() if self._is_over(unit, take)]:
            del self._takes[unit]

    def _note(self, commit: Commit) -> None:
        old, new = commit.old, commit.new
        if new is None or is_leaving(new) or not is_ready(new):
            self._ready.pop(commit.uid, None)
        elif old is None or old["metadata"].get("labels") != new["metadata"].get("labels"):
            self._ready[commit.uid] = commit.at
        else:
            self._ready.setdefault(commit.uid, commit.at)

    def _renamed(self, commit: Commit, old: Body, new: Body) -> Iterator[Finding]:
        """A ledger says of pods that others are to come in their places."""
        uid, known = controller_uid(new), self._hearing.known(commit.at)
        taken: dict[_Unit, None] = {}
        for clique, index, pod in self._changed(commit.place.namespace, ledger(old), ledger(new)):
            was_ready = self._was_ready(pod, known)
            if was_ready and self._policies.was_by_hand(uid, known):
                yield Finding("I-19", f"{_name(pod)} is renewed, though its set is OnDelete")
            unit = _unit(clique, index)
            if was_ready and self._begins(unit, clique, commit.at):
                taken[unit] = None
            if unit in self._takes:
                self._takes[unit].doomed[_name(pod)] = None
        yield from self._judged(uid, taken, known)

    def _changed(
        self, namespace: str, old: dict[str, list[str]], new: dict[str, list[str]]
    ) -> Iterator[tuple[Body, str, Body]]:
        """PodCliques, indices and the pods that are there and no longer listed for them."""
        for name, names in old.items():
            clique = self._chronicle.get("podcliques", namespace, name)
            listed = by_index(new.get(name, ()))
            for index, name_of_pod in by_index(names).items():
                pod = self._chronicle.get("pods", namespace, name_of_pod)
                if clique is None or pod is None or listed.get(index, name_of_pod) == name_of_pod:
                    continue
                if controller_uid(pod) == clique["metadata"]["uid"]:
                    yield clique, index, pod

    def _handed_over(self, commit: Commit, clique: Body) -> Iterator[Finding]:
        """A replica of a scaling group is to be renewed, pod by pod or all at once."""
        found, known = self._set_of(clique), self._hearing.known(commit.at)
        if found is None or not label(clique, SCALING_GROUP):
            return
        uid, unit = found["metadata"]["uid"], _unit(clique, "")
        if self._policies.has_rolled(uid, known) and self._begins(unit, clique, commit.at):
            yield from self._judged(uid, {unit: None}, known)

    def _finished(self, commit: Commit, found: Body) -> Iterator[Finding]:
        """The set says that its update is over: as much is up as was noted when it began.

        Of several operators that act at once, one may not have heard yet that anything was taken,
        and says that it is nothing's turn; who believes that waits for nothing.
        """
        where, known = (commit.place.namespace, commit.place.name), self._hearing.known(commit.at)
        takes = [(unit, take) for unit, take in self._takes.items() if unit[:2] == where]
        if self._hearing.contested:
            takes = [(unit, take) for unit, take in takes if take.at <= known]
        down = sorted(f"{unit.number} of {unit.of}" for unit, take in takes if self._lacks(take))
        if _ended(found) and down and self._policies.has_rolled(commit.uid, known):
            yield Finding("RU", f"the update of {commit.place} is over, and {down} are still down")

    def _lacks(self, take: _Take) -> bool:
        """Whether less is up than was when the update began, by what was noted then."""
        members = [self._chronicle.by_uid(uid) for uid in take.members]
        clique = members[0]
        if clique is None:
            return False
        if not take.grouped:
            ready = [one for one in self._all_ready(clique) if _name(one) not in take.doomed]
            return len(ready) < min(_noted(clique), int(clique["spec"]["replicas"]))
        cliques = self._chronicle.of("podcliques", clique["metadata"]["namespace"])
        up: dict[str, bool] = {}
        was: dict[str, bool] = {}
        for one in cliques:
            if label(one, SCALING_GROUP) != label(clique, SCALING_GROUP):
                continue
            number = label(one, SCALING_GROUP_REPLICA_INDEX)
            ready = [pod for pod in self._all_ready(one) if _name(pod) not in take.doomed]
            up[number] = up.get(number, True) and len(ready) >= needed(one)
            was[number] = was.get(number, True) and _noted(one) >= needed(one)
        return sum(up.values()) < sum(was.values())

    def _begins(self, unit: _Unit, clique: Body, now: float) -> bool:
        """Whether it was up, and is taken only now."""
        if unit in self._takes:
            return False
        known = self._hearing.known(now)
        members, grouped = self._members(clique), bool(label(clique, SCALING_GROUP))
        if not members or (grouped and not all(self._was_up(one, known) for one in members)):
            return False
        ready = {one["metadata"]["uid"]: len(self._all_ready(one)) for one in members}
        self._takes[unit] = _Take(ready, grouped=grouped, at=now)
        return True

    def _judged(self, uid: str, taken: dict[_Unit, None], known: float) -> Iterator[Finding]:
        for unit, take in ((unit, self._takes[unit]) for unit in taken):
            alike = [one for one in self._takes if one._replace(number=unit.number) == unit]
            clique = self._chronicle.by_uid(next(iter(take.members)))
            key = SHORT_GROUP_NAME if take.grouped else SHORT_CLIQUE_NAME
            most = self._policies.most(uid, label(clique, key) if clique else "", known)
            if len(alike) > most:
                indices = sorted(one.number for one in alike)
                yield Finding("RU", f"{indices} of {unit.of} are down, and only {most} may be")
            others = {one.set_replica for one in self._takes if one[:2] == unit[:2]}
            if len(others) > 1 and self._policies.has_rolled(uid, known):
                yield Finding(
                    "RU", f"replicas {sorted(others)} of {unit.set_name} are both updated"
                )

    def _is_over(self, unit: _Unit, take: _Take) -> bool:
        """Whether it is up again, or there is nothing of it any more that could be."""
        members = [self._chronicle.by_uid(uid) for uid in take.members]
        found = self._set_of(members[0]) if members[0] is not None else None
        if found is None or is_by_hand(found) or None in members:
            return True
        there = [one for one in members if one is not None]
        # What was handed over and is overtaken before its pods were renewed has lost nothing, be it
        # by a change of another member only: all of them are released together.
        overtaken = any(image(one["spec"]["podSpec"]) != self._template_of(one) for one in there)
        return all(
            self._is_up(one, unit, take, overtaken=overtaken) for one in there if needed(one)
        )

    def _is_up(self, clique: Body, unit: _Unit, take: _Take, *, overtaken: bool) -> bool:
        ready = [one for one in self._all_ready(clique) if _name(one) not in take.doomed]
        if take.grouped:
            wanted = image(clique["spec"]["podSpec"])
            alike = sum(overtaken or image(one["spec"]) == wanted for one in ready)
            return alike >= needed(clique)
        before = min(take.members[clique["metadata"]["uid"]], clique["spec"]["replicas"])
        if not self._exact:
            # What was made last is given a moment, if anybody can tell; else as many do as were
            # there in the beginning, of which more may have come since.
            before = min(before, max(_noted(clique), needed(clique)))
        return len(ready) >= before or any(label(one, POD_INDEX) == unit.number for one in ready)

    def _template_of(self, clique: Body) -> str:
        """The image that the set has for it now."""
        found = self._set_of(clique)
        cliques = found["spec"]["template"]["cliques"] if found else ()
        name = label(clique, SHORT_CLIQUE_NAME)
        return next((image(one["spec"]["podSpec"]) for one in cliques if one["name"] == name), "")

    def _members(self, clique: Body) -> list[Body]:
        """The PodCliques that go with it; none while one of them is not there."""
        found = self._set_of(clique)
        if found is None or not label(clique, SCALING_GROUP):
            return [clique]
        keys = (SCALING_GROUP, SCALING_GROUP_REPLICA_INDEX)
        cliques = self._chronicle.of("podcliques", clique["metadata"]["namespace"])
        mine = [one for one in cliques if all(label(one, k) == label(clique, k) for k in keys)]
        groups = found["spec"]["template"].get("podCliqueScalingGroups", ())
        names = {one["name"]: one["cliqueNames"] for one in groups}
        return mine if len(mine) == len(names.get(label(clique, SHORT_GROUP_NAME), ())) else []

    def _set_of(self, clique: Body) -> Body | None:
        namespace = clique["metadata"]["namespace"]
        return self._chronicle.get("podcliquesets", namespace, label(clique, PART_OF))

    def _was_up(self, clique: Body, known: float) -> bool:
        ready = self._all_ready(clique)
        return sum(self._was_ready(one, known) for one in ready) >= needed(clique)

    def _was_ready(self, pod: Body, known: float) -> bool:
        return self._ready.get(pod["metadata"]["uid"], known + 1) <= known

    def _all_ready(self, clique: Body) -> list[Body]:
        pods = self._chronicle.objects["pods"]
        mine = self._chronicle.dependents.get(clique["metadata"]["uid"], ())
        return [pods[one] for one in mine if one in pods and _uid(pods[one]) in self._ready]


def _unit(clique: Body, index: str) -> _Unit:
    group = label(clique, SCALING_GROUP)
    return _Unit(
        clique["metadata"]["namespace"],
        label(clique, PART_OF),
        label(clique, SET_REPLICA_INDEX),
        group or _name(clique),
        label(clique, SCALING_GROUP_REPLICA_INDEX) if group else index,
    )


def _name(found: Body) -> str:
    return str(found["metadata"]["name"])


def _uid(found: Body) -> str:
    return str(found["metadata"]["uid"])


def _ended(found: Body) -> str:
    progress = found.get("status", {}).get("updateProgress") or {}
    return str(progress.get("updateEndedAt") or "")


def _noted(clique: Body) -> int:
    return int(clique["metadata"].get("annotations", {}).get(READY_BEFORE, "0"))


def _recycled(gang: Body) -> str:
    return str(gang["metadata"].get("annotations", {}).get(RECYCLED, ""))
