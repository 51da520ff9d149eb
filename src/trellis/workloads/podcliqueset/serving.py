# SPDX-License-Identifier: Apache-2.0
"""Whether the Services and autoscalers of a set are as its template says. Reads caches only.

They bear no pods, so nobody waits for them to start a replica. But who is told that a generation
was observed relies on all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.api.annotation import APPLIED
from trellis.workloads.podcliqueset import kinds
from trellis.workloads.podcliqueset.owning import is_of

if TYPE_CHECKING:
    from trellis.api.meta import Object
    from trellis.workloads.caches import Caches
    from trellis.workloads.outline import Outline
    from trellis.workloads.podcliqueset.kinds import Kind


class Serving:
    def __init__(self, caches: Caches) -> None:
        self._kinds: tuple[Kind[Any], ...] = (kinds.services(caches), kinds.scalers(caches))

    def first_behind(self, outline: Outline) -> str:
        """The first that is missing or still as an older template said; empty where none is."""
        for replica in range(outline.replicas):
            for kind in self._kinds:
                around = kinds.Around(kind.cache.get)
                for wanted in kind.wants(outline, replica, around):
                    if not _serves(kind, wanted, outline.set.metadata.uid):
                        return f"{kind.what} {wanted.metadata.name}"
        return ""


def _serves(kind: Kind[Any], wanted: Object, uid: str) -> bool:
    found = kind.cache.get(wanted.metadata.key)
    if found is None or not is_of(found, uid):
        return False
    mark = wanted.metadata.annotations.get(APPLIED)
    if mark is None:
        return not kind.compare(found, wanted)
    return bool(found.metadata.annotations.get(APPLIED) == mark)
