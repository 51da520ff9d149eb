# SPDX-License-Identifier: Apache-2.0
"""DaemonSets: one pod on every node that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from trellis.embedded.controllers.apps.daemons import body, picture, plan, status
from trellis.embedded.controllers.kinds import DaemonSet
from trellis.embedded.controllers.telling import PodHands
from trellis.runtime.cache import Cache
from trellis.runtime.controller import Controller, Wakes, controller_of
from trellis.runtime.notes import Note
from trellis.runtime.outcome import DONE, Again

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trellis.api.meta import Key, Metadata
    from trellis.embedded.controllers.kinds import Node, Pod
    from trellis.embedded.controllers.means import Means
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome


def daemon_set_controller(means: Means) -> Controller[DaemonSet]:
    sets = Cache(DaemonSet.resource, DaemonSet)

    def everyone(_: Node) -> Iterable[Key]:
        return [one.metadata.key for one in sets]

    return Controller(
        name="daemonset",
        cache=sets,
        reconcile=_Reconciler(means, sets).reconcile,
        woken_by=(
            Wakes(means.pods, controller_of(DaemonSet.resource)),
            Wakes(means.nodes, everyone),
        ),
    )


class _Reconciler:
    def __init__(self, means: Means, sets: Cache[DaemonSet]) -> None:
        self._means = means
        self._sets = sets
        self._hands = PodHands(means, DaemonSet.resource)

    async def reconcile(self, key: Key, _: IO) -> Outcome:
        found = self._sets.get(key)
        if found is None:
            return DONE
        now, have, pen = self._means.now(), found.metadata, self._means.pen
        seen = picture(found, self._means.nodes, self._means.pods.owned(have.uid))
        todo = plan(seen, now)
        self._tell_of_ended(have, todo.delete)
        await self._hands.delete(have, todo.delete)
        failed = await self._hands.make(have, [body(found, seen.word, one) for one in todo.create])
        await pen.status(self._sets, have, found.status, status(seen, now))
        if failed:
            raise failed[0]
        # Pods that are ready and not yet for long enough are looked at again.
        seconds = found.spec.min_ready_seconds
        waits = seconds and any(
            pod.ready and not pod.available(now, seconds)
            for pods in seen.pods.values()
            for pod in pods
        )
        return Again(float(seconds)) if waits else DONE

    def _tell_of_ended(self, have: Metadata, pods: Iterable[Pod]) -> None:
        for pod in pods:
            if pod.finished:
                well = pod.status.phase == "Succeeded"
                where = f"{pod.metadata.key} on node {pod.target}"
                reason = "SucceededDaemonPod" if well else "FailedDaemonPod"
                how, what = ("succeeded", "delete") if well else ("failed", "kill")
                text = f"Found {how} daemon pod {where}, will try to {what} it"
                kind: Literal["Normal", "Warning"] = "Normal" if well else "Warning"
                self._hands.voice.say(have, Note(reason, text, type=kind))
