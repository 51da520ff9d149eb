# SPDX-License-Identifier: Apache-2.0
"""Whose an object is. It is asked of every child whenever a set is looked at, so it is quick."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trellis.api.meta import Object


def is_of(found: Object, uid: str) -> bool:
    """Whether the owner with that uid controls it and it is there to stay."""
    metadata = found.metadata
    if metadata.deletion_timestamp is not None:
        return False
    for owner in metadata.owner_references:
        if owner.uid == uid:
            return owner.controller
    return False
