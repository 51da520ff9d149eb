# SPDX-License-Identifier: Apache-2.0
"""The Go structs behind the API's kinds, from `gotypes.json.gz` (`trellis.lab.structs`).

They tell what no OpenAPI document does: protobuf's numbers, and what Go writes when it is empty,
and what a refusal calls a type.
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import msgspec


class GoField(NamedTuple):
    json: str
    """Empty for a struct whose fields are written as if they were its parent's."""
    number: int
    type: str
    """`s` string, `b` bool, `i` integer, `d` double, `y` bytes, `t` Time, `m` MicroTime,
    `u` Duration, `q` Quantity, `I` IntOrString, `r` raw JSON, else the name of a struct;
    before it `[` for a list, `{` for a map by string, `<` for a named list, itself a message."""
    flags: str
    """`p` pointer, `o` omitempty, `z` omitzero, `i` inline."""
    go: str
    """The type as Go prints it, behind the pointer: `map[string]v1.ExtraValue`."""

    def left_out(self, struct: bool) -> bool:
        """Whether JSON goes without it when it is empty; an empty struct is none to omitempty."""
        return "z" in self.flags or ("o" in self.flags and ("p" in self.flags or not struct))


class _Table(msgspec.Struct, frozen=True):
    structs: dict[str, list[GoField]]
    objects: dict[str, dict[str, str]]


@cache
def _table() -> _Table:
    packed = files(__package__).joinpath("gotypes.json.gz").read_bytes()
    return msgspec.json.decode(gzip.decompress(packed), type=_Table)


def structs() -> dict[str, list[GoField]]:
    """By the name of their OpenAPI definition; fields in the order in which Go writes them."""
    return _table().structs


def fields(struct: str) -> dict[str, GoField]:
    """Those that JSON shows of a struct, by name: with an object's kind and version, and with those
    of the structs inside it that are written as if they were its own."""
    own = dict.fromkeys(("kind", "apiVersion"), _WORD) if struct in _with_a_kind() else {}
    for each in _table().structs[struct]:
        own |= fields(each.type) if "i" in each.flags else {each.json: each}
    return own


_WORD = GoField("", 0, "s", "o", "string")


@cache
def _with_a_kind() -> frozenset[str]:
    return frozenset(name for each in objects().values() for name in each.values())


def objects() -> dict[str, dict[str, str]]:
    """The structs that are objects, by apiVersion and kind."""
    return _table().objects
