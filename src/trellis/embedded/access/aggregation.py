# SPDX-License-Identifier: Apache-2.0
"""The rules of an aggregated ClusterRole: those of the roles that its selectors find. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from trellis.api.selectors import LabelSelector, matches

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.embedded.access.rules import Rule
    from trellis.embedded.asking import Object


def aggregated(role: Object, roles: Iterable[Object]) -> list[Rule] | None:
    """What its rules should be; None if it aggregates nothing or they are so already."""
    selectors = (role.get("aggregationRule") or {}).get("clusterRoleSelectors")
    if not selectors:
        return None
    others = sorted(
        (other for other in roles if other["metadata"]["name"] != role["metadata"]["name"]),
        key=lambda other: str(other["metadata"]["name"]),
    )
    found: list[Rule] = []
    for raw in selectors:
        selector = msgspec.convert(raw, LabelSelector)
        for other in others:
            if matches(selector, other["metadata"].get("labels") or {}):
                found.extend(rule for rule in other.get("rules") or () if rule not in found)
    return None if found == (role.get("rules") or []) else found
