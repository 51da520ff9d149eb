# SPDX-License-Identifier: Apache-2.0
"""The roles and bindings that a real cluster is born with; `trellis.lab.roles` records them."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from trellis.embedded.asking import Object


def objects() -> list[Object]:
    """Each as one would post it. New ones at every call: they are the caller's."""
    data = files("trellis.embedded.access").joinpath("bootstrap.json").read_bytes()
    return msgspec.json.decode(data, type=list[dict[str, object]])
