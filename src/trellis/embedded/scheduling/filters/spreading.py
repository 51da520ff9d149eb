# SPDX-License-Identifier: Apache-2.0
"""Pods that are to be spread evenly over domains (topologySpreadConstraints, DoNotSchedule). Pure.

Those that would only rather be spread (ScheduleAnyway) are not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.embedded.scheduling.filters.fitting import kept_off
from trellis.embedded.scheduling.filters.neighbours import of_keys, selects
from trellis.embedded.scheduling.filters.refusals import NO_DOMAIN, SKEWED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from trellis.api.meta import Metadata
    from trellis.embedded.scheduling.filters.refusals import Refusal
    from trellis.embedded.scheduling.filters.tallies import Tallies
    from trellis.embedded.scheduling.pods import Spread
    from trellis.embedded.scheduling.rooms import Room
    from trellis.embedded.scheduling.wishes import Wish
    from trellis.embedded.scheduling.world import World

_HONOR = "Honor"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    namespace: str
    topology_key: str
    max_skew: int
    min_domains: int
    selects: Callable[[Mapping[str, str]], bool]
    honors_affinity: bool
    honors_taints: bool


def rules(metadata: Metadata, constraints: Iterable[Spread]) -> tuple[Rule, ...]:
    return tuple(
        Rule(
            namespace=metadata.namespace,
            topology_key=one.topology_key,
            max_skew=one.max_skew,
            min_domains=one.min_domains or 1,
            selects=selects(
                one.label_selector, of_keys(one.match_label_keys, metadata.labels, "In")
            ),
            honors_affinity=one.node_affinity_policy == _HONOR,
            honors_taints=one.node_taints_policy == _HONOR,
        )
        for one in constraints
        if one.when_unsatisfiable == "DoNotSchedule"
    )


class Balance:
    """How many pods that count are in which domain; `absent` count as gone."""

    def __init__(
        self, wish: Wish, world: World, tallies: Tallies, absent: frozenset[str] = frozenset()
    ) -> None:
        self._wish = wish
        self._tallies = tallies
        self._absent = absent
        self._counts = [Counter[str]() for _ in wish.spread]
        keys = [rule.topology_key for rule in wish.spread]
        for room in world.rooms():
            if all(key in room.labels for key in keys):
                self._add(room)
        self._least = [
            min(counts.values(), default=0) if len(counts) >= rule.min_domains else 0
            for rule, counts in zip(wish.spread, self._counts, strict=True)
        ]

    def _add(self, room: Room) -> None:
        for rule, counts in zip(self._wish.spread, self._counts, strict=True):
            if _is_counted(rule, self._wish, room):
                (count,) = (
                    self._counted(rule, room)
                    if self._absent
                    else self._tallies.count(rule, room, self._counted)
                )
                counts[room.labels[rule.topology_key]] += count

    def _counted(self, rule: Rule, room: Room) -> tuple[int]:
        count = sum(
            rule.selects(pod.labels)
            for uid, pod in room.pods.items()
            if pod.namespace == rule.namespace
            and uid not in self._absent
            and not pod.metadata.deleting
        )
        return (count,)

    def refusal(self, room: Room) -> Refusal | None:
        for rule, counts, least in zip(self._wish.spread, self._counts, self._least, strict=True):
            if rule.topology_key not in room.labels:
                return NO_DOMAIN
            own = rule.selects(self._wish.labels)
            if counts[room.labels[rule.topology_key]] + own - least > rule.max_skew:
                return SKEWED
        return None


def _is_counted(rule: Rule, wish: Wish, room: Room) -> bool:
    shape = wish.shape
    if rule.honors_affinity and shape.selects and not shape.selects(room.name, room.labels):
        return False
    return not (rule.honors_taints and kept_off(shape, room.outside))
