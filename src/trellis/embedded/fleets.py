# SPDX-License-Identifier: Apache-2.0
"""Which fleet a cluster has: one that comes with the package, or a file of the user's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trellis.embedded.keeping import Drawer, UnusableData
from trellis.embedded.nodes.loading import READY_MADE, load, ready_made

if TYPE_CHECKING:
    from trellis.embedded.nodes.fleet import Fleet

_FILE = "fleet.json"


class UnknownFleet(ValueError):
    """Neither the name of a fleet nor a file that can be read."""


class OtherFleet(ValueError):
    """The data folder holds the nodes of another fleet."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """Which fleet, and how many nodes of it; None: as many as it has."""

    fleet: str
    nodes: int | None = None

    def __str__(self) -> str:
        return f"--fleet {self.fleet}" + ("" if self.nodes is None else f" --nodes {self.nodes}")


def fleet_called(name: str) -> Fleet:
    """By the name of a ready-made one, or by the path of a file."""
    if name in READY_MADE:
        return ready_made(name)
    try:
        return load(Path(name).read_text())
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UnknownFleet(
            f"--fleet {name}: is none of {', '.join(READY_MADE)}, and no file that can be read"
            f" ({why}); choose one of these, or give the path of a fleet file"
        ) from None


def remembered(data: Path) -> Choice | None:
    """The fleet whose nodes are in a data folder."""
    found = Drawer(data).find(_FILE)
    if found is None:
        return None
    try:
        return msgspec.json.decode(found, type=Choice)
    except msgspec.DecodeError:
        raise UnusableData(
            f"{data}: the note of its fleet cannot be read; remove {_FILE} there, and name the"
            " fleet that it had with --fleet and --nodes"
        ) from None


def remember(data: Path, choice: Choice) -> None:
    """Raises OtherFleet if the folder has another: its nodes would be there, and nobody on them."""
    before = remembered(data)
    if before is not None and before != choice:
        raise OtherFleet(
            f"{data} holds a cluster with {before}, and {choice} was asked for; leave these"
            " options out to go on with it, or give another --data"
        )
    Drawer(data).put(_FILE, msgspec.json.encode(choice))
