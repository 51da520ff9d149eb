# SPDX-License-Identifier: Apache-2.0
"""For how long this process has seen pods failed, whatever clocks say.

When a pod failed is told by the clock of its node. Where ours is behind, its time would be long in
coming; so nobody waits longer than the delay itself from when the failure was first seen.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from trellis.workloads.pods import has_failed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trellis.api.core.pod import Pod
    from trellis.instruments.clock import Clock
    from trellis.runtime.cache import Cache


class Failing:
    """By the uid of the pod; forgotten with it."""

    def __init__(self, pods: Cache[Pod], clock: Clock) -> None:
        self._clock = clock
        self._since: dict[str, float] = {}
        pods.subscribe(self._changed)

    def failed_for(self, pods: Iterable[Pod]) -> Mapping[str, timedelta]:
        """Of those that have failed, by name."""
        now = self._clock.monotonic()
        return {
            pod.metadata.name: timedelta(seconds=now - self._since.get(pod.metadata.uid, now))
            for pod in pods
            if has_failed(pod)
        }

    def _changed(self, old: Pod | None, new: Pod | None, *, fresh: bool) -> None:
        del fresh
        if new is not None and has_failed(new):
            self._since.setdefault(new.metadata.uid, self._clock.monotonic())
        elif new is None and old is not None:
            self._since.pop(old.metadata.uid, None)
