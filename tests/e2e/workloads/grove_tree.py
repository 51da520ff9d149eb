# SPDX-License-Identifier: Apache-2.0
"""The tree that Grove makes of a PodCliqueSet: which PodCliques, in which gangs, with which pods.

Names are worked out here without any code of ours, so that what is taken over is Grove's and not
what we take for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.e2e.workloads.builders import IN_ORDER
from tests.e2e.workloads.world import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
Live: TypeAlias = Mapping[str, tuple[int, ...]]
"""The indices that a PodClique or scaling group has after it was scaled, by its full name."""

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """`secret` ends the name of the token Secret. The newest names gangs by an epoch."""

    secret: str = "ic-sat"
    labels_pod_index: bool = True
    progress: str = "updateProgress"
    epoch: str = ""


OLDER = Release(
    secret="initc-sa-token-secret", labels_pod_index=False, progress="rollingUpdateProgress"
)
CURRENT = Release()
NEWER = Release(epoch="1772366400000000000")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """Where Grove was stopped. Pods are named by their host names."""

    cliques: frozenset[str] = frozenset()
    """Not made yet."""
    pods: frozenset[str] = frozenset()
    """Not made yet."""
    gated: frozenset[str] = frozenset()
    """Made, and neither listed nor let go."""
    gangs: bool = False
    """Not one is made yet."""
    deleted: bool = False
    """The set was deleted, and Grove's finalizers are still there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clique:
    """One PodClique: its full name, its template, where it stands and the indices of its pods."""

    name: str
    template: Json
    replica: int
    gang: str
    indices: tuple[int, ...]
    base_gang: str = ""
    group: str = ""
    index: int = 0
    parents: tuple[str, ...] = ()

    @property
    def template_hash(self) -> str:
        return hash_of(self.template)


def hash_of(template: Json) -> str:
    """Opaque, and of the form that Grove's has."""
    digest = hashlib.sha256(json.dumps(template, sort_keys=True).encode()).digest()
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:12])


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A set as it is stored, unfolded."""

    found: Json
    release: Release
    live: Live = field(default_factory=dict)

    @property
    def name(self) -> str:
        return name_of(self.found)

    @property
    def replicas(self) -> range:
        return range(self.found["spec"]["replicas"])

    @property
    def template(self) -> Json:
        found: Json = self.found["spec"]["template"]
        return found

    @property
    def groups(self) -> list[Json]:
        found: list[Json] = self.template.get("podCliqueScalingGroups", [])
        return found

    @property
    def secret(self) -> str:
        return f"{self.name}-{self.release.secret}"

    def group_name(self, replica: int, group: Json) -> str:
        return f"{self.name}-{replica}-{group['name']}"

    def group_indices(self, replica: int, group: Json) -> tuple[int, ...]:
        return self.live.get(self.group_name(replica, group), tuple(range(group["replicas"])))

    def cliques(self) -> Iterator[Clique]:
        grouped = {one for group in self.groups for one in group["cliqueNames"]}
        for replica in self.replicas:
            for one in self.template["cliques"]:
                if one["name"] not in grouped:
                    name = f"{self.name}-{replica}-{one['name']}"
                    yield Clique(
                        name=name,
                        template=one,
                        replica=replica,
                        gang=self._base_gang(replica),
                        indices=self._indices(name, one),
                    )
            for group in self.groups:
                for index in self.group_indices(replica, group):
                    yield from self._members(group, replica, index)

    def _members(self, group: Json, replica: int, index: int) -> Iterator[Clique]:
        full_name, base = self.group_name(replica, group), self._base_gang(replica)
        scaled = index >= group["minAvailable"]
        for one in self.template["cliques"]:
            if one["name"] in group["cliqueNames"]:
                name = f"{full_name}-{index}-{one['name']}"
                yield Clique(
                    name=name,
                    template=one,
                    replica=replica,
                    gang=self._scaled_gang(replica, group, index) if scaled else base,
                    indices=self._indices(name, one),
                    base_gang=base if scaled else "",
                    group=full_name,
                    index=index,
                    parents=tuple(self._parents(group, replica, index, one["name"])),
                )

    def _parents(self, group: Json, replica: int, index: int, clique: str) -> Iterator[str]:
        """In the order of the list: the one right before it."""
        if self.template.get("cliqueStartupType") != IN_ORDER:
            return
        order = [one["name"] for one in self.template["cliques"]]
        parent = {child: before for before, child in pairwise(order)}.get(clique, "")
        least, full_name = group["minAvailable"], self.group_name(replica, group)
        if parent in group["cliqueNames"]:
            for each in [index] if index >= least else range(least):
                yield f"{full_name}-{each}-{parent}"
        elif parent and index < least:
            yield f"{self.name}-{replica}-{parent}"

    def _indices(self, name: str, template: Json) -> tuple[int, ...]:
        return self.live.get(name, tuple(range(template["spec"]["replicas"])))

    def _base_gang(self, replica: int) -> str:
        base, epoch = f"{self.name}-{replica}", self.release.epoch
        return f"{base}-{epoch}" if epoch else base

    def _scaled_gang(self, replica: int, group: Json, index: int) -> str:
        if self.release.epoch:
            return f"{self._base_gang(replica)}-{group['name']}-{index}"
        return f"{self.group_name(replica, group)}-{index - group['minAvailable']}"
