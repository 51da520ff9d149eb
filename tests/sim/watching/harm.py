# SPDX-License-Identifier: Apache-2.0
"""Who is not to be touched: a story may say of which cliques no pod is ever deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.chronicle import is_leaving, label
from tests.sim.watching.finding import Finding
from trellis.api.labels import POD_CLIQUE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tests.sim.chronicle import Commit


class Harm:
    """GT: what falls takes nobody along who could do without it."""

    def __init__(self, unharmed: Collection[str]) -> None:
        self._unharmed = unharmed

    def see(self, commit: Commit) -> Iterator[Finding]:
        if commit.place.plural != "pods" or not commit.caller.is_operator or commit.old is None:
            return
        gone = commit.new is None or is_leaving(commit.new)
        if gone and not is_leaving(commit.old) and label(commit.old, POD_CLIQUE) in self._unharmed:
            yield Finding("GT", f"{commit.place} was deleted, and is none of those that must fall")
