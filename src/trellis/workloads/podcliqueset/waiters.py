# SPDX-License-Identifier: Apache-2.0
"""The Role and RoleBinding by which the pods of a set wait for each other: what is to be. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.workloads.podcliqueset import legacy
from trellis.workloads.waiting import (
    DEFAULT_ACCOUNT,
    account,
    accounts,
    binding,
    role,
    waited_for,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from trellis.api.core.pod import Pod
    from trellis.api.core.rbac import Role, RoleBinding
    from trellis.api.grove.podclique import PodClique
    from trellis.workloads.outline import Outline


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """Those that there are, or are to be."""

    role: Role | None = None
    binding: RoleBinding | None = None


def accounts_in_use(
    cliques: Iterable[PodClique], pods_of: Callable[[str], Iterable[Pod]]
) -> frozenset[str]:
    """The accounts under which pods wait or will, whatever the template of the set says by now.

    `pods_of`: the pods of the PodClique with that uid. A waiter runs again when the sandbox of its
    pod is made anew, so a pod needs its account for as long as it is there.
    """
    found: set[str] = set()
    for clique in cliques:
        if clique.spec.starts_after:
            found.add(account(clique.spec.pod_spec))
            found.update(
                pod.spec.service_account_name or DEFAULT_ACCOUNT
                for pod in pods_of(clique.metadata.uid)
            )
    return frozenset(found)


def rights(
    outline: Outline,
    live: Mapping[str, int],
    have: Rights,
    pods: Iterable[Pod],
    older: Collection[str] = (),
) -> Rights:
    """`live`: how many replicas each scaling group has now. `pods` are looked at only where a Role
    of Grove's is to be changed. `older`: accounts of those that have an older template still."""
    names = waited_for(outline, live)
    if not names:
        return Rights()
    bound = sorted({*accounts(outline), *older})
    wanted_role, wanted_binding = role(outline.set, names), binding(outline.set, bound)
    if have.role is not None and legacy.is_groves(have.role) and legacy.is_needed(pods):
        wanted_role = legacy.with_groves_rules(wanted_role, have.role)
        wanted_binding = legacy.with_groves_account(wanted_binding, have.binding, outline.name)
    return Rights(role=wanted_role, binding=wanted_binding)
