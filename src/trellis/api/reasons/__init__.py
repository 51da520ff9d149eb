# SPDX-License-Identifier: Apache-2.0
"""The catalogue of reasons: why anything is as it is, in one word, with who acts and how.

Grove's words and those of the source documents are exact. A word appears once; a controller uses
the constants here and never a string of its own.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from trellis.api.reasons import cliques, events, gangs, objects, pending, topology, updates
from trellis.api.reasons.reason import Reason, Who

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

__all__ = [
    "CATALOGUE",
    "Reason",
    "TwiceInTheCatalogue",
    "Who",
    "catalogue",
    "cliques",
    "events",
    "gangs",
    "objects",
    "pending",
    "topology",
    "updates",
]


class TwiceInTheCatalogue(ValueError):
    """Two entries have the same word."""


def catalogue(*rooms: ModuleType) -> Mapping[str, Reason]:
    """All reasons of these modules by their word."""
    found: dict[str, Reason] = {}
    for reason in _all(rooms):
        if found.setdefault(reason.token, reason) is not reason:
            raise TwiceInTheCatalogue(reason.token)
    return MappingProxyType(found)


def _all(rooms: tuple[ModuleType, ...]) -> Iterator[Reason]:
    for room in rooms:
        yield from (value for value in vars(room).values() if isinstance(value, Reason))


CATALOGUE = catalogue(cliques, events, gangs, objects, pending, topology, updates)
