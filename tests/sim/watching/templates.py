# SPDX-License-Identifier: Apache-2.0
"""What pods are made from: the template of their PodClique, as it was of late."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tests.sim.chronicle import controller_uid, image
from tests.sim.watching.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.chronicle import Commit
    from tests.sim.watching.hearing import Hearing


class Templates:
    """I-19: what comes back is new once its PodClique is, and not before."""

    def __init__(self, hearing: Hearing) -> None:
        self._hearing = hearing
        self._had: dict[str, list[tuple[float, str]]] = defaultdict(list)
        """By the uid of a PodClique, its images and since when they were so."""

    def see(self, commit: Commit) -> Iterator[Finding]:
        if commit.new is None:
            return
        if commit.place.plural == "podcliques":
            self._had[commit.uid].append((commit.at, image(commit.new["spec"]["podSpec"])))
        elif commit.place.plural == "pods" and commit.old is None and commit.caller.is_operator:
            made = image(commit.new["spec"])
            carried = self._of_late(controller_uid(commit.new), commit.at)
            if made not in carried:
                yield Finding("I-19", f"{commit.place} has {made}, and its PodClique {carried}")

    def _of_late(self, uid: str, now: float) -> list[str]:
        known, had = self._hearing.known(now), self._had[uid]
        before = [number for number, (since, _) in enumerate(had) if since <= known]
        return [one for _, one in had[before[-1] if before else 0 :]]
