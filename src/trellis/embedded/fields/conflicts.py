# SPDX-License-Identifier: Apache-2.0
"""An apply that would change what others own, and how the server says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fields import sets
from trellis.embedded.fields.elements import encoded, shown
from trellis.embedded.fields.entries import UPDATE
from trellis.embedded.refusals import Refusal

if TYPE_CHECKING:
    from trellis.embedded.fields.entries import Identity, Owners
    from trellis.embedded.fields.sets import Fields

Conflicts = dict["Identity", "Fields"]


def found(owners: Owners, changed: Fields, applier: Identity) -> Conflicts:
    """The fields of others that have changed, by owner."""
    conflicts: Conflicts = {}
    for who in sorted(owners, key=lambda each: each.text):
        taken = sets.intersection(owners[who].fields, changed) if who != applier else {}
        if taken:
            conflicts[who] = taken
    return conflicts


def without(conflicts: Conflicts, allowed: Fields) -> Conflicts:
    left = ((who, sets.difference(fields, allowed)) for who, fields in conflicts.items())
    return {who: fields for who, fields in left if fields}


def refusal(conflicts: Conflicts) -> Refusal:
    causes: list[dict[str, Any]] = []
    lines: list[str] = []
    for who, fields in conflicts.items():
        lines.append(f"conflicts with {_shown(who)}:")
        for path in sets.paths(fields):
            said = f"conflict with {_shown(who)}"
            field = shown(path)
            lines.append(f"- {field}")
            causes.append({"reason": "FieldManagerConflict", "message": said, "field": field})
    if len(causes) == 1:
        found = f"1 conflict: {causes[0]['message']}: {causes[0]['field']}"
    else:
        found = f"{len(causes)} conflicts: " + "\n".join(lines)
    return Refusal(409, "Conflict", f"Apply failed with {found}", {"causes": causes})


def _shown(who: Identity) -> str:
    said = encoded(who.name)
    if who.subresource:
        said += f" with subresource {encoded(who.subresource)}"
    return f"{said} using {who.api_version}" if who.operation == UPDATE else said
