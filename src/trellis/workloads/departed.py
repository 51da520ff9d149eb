# SPDX-License-Identifier: Apache-2.0
"""The names of pods that were there and are gone: what was used up is not used again.

Who makes a listed pod again under its old name may do so on an old ledger, while another instance
has listed the next name and made that: two pods of one index. So a name whose pod this process saw
leave is replaced in the ledger rather than made again. It is a memory of moments: what has lapsed
may be made, so that nobody waits for ever for somebody who saw less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.api.meta import Key
from trellis.workloads.pods import is_live

if TYPE_CHECKING:
    from collections.abc import Collection

    from trellis.api.core.pod import Pod
    from trellis.instruments.clock import Clock
    from trellis.runtime.cache import Cache

LAPSE_SECONDS = 10.0
_SWEEP_FLOOR = 4096


class Departed:
    """By the PodClique that controlled them. One that is made anew inherits what was listed, and
    with it what was used up."""

    def __init__(self, pods: Cache[Pod], clock: Clock) -> None:
        self._clock = clock
        self._names: dict[Key, dict[str, float]] = {}
        pods.subscribe(self._changed)

    def of(self, clique: Key) -> Collection[str]:
        found = self._names.get(clique)
        if found is None:
            return ()
        since = self._clock.monotonic() - LAPSE_SECONDS
        kept = {name: gone for name, gone in found.items() if gone > since}
        if not kept:
            del self._names[clique]
        elif len(kept) < len(found):
            self._names[clique] = kept
        return frozenset(kept)

    def _changed(self, old: Pod | None, new: Pod | None, *, fresh: bool) -> None:
        del fresh
        # What was neither leaving nor done for may only have lost the label that it is read by.
        if old is None or new is not None or is_live(old):
            return
        controller = old.metadata.controller
        if controller is not None:
            if len(self._names) >= _SWEEP_FLOOR:
                for clique in list(self._names):
                    self.of(clique)
            clique = Key(old.metadata.namespace, controller.name)
            self._names.setdefault(clique, {})[old.metadata.name] = self._clock.monotonic()
