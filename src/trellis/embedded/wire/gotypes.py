# SPDX-License-Identifier: Apache-2.0
"""The Go structs behind the API's kinds, from `protobuf.json.gz` (`trellis.lab.protobuf`).

They tell what no OpenAPI document does: protobuf's numbers, and what Go writes when it is empty.
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


class _Table(msgspec.Struct, frozen=True):
    structs: dict[str, list[GoField]]
    objects: dict[str, dict[str, str]]


@cache
def _table() -> _Table:
    packed = files(__package__).joinpath("protobuf.json.gz").read_bytes()
    return msgspec.json.decode(gzip.decompress(packed), type=_Table)


def structs() -> dict[str, list[GoField]]:
    """By the name of their OpenAPI definition; fields in the order in which Go writes them."""
    return _table().structs


def objects() -> dict[str, dict[str, str]]:
    """The structs that are objects, by apiVersion and kind."""
    return _table().objects
