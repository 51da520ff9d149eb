# SPDX-License-Identifier: Apache-2.0
"""Managed fields around mutating admission, which may spoil them and then has done nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.core.writing import tell
from trellis.embedded.fields import problem

if TYPE_CHECKING:
    from trellis.embedded.asking import Review
    from trellis.embedded.core.world import Call, World

_SPOILED = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an "
    "outdated mutating admission controller; please fix your requests:"
)


async def mutate(world: World, call: Call, review: Review) -> None:
    """Mutating admission; entries that it leaves unreadable are put back as they were."""
    before = review.new
    entries = (before or {}).get("metadata", {}).get("managedFields")
    await world.admission.mutate(review)
    if review.new is None or review.new is before:
        return
    metadata = review.new.setdefault("metadata", {})
    if metadata.get("managedFields") == entries:
        return
    why = problem(metadata.get("managedFields"))
    if why:
        metadata["managedFields"] = entries
        tell(call, [f"{_SPOILED} {why}"])
