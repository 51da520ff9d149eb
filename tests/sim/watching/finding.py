# SPDX-License-Identifier: Apache-2.0
"""What a watcher says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sim.chronicle import Commit


@dataclass(frozen=True, slots=True)
class Finding:
    """What does not hold, by the id of what should."""

    id: str
    text: str

    def __str__(self) -> str:
        return f"{self.id}: {self.text}"


class Watcher(Protocol):
    def see(self, commit: Commit) -> Iterator[Finding]:
        """Called after every commit, in order."""
