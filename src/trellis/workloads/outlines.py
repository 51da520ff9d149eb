# SPDX-License-Identifier: Apache-2.0
"""The outline of each set, unfolded once for as long as nothing in it changes that matters.

What is worked out of a template, its hashes above all, is dear, and sets change by the second in
nothing but their status. The status of a remembered outline's set is therefore not to be read.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from trellis.workloads.outline import Outline

if TYPE_CHECKING:
    from trellis.api.grove.podcliqueset import PodCliqueSet

_MOST = 1024


class Outlines:
    """Of the sets looked at last, by uid."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._known: OrderedDict[str, Outline] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def of(self, found: PodCliqueSet) -> Outline:
        """The same outline as before, unless the spec or the metadata of the set has changed."""
        uid = found.metadata.uid
        known = self._known.get(uid)
        if known is None or not _says_the_same(known.set, found):
            known = self._known[uid] = Outline(found)
        self._known.move_to_end(uid)
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        return known


def _says_the_same(known: PodCliqueSet, found: PodCliqueSet) -> bool:
    before, now = known.metadata, found.metadata
    return (
        before.generation == now.generation
        and before.deleting == now.deleting
        and before.labels == now.labels
        and before.annotations == now.annotations
    )
