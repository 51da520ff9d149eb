# SPDX-License-Identifier: Apache-2.0
"""What pods that Grove made still need of their set's Role, while there are any. Pure.

Their waiter reads pods, under an account that Grove made for the set. It runs again when such a
pod's sandbox is made anew, so it keeps that right as long as a pod of the kind is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from trellis.api.core.pod import Pod

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.api.core.rbac import PolicyRule, Role, RoleBinding

_PODS = frozenset((Pod.resource.plural, f"{Pod.resource.plural}/status"))


def is_groves(role: Role | None) -> bool:
    """Whether it still grants what Grove's waiter needs."""
    return role is not None and any(_is_groves(rule) for rule in role.rules or ())


def is_needed(pods: Iterable[Pod]) -> bool:
    """Grove lets the server name its pods; ours are named by the ledger."""
    return any(pod.metadata.generate_name for pod in pods)


def with_groves_rules(want: Role, have: Role) -> Role:
    kept = tuple(rule for rule in have.rules or () if _is_groves(rule))
    return structs.replace(want, rules=(*(want.rules or ()), *kept))


def with_groves_account(want: RoleBinding, have: RoleBinding | None, set_name: str) -> RoleBinding:
    """Grove's account has the name of its set."""
    present = have.subjects if have is not None else ()
    kept = tuple(one for one in present if one.name == set_name and one not in want.subjects)
    return structs.replace(want, subjects=(*want.subjects, *kept))


def _is_groves(rule: PolicyRule) -> bool:
    return bool(rule.resources) and _PODS.issuperset(rule.resources)
