# SPDX-License-Identifier: Apache-2.0
"""On which terms a PodClique gets a new template, and what is noted with it. Pure.

What is noted travels with the very patch that hands the template over: there is no moment at which
the one is there without the other, and no write of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trellis.api.annotation import READY_BEFORE, RELEASED
from trellis.workloads.members.standing import is_behind
from trellis.workloads.updates.progress import is_under_way

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trellis.api.grove.podclique import PodClique

_MOST_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """`held`: a PodClique with an older template keeps it for now.

    `release`: the mark by which all pods of its replica of a scaling group are to be renewed.
    `unfinished`: another PodClique of that replica is still being updated, and with it this one.
    `by_hand`: its pods are left until people delete them. `ready`: by the name of a PodClique, how
    many of its pods are Ready, where somebody has looked: statuses lag behind.
    """

    held: bool = False
    release: str = ""
    unfinished: bool = False
    by_hand: bool = False
    ready: Mapping[str, int] = field(default_factory=dict)


AT_ONCE = Terms()


def ready_before(clique: PodClique) -> int:
    """How many of its pods were Ready when its last update began; none where nobody noted it."""
    text = clique.metadata.annotations.get(READY_BEFORE, "")
    known = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return int(text) if known else 0


def is_released(clique: PodClique, release: str) -> bool:
    return clique.metadata.annotations.get(RELEASED) == release


def notes(live: PodClique, terms: Terms, *, begins: bool) -> Iterator[tuple[str, str]]:
    """The annotations about updates that it is to have. `begins`: its template is handed over."""
    release = terms.release
    known = live.metadata.annotations.get(READY_BEFORE)
    if terms.by_hand and begins:
        # Nothing is taken down by it. Whoever rolls it one day counts anew.
        known = None
    elif begins or (release and not is_released(live, release)) or _is_rolled_late(live, terms):
        known = str(_ready(live, terms))
    if known is not None:
        yield READY_BEFORE, known
    if mark := release or live.metadata.annotations.get(RELEASED, ""):
        yield RELEASED, mark


def _is_rolled_late(live: PodClique, terms: Terms) -> bool:
    """Whether it is rolled now, and had its template before: from a time when nothing was."""
    noted = READY_BEFORE in live.metadata.annotations
    return not (terms.by_hand or terms.held or noted) and is_behind(live)


def _is_of_same_update(live: PodClique, release: str) -> bool:
    """Whether it was released in this update before, for a template that another has overtaken."""
    began = release.rpartition(" ")[2]
    return bool(began) and live.metadata.annotations.get(RELEASED, "").endswith(f" {began}")


def _ready(live: PodClique, terms: Terms) -> int:
    """What an update that is not over has taken down counts as well."""
    ready = terms.ready.get(live.metadata.name, live.status.ready_replicas)
    unfinished = (
        terms.unfinished or is_under_way(live.status) or _is_of_same_update(live, terms.release)
    )
    return max(ready, ready_before(live)) if unfinished else ready
