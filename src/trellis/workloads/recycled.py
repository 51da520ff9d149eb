# SPDX-License-Identifier: Apache-2.0
"""When pods of a gang were last made anew, as its PodGang says. Pure.

The gang controller alone writes these stamps; everybody else only reads them, here.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import msgspec

from trellis.api.annotation import RECYCLED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trellis.api.scheduler.podgang import PodGang

EVERY_CLIQUE = "*"

# So near the ends of all time, a stamp cannot be told in another zone, nor a second be added to it.
_EARLIEST, _LATEST = datetime(2, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)

# Without a time zone a stamp could not be compared with those of the cluster.
_STAMPS = msgspec.json.Decoder(dict[str, Annotated[datetime, msgspec.Meta(tz=True)]])


def stamps(gang: PodGang) -> Mapping[str, datetime]:
    """By the full name of a PodClique, or for all of them under `*`. What is unusable is none."""
    text = gang.metadata.annotations.get(RECYCLED)
    if not text:
        return {}
    try:
        found = _STAMPS.decode(text)
    except msgspec.MsgspecError:
        return {}
    return {name: stamp for name, stamp in found.items() if _EARLIEST <= stamp < _LATEST}


def recycled_at(gang: PodGang, clique: str) -> datetime | None:
    """When that PodClique last was, by itself or with all others."""
    found = stamps(gang)
    times = [found[name] for name in (clique, EVERY_CLIQUE) if name in found]
    return max(times, default=None)


def is_up_since(first_available: datetime | None, recycled: datetime | None) -> bool:
    """Whether a PodClique has held its minimum since it was made, or last made anew."""
    if first_available is None:
        return False
    return recycled is None or first_available > recycled
