# SPDX-License-Identifier: Apache-2.0
"""Reads from the caches what a pass over a gang may look at. It decides nothing and writes nothing.

What counts as part of a gang is found by exact names that the set works out, and by owners.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api.meta import Key
from trellis.runtime.writes import part_of
from trellis.workloads.caches import BY_GANG
from trellis.workloads.classes import missing_in_update
from trellis.workloads.departed import Departed
from trellis.workloads.ledger import all_listed_names, by_index, is_ours
from trellis.workloads.outlines import Outlines
from trellis.workloads.podgang.failing import Failing
from trellis.workloads.podgang.lost import Lost
from trellis.workloads.podgang.membership import expected, is_wanted, place_of
from trellis.workloads.podgang.muster import is_gang_scheduled
from trellis.workloads.podgang.state import Part, State
from trellis.workloads.podgang.taken import doubtful
from trellis.workloads.pods import is_live
from trellis.workloads.recycled import stamps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trellis.api.grove.podclique import PodClique
    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.api.meta import Object
    from trellis.api.scheduler.podgang import PodGang
    from trellis.instruments.clock import Clock
    from trellis.workloads.caches import Caches
    from trellis.workloads.outline import Member, Outline
    from trellis.workloads.podgang.membership import Live, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A set that has a gang of that name, or owns one that it has no use for: then `place` is None.

    `rivals` are sets that were to have a gang of the same name and cannot.
    """

    set: PodCliqueSet
    outline: Outline
    place: Place | None = None
    rivals: tuple[PodCliqueSet, ...] = ()


class Observer:
    def __init__(self, caches: Caches, clock: Clock, most: int) -> None:
        """`most`: how many pods a PodClique may have at all."""
        self._most = most
        self._departed = Departed(caches.pods, clock)
        self._failing = Failing(caches.pods, clock)
        self._lost = Lost(caches.gangs, clock)
        self._caches = caches
        self._outlines = Outlines()

    def identity(self, key: Key) -> str | None:
        """In whose name a gang is written: its own, or while there is none, a part of its set's.

        So it waits for its own writes, and for those of no other gang.
        """
        gang: PodGang | None = self._caches.gangs.get(key)
        if gang is not None:
            return gang.metadata.uid
        claim = self.claim(key)
        return part_of(claim.set.metadata.uid, key.name) if claim is not None else None

    def claim(self, key: Key) -> Claim | None:
        """Whose gang has that name. The set that controls it goes first, then the oldest."""
        gang = self._caches.gangs.get(key)
        sets, marks = self._claimants(self._caches.cliques.find(BY_GANG, str(key)))
        owning = self._caches.set_of(gang) if gang is not None else None
        ranked = sorted(sets, key=lambda one: (one.metadata.creation_timestamp, one.metadata.uid))
        if gang is not None and owning is not None:
            uid = owning.metadata.uid
            ranked = [owning, *(one for one in ranked if one.metadata.uid != uid)]
            marks[uid].append(gang.metadata.labels)
        claims = [self._claim(key, one, marks[one.metadata.uid]) for one in ranked]
        placed = [claim for claim in claims if claim.place is not None]
        if owning is not None:
            first = claims[0]
        elif placed:
            first = placed[0]
        else:
            return None
        rivals = tuple(one.set for one in placed if one is not first)
        if not rivals:
            return first
        return Claim(set=first.set, outline=first.outline, place=first.place, rivals=rivals)

    def is_wanted(self, claim: Claim, place: Place) -> bool:
        live = self._live(claim.set, claim.outline, place.replica)
        return is_wanted(claim.outline, place, live)

    def state(self, key: Key, claim: Claim, place: Place) -> State:
        outline, gang = claim.outline, self._caches.gangs.get(key)
        if gang is not None and not _controls(claim.set, gang):
            gang = None
        members = expected(outline, place, self._live(claim.set, outline, place.replica))
        last = gang or self._lost.of(key, claim.set.metadata.uid)
        names = all_listed_names(last) if last is not None else {}
        listed = names if last is not None and is_ours(last) else {}
        parts = tuple(self._parts(claim.set, members, listed))
        present = {part.name for part in parts}
        return State(
            key=key,
            set=claim.set,
            outline=outline,
            place=place,
            gang=gang,
            expected=tuple(member.name for member in members),
            parts=parts,
            absent=tuple(member for member in members if member.name not in present),
            listed_names=names,
            stamps=stamps(last) if last is not None else {},
            base=self._base(claim.set, outline, place),
            missing_classes=missing_in_update(self._caches, claim.set, place.replica),
        )

    def is_named_by_live_pods(self, key: Key) -> bool:
        return any(is_live(pod) for pod in self._caches.pods.find(BY_GANG, str(key)))

    def is_base_scheduled(self, state: State) -> bool:
        """Whether the gang that a scaled one comes after has its minima on nodes, or has none."""
        grouped = {group.name for group in state.base.spec.podgroups} if state.base else set()
        if any(name not in grouped for name in self._base_cliques_with_pods(state)):
            # It is yet to be made, or to grow.
            return False
        if state.base is None:
            return True
        namespace, pods = state.key.namespace, self._caches.pods
        return is_gang_scheduled(
            state.base,
            all_listed_names(state.base),
            lambda name: pods.get(Key(namespace, name)),
        )

    def clique(self, owner: PodCliqueSet, name: str) -> PodClique | None:
        """The PodClique of that name, if it is there to stay and the set's."""
        found = self._caches.cliques.get(Key(owner.metadata.namespace, name))
        if found is None or found.metadata.deleting:
            return None
        owning = self._caches.set_of(found)
        return found if owning is not None and owning.metadata.uid == owner.metadata.uid else None

    def gang(self, owner: PodCliqueSet, name: str) -> PodGang | None:
        """The PodGang of that name, if the set controls it."""
        found = self._caches.gangs.get(Key(owner.metadata.namespace, name))
        return found if found is not None and _controls(owner, found) else None

    def live(self, state: State) -> Live:
        return self._live(state.set, state.outline, state.place.replica)

    def _claim(self, key: Key, owner: PodCliqueSet, marks: Iterable[Mapping[str, str]]) -> Claim:
        outline = self._outlines.of(owner)
        return Claim(set=owner, outline=outline, place=place_of(outline, key.name, marks))

    def _claimants(
        self, cliques: Iterable[PodClique]
    ) -> tuple[list[PodCliqueSet], defaultdict[str, list[Mapping[str, str]]]]:
        """The sets that PodCliques are of, and by the uid of each the labels of those.

        Whose one is, its owners say: anybody may label anything.
        """
        sets: dict[str, PodCliqueSet] = {}
        marks: defaultdict[str, list[Mapping[str, str]]] = defaultdict(list)
        for clique in cliques:
            if (found := self._caches.set_of(clique)) is not None:
                sets[found.metadata.uid] = found
                marks[found.metadata.uid].append(clique.metadata.labels)
        return list(sets.values()), marks

    def _live(self, owner: PodCliqueSet, outline: Outline, replica: int) -> Live:
        """A scaling group that is not there is made as the template has it."""
        found: dict[str, int] = {}
        for template in outline.groups.values():
            name = outline.group_name(replica, template)
            group = self._caches.groups.get(Key(owner.metadata.namespace, name))
            lives = group is not None and _controls(owner, group) and not group.metadata.deleting
            found[template.name] = group.spec.replicas if group and lives else template.replicas
        return found

    def _parts(
        self,
        owner: PodCliqueSet,
        members: Sequence[Member],
        listed: Mapping[str, Sequence[str]],
    ) -> Iterator[Part]:
        pods, namespace = self._caches.pods, owner.metadata.namespace
        for member in members:
            clique = self.clique(owner, member.name)
            if clique is None:
                continue
            found = {pod.metadata.name: pod for pod in pods.owned(clique.metadata.uid)}
            names = listed.get(member.name)
            for name in names or ():
                # What a PodClique had that was there before keeps its name for as long as it lives.
                if name not in found and (pod := pods.get(Key(namespace, name))) is not None:
                    found[name] = pod
            doubts = doubtful(clique, names or (), found)
            found = {name: pod for name, pod in found.items() if name not in doubts}
            yield Part(
                member=member,
                clique=clique,
                pods=found,
                # One that lists none is not written yet or spoiled: what lives is kept.
                listed=by_index(member.name, names or (), found) or None,
                gone=self._departed.of(clique.metadata.key),
                doubtful=doubts,
                failed_for=self._failing.failed_for(found.values()),
                most=self._most,
            )

    def _base(self, owner: PodCliqueSet, outline: Outline, place: Place) -> PodGang | None:
        return self.gang(owner, outline.base_gang(place.replica)) if place.group else None

    def _base_cliques_with_pods(self, state: State) -> Iterator[str]:
        """Those that the base gang is to have. One that is not there yet may have pods."""
        for member in state.outline.base_members(state.place.replica, self.live(state)):
            clique = self.clique(state.set, member.name)
            if clique is None or clique.spec.replicas > 0:
                yield member.name


def _controls(owner: PodCliqueSet, found: Object) -> bool:
    controller = found.metadata.controller
    return controller is not None and controller.uid == owner.metadata.uid
