# SPDX-License-Identifier: Apache-2.0
"""Writes what was decided: devices to claims, nodes to pods, reasons to people. Decides nothing."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import to_builtins

from trellis.api.core.pod import DISRUPTION_TARGET, SCHEDULED
from trellis.api.meta import to_seconds
from trellis.embedded.scheduling.claims import is_reserved
from trellis.embedded.scheduling.dra import FINALIZER, Claim
from trellis.embedded.scheduling.pods import ScheduledPod
from trellis.embedded.scheduling.preempting import BY_SCHEDULER
from trellis.kube.errors import Conflict, KubeError, NotFound
from trellis.kube.verbs import Deletion, merge_patch, strategic_patch
from trellis.runtime.notes import Note

if TYPE_CHECKING:
    from trellis.embedded.scheduling.decide import Bind, Refuse
    from trellis.embedded.scheduling.dra import Allocation
    from trellis.embedded.scheduling.wishes import Wish
    from trellis.kube.client import Client
    from trellis.kube.collection import Collection
    from trellis.runtime.recorder import Recorder

_MOST_SAID = 4096
# A claim that others change again and again is left for another time.
_MOST_ATTEMPTS = 5


class Overtaken(Exception):
    """Somebody else was faster: the decision does not hold any more."""


class _Nothing(msgspec.Struct):
    """What is read of the answer."""


class Actor:
    def __init__(self, client: Client, recorder: Recorder, name: str) -> None:
        self._client = client
        self._recorder = recorder
        self._name = name
        self._said: OrderedDict[str, tuple[str, str, str]] = OrderedDict()
        """What pods were told last, which their cached status may not say yet."""

    async def claim(self, wish: Wish, bind: Bind) -> list[Claim]:
        """Gives the claims their devices and reserves them for the pod; returns them as written."""
        given = [await self._give(wish, *one) for one in bind.allocations]
        more = [
            await self._give(wish, claim, None)
            for claim in bind.reserved
            if not is_reserved(claim, wish.pod)
        ]
        return [*given, *more]

    async def bind(self, wish: Wish, node: str) -> None:
        metadata = wish.metadata
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {
                "name": metadata.name,
                "namespace": metadata.namespace,
                "uid": metadata.uid,
            },
            "target": {"kind": "Node", "name": node},
        }
        pods = self._client.of(ScheduledPod.resource, _Nothing, metadata.namespace)
        await pods.create_in(metadata.name, "binding", body)
        text = f"Successfully assigned {metadata.key} to {node}"
        self._tell(wish, Note("Scheduled", text, action="Binding"))

    async def current(self, wish: Wish) -> ScheduledPod | None:
        """The pod as it is now, if it is still the same."""
        try:
            found = await self._pods(wish).get(wish.metadata.name)
        except NotFound:
            return None
        return found if found.metadata.uid == wish.uid else None

    def says_already(self, wish: Wish, refusal: Refuse) -> bool:
        """Whether the pod says why it has no node, or is just being told."""
        said = self._said.get(wish.uid) == _said(refusal)
        return said or self._told(wish.pod, refusal) is None

    async def refuse(self, wish: Wish, refusal: Refuse) -> None:
        """Says why the pod has no node."""
        patch = self._told(wish.pod, refusal)
        self._said[wish.uid] = _said(refusal)
        if len(self._said) > _MOST_SAID:
            self._said.popitem(last=False)
        try:
            await self._pods(wish).patch(
                wish.metadata.name,
                strategic_patch({"metadata": {"uid": wish.uid}, "status": patch}),
                subresource="status",
            )
        except KubeError:
            self._said.pop(wish.uid, None)
            raise
        self._tell(
            wish, Note("FailedScheduling", refusal.message, type="Warning", action="Scheduling")
        )

    async def reread(self, claim: Claim) -> Claim | None:
        """The claim as it is now, if it is still the same."""
        try:
            found = await self._claims(claim).get(claim.metadata.name)
        except NotFound:
            return None
        return found if found.metadata.uid == claim.metadata.uid else None

    async def dismiss(self, victim: Wish, wish: Wish, node: str) -> None:
        """Makes a pod leave for another one, gracefully."""
        condition = {
            "type": DISRUPTION_TARGET,
            "status": "True",
            "reason": BY_SCHEDULER,
            "message": f"{self._name}: preempting to accommodate a higher priority pod",
            "lastTransitionTime": self._now(),
        }
        pods = self._pods(victim)
        status = {"metadata": {"uid": victim.uid}, "status": {"conditions": [condition]}}
        try:
            await pods.patch(victim.metadata.name, strategic_patch(status), subresource="status")
            await pods.delete(victim.metadata.name, Deletion(uid=victim.uid))
        except (NotFound, Conflict):
            # It has left by itself.
            return
        text = f"Preempted by pod {wish.uid} on node {node}"
        self._tell(victim, Note("Preempted", text, action="Preempting"))

    async def free(self, claim: Claim) -> Claim:
        """Takes back devices that nobody can use where they are."""
        patch = {
            "metadata": {"resourceVersion": claim.metadata.resource_version},
            "status": {"allocation": None, "reservedFor": None, "devices": None},
        }
        claims = self._claims(claim)
        return await claims.patch(claim.metadata.name, merge_patch(patch), subresource="status")

    async def _give(self, wish: Wish, claim: Claim, allocation: Allocation | None) -> Claim:
        claims = self._claims(claim)
        for _ in range(_MOST_ATTEMPTS):
            try:
                return await self._write(claims, wish, claim, allocation)
            except Conflict:
                uid = claim.metadata.uid
                claim = await claims.get(claim.metadata.name)
                if claim.metadata.uid != uid or claim.metadata.deleting:
                    raise Overtaken(f"claim {claim.metadata.key} is not the same") from None
                if (claim.status.allocation is None) is (allocation is None):
                    raise Overtaken(f"claim {claim.metadata.key} was allocated anew") from None
        raise Overtaken(f"claim {claim.metadata.key} changes too often")

    async def _write(
        self, claims: Collection[Claim], wish: Wish, claim: Claim, allocation: Allocation | None
    ) -> Claim:
        status: dict[str, Any] = {}
        if allocation is not None:
            status["allocation"] = to_builtins(allocation)
            if FINALIZER not in claim.metadata.finalizers:
                metadata = {
                    "resourceVersion": claim.metadata.resource_version,
                    "finalizers": [*claim.metadata.finalizers, FINALIZER],
                }
                claim = await claims.patch(claim.metadata.name, merge_patch({"metadata": metadata}))
        # Merged by uid: who has it reserved already stays.
        status["reservedFor"] = [{"resource": "pods", "name": wish.metadata.name, "uid": wish.uid}]
        version = {"resourceVersion": claim.metadata.resource_version}
        return await claims.patch(
            claim.metadata.name,
            strategic_patch({"metadata": version, "status": status}),
            subresource="status",
        )

    def _told(self, pod: ScheduledPod, refusal: Refuse) -> dict[str, Any] | None:
        """What is to change in the pod's status, if anything is."""
        nominee = refusal.nominee
        known = pod.condition(SCHEDULED)
        status: dict[str, Any] = {}
        said = (refusal.reason, refusal.message)
        if known is None or known.status != "False" or (known.reason, known.message) != said:
            status["conditions"] = [self._condition(pod, refusal)]
        keeps = refusal.keeps_nomination or pod.status.nominated_node_name == nominee
        if not keeps:
            status["nominatedNodeName"] = nominee or None
        return status or None

    def _condition(self, pod: ScheduledPod, refusal: Refuse) -> dict[str, Any]:
        known = pod.condition(SCHEDULED)
        since = known.last_transition_time if known and known.status == "False" else None
        return {
            "type": SCHEDULED,
            "status": "False",
            "reason": refusal.reason,
            "message": refusal.message,
            "observedGeneration": pod.metadata.generation,
            "lastProbeTime": None,
            "lastTransitionTime": to_builtins(to_seconds(since)) if since else self._now(),
        }

    def _tell(self, wish: Wish, note: Note) -> None:
        self._recorder.record(ScheduledPod.resource, wish.metadata, note)

    def _now(self) -> str:
        now: str = to_builtins(to_seconds(self._client.clock.now()))
        return now

    def _pods(self, wish: Wish) -> Collection[ScheduledPod]:
        return self._client.of(ScheduledPod.resource, ScheduledPod, wish.namespace)

    def _claims(self, claim: Claim) -> Collection[Claim]:
        return self._client.of(Claim.resource, Claim, claim.metadata.namespace)


def _said(refusal: Refuse) -> tuple[str, str, str]:
    return refusal.reason, refusal.message, refusal.nominee
