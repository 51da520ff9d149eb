# SPDX-License-Identifier: Apache-2.0
"""The Role and RoleBinding by which the pods of a set wait for each other: what is to be. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.workloads.podcliqueset import legacy
from trellis.workloads.waiting import accounts, binding, role, waited_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.api.core.pod import Pod
    from trellis.api.core.rbac import Role, RoleBinding
    from trellis.workloads.outline import Outline


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """Those that there are, or are to be."""

    role: Role | None = None
    binding: RoleBinding | None = None


def rights(outline: Outline, live: Mapping[str, int], have: Rights, pods: Iterable[Pod]) -> Rights:
    """`live`: how many replicas each scaling group has now. `pods` are looked at only where a Role
    of Grove's is to be changed."""
    names = waited_for(outline, live)
    if not names:
        return Rights()
    wanted_role, wanted_binding = role(outline.set, names), binding(outline.set, accounts(outline))
    if have.role is not None and legacy.is_groves(have.role) and legacy.is_needed(pods):
        wanted_role = legacy.with_groves_rules(wanted_role, have.role)
        wanted_binding = legacy.with_groves_account(wanted_binding, have.binding, outline.name)
    return Rights(role=wanted_role, binding=wanted_binding)
