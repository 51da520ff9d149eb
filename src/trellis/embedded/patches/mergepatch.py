# SPDX-License-Identifier: Apache-2.0
"""JSON merge patch (RFC 7386): null removes, maps are merged, anything else replaces."""

from __future__ import annotations

from typing import Any

from trellis.embedded.copying import copied


def merge_patch(old: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    new = copied(old)
    _merge(new, patch)
    return new


def _merge(new: dict[str, Any], patch: dict[str, Any]) -> None:
    for name, value in patch.items():
        if value is None:
            new.pop(name, None)
            continue
        there = new.get(name)
        if not isinstance(there, dict):
            new[name] = _without_nulls(value)
        elif isinstance(value, dict):
            _merge(there, value)
        else:
            # The library behind the server leaves nulls in a list that replaces a map.
            new[name] = copied(value)


def _without_nulls(value: Any) -> Any:
    """A copy without keys that hold null; items of lists stay even so."""
    if isinstance(value, dict):
        return {name: _without_nulls(held) for name, held in value.items() if held is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
