# SPDX-License-Identifier: Apache-2.0
"""What there is to tell of a Job when its status changes. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.controllers import conditions
from trellis.embedded.controllers.job.ending import COMPLETE, FAILED
from trellis.runtime.notes import Note

if TYPE_CHECKING:
    from trellis.embedded.controllers.kinds import Json

SUSPENDED = "Suspended"


def news(old: Json, new: Json) -> list[Note]:
    """Told once, by the run that writes the change."""
    before, after = old.get("conditions") or [], new.get("conditions") or []
    told: list[Note] = []
    for kind in (SUSPENDED, COMPLETE, FAILED):
        if conditions.is_true(before, kind) != conditions.is_true(after, kind):
            told.append(_note(kind, after))
    return told


def _note(kind: str, after: list[Json]) -> Note:
    if kind == COMPLETE:
        return Note("Completed", "Job completed")
    if kind == FAILED:
        found = conditions.find(after, FAILED) or {}
        return Note(found.get("reason", FAILED), found.get("message", ""), type="Warning")
    if conditions.is_true(after, SUSPENDED):
        return Note("Suspended", "Job suspended")
    return Note("Resumed", "Job resumed")
