# SPDX-License-Identifier: Apache-2.0
"""The conditions of a status that the server itself writes."""

from __future__ import annotations

from typing import Any


def set_condition(status: dict[str, Any], condition: dict[str, Any], now: str) -> None:
    """Puts a condition in the place of the one of its type, keeping its time if nothing turned."""
    conditions = status["conditions"] = status.get("conditions") or []
    whole = {**condition, "lastTransitionTime": now}
    for position, held in enumerate(conditions):
        if held.get("type") == condition["type"]:
            if held.get("status") == condition["status"]:
                whole["lastTransitionTime"] = held.get("lastTransitionTime")
            conditions[position] = whole
            return
    conditions.append(whole)
