# SPDX-License-Identifier: Apache-2.0
"""Numbers in specs and statuses: not negative, at most something, or a share in percent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import FieldError, invalid
from trellis.embedded.natives.metadata import NEGATIVE
from trellis.embedded.natives.syntax import percent

if TYPE_CHECKING:
    from collections.abc import Iterable


def not_negative(holder: dict[str, Any], names: Iterable[str], path: str) -> list[FieldError]:
    """Of the fields that are there, those below zero."""
    return [
        invalid(f"{path}.{name}", holder[name], NEGATIVE)
        for name in names
        if (holder.get(name) or 0) < 0
    ]


def count_or_share(value: int | str, path: str) -> list[FieldError]:
    if isinstance(value, str):
        return [invalid(path, value, problem) for problem in percent(value)]
    return [invalid(path, value, NEGATIVE)] if value < 0 else []


def at_most_all(value: int | str, path: str) -> list[FieldError]:
    share = _share(value)
    if share is None or share <= 100:
        return []
    return [invalid(path, value, "must not be greater than 100%")]


def magnitude(value: int | str) -> int:
    """The number, or that of the percents; 0 for what is neither."""
    share = _share(value)
    if share is not None:
        return share
    return value if isinstance(value, int) else 0


def _share(value: int | str) -> int | None:
    return int(value[:-1]) if isinstance(value, str) and not percent(value) else None


def within(
    status: dict[str, Any], names: Iterable[str], most: str, path: str, detail: str
) -> list[FieldError]:
    """Counters that may not be more than another one."""
    limit = status.get(most) or 0
    return [
        invalid(f"{path}.{name}", status[name], detail)
        for name in names
        if (status.get(name) or 0) > limit
    ]


def not_decremented(new: dict[str, Any], old: dict[str, Any], path: str) -> list[FieldError]:
    """The count of collisions only grows."""
    if (
        old.get("collisionCount") is None
        or (new.get("collisionCount") or 0) >= old["collisionCount"]
    ):
        return []
    value = new.get("collisionCount") or 0
    return [invalid(f"{path}.collisionCount", value, "cannot be decremented")]
