# SPDX-License-Identifier: Apache-2.0
"""Whether the pods that others take the place of are gone, or may only be out of our sight.

A ledger that moved on to the next name may be all that a process finds when it starts, while the
pod of the name before has lost the label that it is read by and lives. What this process has seen
leave is gone; of what it never saw, the server knows more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.workloads.ledger import name_before
from trellis.workloads.podclique.desired import Birth
from trellis.workloads.pods import is_live
from trellis.workloads.recent import Recent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trellis.api.core.pod import Pod
    from trellis.runtime.cache import Cache
    from trellis.workloads.podclique.state import State

_MOST = 4096


class Ancestry:
    """Names are remembered with the uid of the PodClique that they were made for."""

    def __init__(self, pods: Cache[Pod]) -> None:
        self._gone: Recent[tuple[str, str], None] = Recent(_MOST)
        pods.subscribe(self._changed)

    def unseen(self, state: State, births: Iterable[Birth]) -> Iterator[Birth]:
        """Those that came before these, of which nobody here can tell whether they are gone."""
        uid, present = state.clique.metadata.uid, {pod.metadata.name for pod in state.pods}
        for birth in births:
            before = name_before(uid, state.name, birth.index, birth.name)
            if before and before not in present and (uid, before) not in self._gone:
                yield Birth(index=birth.index, name=before)

    def are_gone(self, uid: str, names: Iterable[str]) -> None:
        for name in names:
            self._gone.note((uid, name), None)

    def _changed(self, old: Pod | None, new: Pod | None, *, fresh: bool) -> None:
        del fresh
        controller = old.metadata.controller if old is not None else None
        # What was neither leaving nor done for may only have lost the label that it is read by.
        if old is not None and new is None and controller is not None and not is_live(old):
            self.are_gone(controller.uid, (old.metadata.name,))
