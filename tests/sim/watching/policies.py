# SPDX-License-Identifier: Apache-2.0
"""What sets said of late about how they are to be updated, and when their gangs are to fall."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.sim.acts import BY_HAND
from trellis.api.durations import to_seconds
from trellis.workloads.admission.defaults import TERMINATION_DELAY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.sim.chronicle import Body, Commit
    from tests.sim.watching.finding import Finding


@dataclass(frozen=True, slots=True)
class _Policy:
    """`most`: by clique or scaling group, how many may be down at once if it says so. `delay`: for
    how many seconds something may be broken."""

    since: float
    by_hand: bool
    most: Mapping[str, int]
    delay: float


class Policies:
    """By the uid of a set, all that it ever said."""

    def __init__(self) -> None:
        self._said: dict[str, list[_Policy]] = defaultdict(list)

    def see(self, commit: Commit) -> Iterator[Finding]:
        """It finds nothing; others ask it."""
        if commit.place.plural == "podcliquesets" and commit.new is not None:
            found = commit.new
            now = _Policy(commit.at, is_by_hand(found), _limits(found), _delay(found))
            said = self._said[commit.uid]
            if not said or replace(said[-1], since=commit.at) != now:
                said.append(now)
        yield from ()

    def was_by_hand(self, uid: str, known: float) -> bool:
        """Whether it has been OnDelete ever since then."""
        return all(one.by_hand for one in self._of_late(uid, known))

    def has_rolled(self, uid: str, known: float) -> bool:
        """Whether it has been RollingRecreate ever since then."""
        return not any(one.by_hand for one in self._of_late(uid, known))

    def most(self, uid: str, name: str, known: float) -> int:
        """How many pods of a clique, or replicas of a group, could be taken down at most."""
        return max((one.most.get(name, 1) for one in self._of_late(uid, known)), default=1)

    def shortest_delay(self, uid: str, known: float) -> float:
        """After how many seconds what is broken falls."""
        return min((one.delay for one in self._of_late(uid, known)), default=0.0)

    def _of_late(self, uid: str, known: float) -> list[_Policy]:
        said = self._said[uid]
        before = [number for number, one in enumerate(said) if one.since <= known]
        return said[before[-1] if before else 0 :]


def is_by_hand(found: Body) -> bool:
    return bool(found["spec"].get("updateStrategy", {}).get("type") == BY_HAND)


def _delay(found: Body) -> float:
    return to_seconds(found["spec"]["template"].get("terminationDelay") or TERMINATION_DELAY)


def _limits(found: Body) -> dict[str, int]:
    template = found["spec"]["template"]
    entries = (*template["cliques"], *template.get("podCliqueScalingGroups", ()))
    limits = {one["name"]: one.get("rollingUpdate", {}).get("maxUnavailable") for one in entries}
    return {name: max(most, 1) for name, most in limits.items() if most is not None}
