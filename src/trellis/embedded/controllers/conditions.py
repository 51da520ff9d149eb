# SPDX-License-Identifier: Apache-2.0
"""Conditions as plain values: one is replaced by type, and keeps its time while it stays. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from trellis.api.meta import to_seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trellis.embedded.controllers.kinds import Json


def written(moment: datetime) -> str:
    """As servers write a `Time`."""
    return to_seconds(moment).strftime("%Y-%m-%dT%H:%M:%SZ")


def read(moment: str) -> datetime:
    return datetime.fromisoformat(moment)


def find(conditions: Iterable[Json], kind: str) -> Json | None:
    return next((one for one in conditions if one["type"] == kind), None)


def is_true(conditions: Iterable[Json], kind: str) -> bool:
    found = find(conditions, kind)
    return found is not None and found["status"] == "True"


def put(conditions: Sequence[Json], new: Json, now: datetime) -> list[Json]:
    """With the new one in the place of the old, or at the end."""
    old = find(conditions, new["type"])
    since = written(now)
    if old is not None and old["status"] == new["status"]:
        since = old.get("lastTransitionTime") or since
    stamped: dict[str, Any] = {**new, "lastTransitionTime": since}
    if old is None:
        return [*conditions, stamped]
    return [stamped if one is old else one for one in conditions]


def without(conditions: Iterable[Json], kind: str) -> list[Json]:
    return [one for one in conditions if one["type"] != kind]
