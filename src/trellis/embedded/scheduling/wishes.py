# SPDX-License-Identifier: Apache-2.0
"""What a pod asks of a node, worked out once. Pure.

Pods of one group differ in little but their names: what they ask of a single node is their `Shape`,
which they share, so that it is compared with a node once for all of them.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec.json import encode

from trellis.api import quantity
from trellis.api.core.requests import effective
from trellis.embedded.scheduling.filters.neighbours import NO_TERMS, Terms, terms
from trellis.embedded.scheduling.filters.spreading import Rule, rules
from trellis.embedded.scheduling.matching import names_meant, node_matcher, term_matcher
from trellis.embedded.scheduling.nodes import HOSTNAME
from trellis.embedded.scheduling.pods import PodAffinity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.api.meta import Key, Metadata
    from trellis.embedded.scheduling.matching import NodeMatcher
    from trellis.embedded.scheduling.pods import (
        NodeSelector,
        ScheduledPod,
        Spec,
        Spread,
        Toleration,
    )

CPU, MEMORY, PODS = "cpu", "memory", "pods"
# What a container is taken to need that does not say so. It counts for scores alone.
_UNSAID = {CPU: quantity.parse("100m"), MEMORY: quantity.parse("200Mi")}
_MOST_SHAPES = 1024

HostPort = tuple[str, str, int]
"""Address (empty: all), protocol, port."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shape:
    """What is asked of a single node, whatever runs on the others."""

    priority: int
    requests: tuple[tuple[str, int], ...]
    weight: tuple[int, int]
    """CPU and memory as scores reckon them."""
    ports: tuple[HostPort, ...]
    tolerations: tuple[Toleration, ...]
    selects: NodeMatcher | None
    prefers: tuple[tuple[int, NodeMatcher], ...]
    hosts: frozenset[str] | None
    """The hostnames that it is pinned to, if it is."""
    names: frozenset[str] | None
    """The names of the nodes that it is pinned to, if it is."""

    @property
    def pinned(self) -> bool:
        return self.hosts is not None or self.names is not None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wish:
    """A pod and what it asks for."""

    pod: ScheduledPod
    shape: Shape
    terms: Terms
    spread: tuple[Rule, ...]

    @property
    def uid(self) -> str:
        return self.pod.metadata.uid

    @property
    def key(self) -> Key:
        return self.pod.metadata.key

    @property
    def metadata(self) -> Metadata:
        return self.pod.metadata

    @property
    def labels(self) -> Mapping[str, str]:
        return self.pod.metadata.labels

    @property
    def namespace(self) -> str:
        return self.pod.metadata.namespace

    @property
    def priority(self) -> int:
        return self.shape.priority

    @property
    def sociable(self) -> bool:
        """Whether it matters to it where other pods are."""
        return bool(self.spread or self.terms.required or self.terms.forbidden)

    @property
    def has_claims(self) -> bool:
        return bool(self.pod.spec.resource_claims)


@dataclass(slots=True)
class Wishes:
    """Makes wishes of pods, and remembers the shapes it met."""

    _shapes: OrderedDict[Any, Shape] = field(default_factory=OrderedDict)
    _companies: OrderedDict[Any, tuple[Terms, tuple[Rule, ...]]] = field(
        default_factory=OrderedDict
    )

    def of(self, pod: ScheduledPod) -> Wish:
        terms_, spread = self._company(pod)
        return Wish(
            pod=pod,
            shape=self._shape(pod.spec),
            terms=terms_,
            spread=spread,
        )

    def _company(self, pod: ScheduledPod) -> tuple[Terms, tuple[Rule, ...]]:
        """What pods ask of where others are: the same objects for all of a group."""
        affinity, spread = pod.spec.affinity, pod.spec.topology_spread_constraints
        near, far = affinity.pod_affinity, affinity.pod_anti_affinity
        if near == far == PodAffinity() and not spread:
            return NO_TERMS, ()
        asked = (near, far, spread)
        labels = pod.metadata.labels
        own = tuple((key, labels.get(key)) for key in _own_keys(asked))
        key = (pod.metadata.namespace, own, encode(asked))
        found = self._companies.get(key)
        if found is None:
            made = terms(pod.metadata, near, far)
            found = self._companies[key] = (made, rules(pod.metadata, spread))
            if len(self._companies) > _MOST_SHAPES:
                self._companies.popitem(last=False)
        return found

    def _shape(self, spec: Spec) -> Shape:
        requests = tuple(sorted(effective(spec).items()))
        ports = tuple(sorted(set(_ports(spec))))
        nodes = spec.affinity.node_affinity
        selected = tuple(sorted(spec.node_selector.items()))
        asked = (requests, ports, _weight(spec, dict(requests)), spec.priority)
        key = (asked, selected, nodes, spec.tolerations)
        found = self._shapes.get(key)
        if found is not None:
            self._shapes.move_to_end(key)
            return found
        found = self._shapes[key] = Shape(
            priority=spec.priority,
            requests=tuple((name, amount) for name, amount in requests if amount),
            weight=asked[2],
            ports=ports,
            tolerations=spec.tolerations,
            selects=_selects(spec.node_selector, nodes.required),
            prefers=tuple(
                (one.weight, term_matcher(one.preference)) for one in nodes.preferred if one.weight
            ),
            hosts=_hosts(spec.node_selector, nodes.required),
            names=names_meant(nodes.required) if nodes.required else None,
        )
        if len(self._shapes) > _MOST_SHAPES:
            self._shapes.popitem(last=False)
        return found


def _selects(labels: Mapping[str, str], required: NodeSelector | None) -> NodeMatcher | None:
    wanted = tuple(labels.items())
    affinity = node_matcher(required) if required else None
    if not wanted:
        return affinity

    def selects(name: str, has: Mapping[str, str]) -> bool:
        return all(has.get(key) == value for key, value in wanted) and (
            affinity is None or affinity(name, has)
        )

    return selects


def _hosts(labels: Mapping[str, str], required: NodeSelector | None) -> frozenset[str] | None:
    """The hostnames outside of which no node can match: to find those few without a search."""
    if HOSTNAME in labels:
        return frozenset({labels[HOSTNAME]})
    hosts: set[str] = set()
    for term in required.node_selector_terms if required else ():
        named = [
            one.values
            for one in term.match_expressions
            if one.key == HOSTNAME and one.operator == "In"
        ]
        if not named:
            return None
        hosts.update(named[0])
    return frozenset(hosts) if required else None


def _own_keys(asked: tuple[PodAffinity, PodAffinity, tuple[Spread, ...]]) -> list[str]:
    """The labels of a pod whose own values its terms speak of."""
    near, far, spread = asked
    terms = [
        *near.required,
        *far.required,
        *(one.pod_affinity_term for one in (*near.preferred, *far.preferred)),
    ]
    keys = {key for term in terms for key in (*term.match_label_keys, *term.mismatch_label_keys)}
    return sorted(keys.union(*(one.match_label_keys for one in spread)))


def _ports(spec: Spec) -> Iterable[HostPort]:
    sidecars = (one for one in spec.init_containers if one.is_sidecar)
    for container in (*spec.containers, *sidecars):
        for port in container.ports:
            if port.host_port:
                ip = "" if port.host_ip in {"0.0.0.0", "::"} else port.host_ip  # noqa: S104
                yield ip, port.protocol, port.host_port


def _weight(spec: Spec, requests: Mapping[str, int]) -> tuple[int, int]:
    def reckoned(name: str) -> int:
        said = spec.resources.requests if spec.resources else {}
        silent = sum(name not in one.resources.requests for one in spec.containers)
        return requests.get(name, 0) + (0 if name in said else silent * _UNSAID[name])

    return reckoned(CPU), reckoned(MEMORY)
