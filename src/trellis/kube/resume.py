# SPDX-License-Identifier: Apache-2.0
"""Where a watch goes on after its stream has ended, and after how long. Pure.

A stream that brought anything is resumed at once: servers close watches in bursts, and waiting then
only lets history slip away. What fails without having brought anything is tried ever less often.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from trellis.kube.errors import (
    BadRequest,
    Expired,
    Invalid,
    KubeError,
    Refused,
    ServerFailed,
    Throttled,
    TimedOut,
    Unavailable,
    Unreadable,
)

if TYPE_CHECKING:
    from random import Random

FIRST_SECONDS = 0.2
# A server that comes back is noticed within this; one that says no is asked less often.
LONGEST_SECONDS = 4.0
LONGEST_REFUSED_SECONDS = 30.0
PATIENCE = 4


class Ending(Enum):
    """How a stream, or the attempt at one, ended."""

    CLOSED = auto()
    """The server ended it, or it was cut off, or could not be had."""
    LOST = auto()
    """What was known is of no more use: everything must be read anew."""
    REFUSED = auto()
    """The server will not give it to us; it may change its mind."""
    NO_INITIAL = auto()
    """The server does not send initial events: they must be listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far a watch has come. No resourceVersion: everything is still to be read."""

    resource_version: str = ""
    initial_by_stream: bool = True
    fruitless: int = 0
    """How many endings in a row came before anything else did."""


def ending_of(error: KubeError, position: Position) -> Ending:
    initial = position.initial_by_stream and not position.resource_version
    if initial and isinstance(error, (Invalid, BadRequest)):
        return Ending.NO_INITIAL
    if isinstance(error, (Expired, Unreadable)):
        return Ending.LOST
    if isinstance(error, ServerFailed):
        # Perhaps it stumbles over just this place in its history.
        return Ending.LOST if position.fruitless >= PATIENCE else Ending.CLOSED
    if isinstance(error, Refused) and not isinstance(error, (Throttled, Unavailable, TimedOut)):
        return Ending.REFUSED
    return Ending.CLOSED


def after(position: Position, ending: Ending, *, fruitful: bool) -> Position:
    """`fruitful`: the stream brought something, or lived long with nothing to bring."""
    known = "" if ending in {Ending.LOST, Ending.NO_INITIAL} else position.resource_version
    return replace(
        position,
        resource_version=known,
        initial_by_stream=position.initial_by_stream and ending is not Ending.NO_INITIAL,
        fruitless=0 if fruitful else position.fruitless + 1,
    )


def pause(position: Position, ending: Ending, error: KubeError | None, rng: Random) -> float:
    """Seconds to wait before going on."""
    asked = error.retry_after if isinstance(error, Refused) else None
    if asked:
        return min(asked, LONGEST_REFUSED_SECONDS) * (1 + rng.random() / 2)
    if position.fruitless == 0 or _first_surprise(position, ending):
        return 0.0
    longest = LONGEST_REFUSED_SECONDS if ending is Ending.REFUSED else LONGEST_SECONDS
    ceiling = min(longest, FIRST_SECONDS * 2 ** min(position.fruitless - 1, 10))
    return float(ceiling * (0.5 + rng.random() / 2))


def _first_surprise(position: Position, ending: Ending) -> bool:
    # Another way is there to be tried: no reason to wait, unless it has failed too.
    return ending in {Ending.LOST, Ending.NO_INITIAL} and position.fruitless == 1
