# SPDX-License-Identifier: Apache-2.0
"""Pods that want to be near others, or far from them (pod affinity and anti-affinity). Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api.selectors import LabelSelector, Requirement, matcher
from trellis.embedded.scheduling.filters.refusals import NOT_NEAR, SHUNNED, TOO_NEAR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from trellis.api.meta import Metadata
    from trellis.embedded.scheduling.filters.refusals import Refusal
    from trellis.embedded.scheduling.filters.tallies import Tallies
    from trellis.embedded.scheduling.pods import PodAffinity, PodTerm
    from trellis.embedded.scheduling.rooms import Room
    from trellis.embedded.scheduling.wishes import Wish
    from trellis.embedded.scheduling.world import World

    NamespaceLabels = Callable[[str], Mapping[str, str]]

Domain = tuple[str, str]
"""A topology key and its value on a node."""
# What it counts for a pod that others must be near, to be near them.
_MUTUAL_WEIGHT = 1


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """Which pods are meant, and within what."""

    topology_key: str
    namespaces: frozenset[str]
    selects_namespace: Callable[[Mapping[str, str]], bool] | None
    selects: Callable[[Mapping[str, str]], bool]

    def means(self, pod: Wish, labels_of: NamespaceLabels) -> bool:
        there = pod.namespace in self.namespaces or (
            self.selects_namespace is not None and self.selects_namespace(labels_of(pod.namespace))
        )
        return there and self.selects(pod.labels)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Terms:
    """All terms of a pod. `liked` have weights, those of anti-affinity negative ones."""

    required: tuple[Term, ...] = ()
    forbidden: tuple[Term, ...] = ()
    liked: tuple[tuple[int, Term], ...] = ()

    @property
    def select_namespaces(self) -> bool:
        hard = (*self.required, *self.forbidden)
        return any(term.selects_namespace is not None for term in hard)


NO_TERMS = Terms()


def terms(metadata: Metadata, near: PodAffinity, far: PodAffinity) -> Terms:
    if not (near.required or near.preferred or far.required or far.preferred):
        return NO_TERMS
    liked = [(one.weight, one.pod_affinity_term) for one in near.preferred]
    disliked = [(-one.weight, one.pod_affinity_term) for one in far.preferred]
    return Terms(
        required=tuple(_term(one, metadata) for one in near.required),
        forbidden=tuple(_term(one, metadata) for one in far.required),
        liked=tuple((weight, _term(one, metadata)) for weight, one in (*liked, *disliked)),
    )


def _term(term: PodTerm, metadata: Metadata) -> Term:
    own = not term.namespaces and term.namespace_selector is None
    selector = term.namespace_selector
    return Term(
        topology_key=term.topology_key,
        namespaces=frozenset({metadata.namespace} if own else term.namespaces),
        selects_namespace=None if selector is None else matcher(selector),
        selects=selects(
            term.label_selector,
            (
                *of_keys(term.match_label_keys, metadata.labels, "In"),
                *of_keys(term.mismatch_label_keys, metadata.labels, "NotIn"),
            ),
        ),
    )


def of_keys(keys: Iterable[str], labels: Mapping[str, str], operator: str) -> Iterable[Requirement]:
    """Requirements on the pod's own values of those labels."""
    return (
        Requirement(key=key, operator=operator, values=(labels[key],))
        for key in keys
        if key in labels
    )


def selects(
    selector: LabelSelector | None, more: Iterable[Requirement]
) -> Callable[[Mapping[str, str]], bool]:
    if selector is None:
        return lambda _: False
    return matcher(LabelSelector(match_expressions=(*selector.requirements(), *more)))


class Neighbourhood:
    """How the pods of all nodes stand to one that is to join them; `absent` count as gone."""

    def __init__(
        self, wish: Wish, world: World, tallies: Tallies, absent: frozenset[str] = frozenset()
    ) -> None:
        self._wish = wish
        self._labels_of = world.labels_of_namespace
        self._absent = absent
        self._near = [Counter[str]() for _ in wish.terms.required]
        self._far = [Counter[str]() for _ in wish.terms.forbidden]
        self._shunned: dict[str, set[str]] = {}
        # What is counted depends on the labels of namespaces too, where these are selected.
        lasting = not absent and not wish.terms.select_namespaces
        for room in world.rooms() if wish.terms.required or wish.terms.forbidden else ():
            self._meet(room, tallies if lasting else None)
        # Pods of one group have the same terms: each is asked once.
        mean: dict[Term, bool] = {}
        for other, room in world.shunning():
            if other.uid not in absent:
                self._heed(other, room, mean)
        # The first of a group that wants to be together has nobody to be near to.
        self._may_be_first = not any(map(Counter.total, self._near)) and all(
            term.means(wish, self._labels_of) for term in wish.terms.required
        )

    def _meet(self, room: Room, tallies: Tallies | None) -> None:
        terms = self._wish.terms
        counts = (
            tallies.count(terms, room, self._counted) if tallies else self._counted(terms, room)
        )
        if not any(counts):
            return
        every = zip((*terms.required, *terms.forbidden), counts, strict=True)
        for (term, count), domains in zip(every, (*self._near, *self._far), strict=True):
            if term.topology_key in room.labels:
                domains[room.labels[term.topology_key]] += count

    def _counted(self, terms: Terms, room: Room) -> tuple[int, ...]:
        """How many pods each term means; to be near to, only those that all terms mean."""
        pods = [pod for uid, pod in room.pods.items() if uid not in self._absent]
        near = sum(all(term.means(pod, self._labels_of) for term in terms.required) for pod in pods)
        far = (sum(term.means(pod, self._labels_of) for pod in pods) for term in terms.forbidden)
        return (*[near] * len(terms.required), *far)

    def _heed(self, other: Wish, room: Room, mean: dict[Term, bool]) -> None:
        for term in other.terms.forbidden:
            if term not in mean:
                mean[term] = term.means(self._wish, self._labels_of)
            if mean[term] and term.topology_key in room.labels:
                domains = self._shunned.setdefault(term.topology_key, set())
                domains.add(room.labels[term.topology_key])

    def refusal(self, room: Room) -> Refusal | None:
        labels, terms = room.labels, self._wish.terms
        if terms.required and not self._is_near(labels):
            return NOT_NEAR
        for term, far in zip(terms.forbidden, self._far, strict=True):
            if term.topology_key in labels and far[labels[term.topology_key]]:
                return TOO_NEAR
        shunned = any(labels.get(key) in domains for key, domains in self._shunned.items())
        return SHUNNED if shunned else None

    def _is_near(self, labels: Mapping[str, str]) -> bool:
        required = self._wish.terms.required
        if any(term.topology_key not in labels for term in required):
            return False
        if all(
            near[labels[term.topology_key]] for term, near in zip(required, self._near, strict=True)
        ):
            return True
        return self._may_be_first


def liking(wish: Wish, world: World) -> Counter[Domain]:
    """How much the pod and those that are there want to be together, by where these are."""
    found: Counter[Domain] = Counter()
    labels_of = world.labels_of_namespace

    def add(term: Term, room: Room, weight: int, pod: Wish) -> None:
        if term.topology_key in room.labels and term.means(pod, labels_of):
            found[term.topology_key, room.labels[term.topology_key]] += weight

    for other, room in world.placed() if wish.terms.liked else ():
        for weight, term in wish.terms.liked:
            add(term, room, weight, other)
    for other, room in world.outgoing():
        mutual = ((_MUTUAL_WEIGHT, term) for term in other.terms.required)
        for weight, term in (*other.terms.liked, *mutual):
            add(term, room, weight, wish)
    return found
