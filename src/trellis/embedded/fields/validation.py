# SPDX-License-Identifier: Apache-2.0
"""Whether the managed fields of an object may be stored: a part of validating its metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import invalid, too_long
from trellis.embedded.fields.entries import APPLY, FIELDS_TYPE, LONGEST_NAME, UPDATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.fielderrors import FieldError

_PATH = "metadata.managedFields"
_LONGEST_SUBRESOURCE = 256


def validate_entries(entries: list[dict[str, Any]] | None) -> list[FieldError]:
    return [
        error
        for number, entry in enumerate(entries or ())
        for error in _entry(entry, f"{_PATH}[{number}]")
    ]


def _entry(entry: dict[str, Any], path: str) -> Iterator[FieldError]:
    operation = entry.get("operation") or ""
    if operation not in {APPLY, UPDATE}:
        yield invalid(f"{path}.operation", operation, "must be `Apply` or `Update`")
    kind = entry.get("fieldsType") or FIELDS_TYPE
    if kind != FIELDS_TYPE:
        yield invalid(f"{path}.fieldsType", kind, f"must be `{FIELDS_TYPE}`")
    yield from manager_errors(entry.get("manager") or "", f"{path}.manager")
    if len((entry.get("subresource") or "").encode()) > _LONGEST_SUBRESOURCE:
        yield too_long(f"{path}.subresource", _LONGEST_SUBRESOURCE)


def manager_errors(name: str, path: str) -> Iterator[FieldError]:
    """Of a manager's name, wherever it is given."""
    if len(name.encode()) > LONGEST_NAME:
        yield too_long(path, LONGEST_NAME)
    position = 0
    for character in name:
        if not character.isprintable():
            code = f"U+{ord(character):04X}"
            yield invalid(path, name, f"invalid character {code} (at position {position})")
        position += len(character.encode())
