# SPDX-License-Identifier: Apache-2.0
"""For whom to wait, as the init container's arguments say. Pure."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARENT = re.compile(r"(?P<name>[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?):(?P<needed>[0-9]{1,9})")


class Parent(NamedTuple):
    """A PodClique, and how many of its pods must be ready."""

    name: str
    needed: int


def parsed(arguments: Sequence[str]) -> tuple[Parent, ...]:
    """Each parent once. What cannot be read ends the program with a line that says why."""
    parser = argparse.ArgumentParser(
        prog="trellis wait",
        description="Wait until other PodCliques of the set have enough pods ready.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--podcliques",
        action="append",
        required=True,
        type=_parent,
        metavar="NAME:NUMBER",
        help="A PodClique of this namespace, and how many of its pods must be ready. Repeatable.",
    )
    found: dict[str, Parent] = {}
    for one in parser.parse_args(arguments).podcliques:
        before = found.get(one.name)
        if before is None or before.needed < one.needed:
            found[one.name] = one
    return tuple(found.values())


def _parent(text: str) -> Parent:
    match = _PARENT.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} names no PodClique; write it as NAME:NUMBER, like train-0-leader:1"
        )
    return Parent(match["name"], int(match["needed"]))
