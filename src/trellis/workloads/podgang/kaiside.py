# SPDX-License-Identifier: Apache-2.0
"""What is read of KAI, in clusters where pods may be for it.

Its PodGroups may not be served here; nobody waits for them to be read but the gangs that need them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.meta import Key
from trellis.kube.verbs import Selection
from trellis.runtime.cache import Cache, Scope
from trellis.workloads.kai import KAI
from trellis.workloads.podgang.backend import KaiHere
from trellis.workloads.podgang.podgroups import KaiPodGroup, PodGroupDefinition, kai_here

if TYPE_CHECKING:
    from trellis.api.config.types import Schedulers

DEFINITION = KaiPodGroup.resource.full_name


class KaiSide:
    def __init__(self) -> None:
        self.pod_groups = Cache(KaiPodGroup.resource, KaiPodGroup, scope=Scope(optional=True))
        self.definition = Cache(
            PodGroupDefinition.resource,
            PodGroupDefinition,
            scope=Scope(selection=Selection(fields=f"metadata.name={DEFINITION}")),
        )
        self._known: tuple[PodGroupDefinition | None, KaiHere] = (None, KaiHere())

    def here(self) -> KaiHere:
        """Read from the definition again only when that has changed: a schema is long."""
        definition = self.definition.get(Key("", DEFINITION))
        if definition is not self._known[0]:
            self._known = (definition, kai_here(definition))
        return self._known[1]


def is_enabled(schedulers: Schedulers) -> bool:
    """Whether pods may be for KAI at all."""
    names = (schedulers.default_profile_name, *(each.name for each in schedulers.profiles))
    return KAI in names
