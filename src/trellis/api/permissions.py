# SPDX-License-Identifier: Apache-2.0
"""What a component may do to which resources, as it declares it. RBAC is generated from these."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

READ = ("get", "list", "watch")


class Where(Enum):
    """In which namespaces a permission holds."""

    EVERYWHERE = "everywhere"
    OWN = "own"
    """Only in the namespace that the operator itself runs in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Some verbs on some resources of one group. No wildcard is ever written here.

    `names` narrows it to objects of those names, which Kubernetes can do for every verb but
    `create`, `list` and `watch` of many.
    """

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()
    where: Where = Where.EVERYWHERE

    def __post_init__(self) -> None:
        if "*" in (self.group, *self.resources, *self.verbs):
            raise ValueError(f"{self}: name what is needed, a wildcard grants what nobody meant")
