# SPDX-License-Identifier: Apache-2.0
"""The Job controller: makes and drops pods, accounts for those that ended, says how it goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trellis.embedded.controllers import conditions
from trellis.embedded.controllers.job.deciding import decide
from trellis.embedded.controllers.job.ending import COMPLETE, FAILED, is_finished
from trellis.embedded.controllers.job.facts import FINALIZER, State
from trellis.embedded.controllers.job.failures import NO_FAILURES, Record
from trellis.embedded.controllers.job.making import pod
from trellis.embedded.controllers.job.news import news
from trellis.embedded.controllers.kinds import Job, Pod
from trellis.embedded.controllers.telling import PodHands, namespace_is_going
from trellis.runtime.cache import Cache
from trellis.runtime.controller import Controller, Wakes, controller_of
from trellis.runtime.index import Index
from trellis.runtime.outcome import DONE, Again

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from trellis.api.meta import Key, Metadata
    from trellis.embedded.controllers.job.deciding import Plan
    from trellis.embedded.controllers.kinds import Json
    from trellis.embedded.controllers.means import Means
    from trellis.runtime.io import IO
    from trellis.runtime.outcome import Outcome

BUILT_IN = "kubernetes.io/job-controller"
_to_job = controller_of(Job.resource)
# Pods that wait to be accounted for, by their Job: that may be gone by then.
_TRACKED: Index[Pod] = Index(
    "tracked",
    lambda found: (
        [str(key) for key in _to_job(found)] if FINALIZER in found.metadata.finalizers else ()
    ),
)


def job_controller(means: Means) -> Controller[Job]:
    jobs = Cache(Job.resource, Job)
    means.pods.add_index(_TRACKED)
    return Controller(
        name="job",
        cache=jobs,
        reconcile=Reconciler(means, jobs).reconcile,
        woken_by=(Wakes(means.pods, _to_job),),
    )


@dataclass(frozen=True, slots=True)
class Memory:
    """What a Job's objects do not tell. After a restart the first pause is short again."""

    uid: str
    record: Record = NO_FAILURES
    released: frozenset[str] = frozenset()
    """Pods that are free of their finalizer. One that goes with its last finalizer is deleted at
    a version that no answer tells, so that the barrier cannot wait until the cache shows it."""


class Reconciler:
    def __init__(self, means: Means, jobs: Cache[Job]) -> None:
        self._means = means
        self._jobs = jobs
        self._pen = means.pen
        self._hands = PodHands(means, Job.resource)
        self._memory: dict[Key, Memory] = {}

    async def reconcile(self, key: Key, _: IO) -> Outcome:
        job = self._jobs.get(key)
        if job is not None and job.spec.managed_by not in {"", BUILT_IN}:
            return DONE
        await self._let_go(key, job)
        if job is None:
            self._memory.pop(key, None)
            return DONE
        if is_finished(job.status):
            self._memory.pop(key, None)
            return await self._expire(job)
        plan = decide(self._state(job))
        failed = await self._do(job, plan)
        if failed:
            raise failed[0]
        return DONE if plan.after is None else Again(plan.after)

    def _state(self, job: Job) -> State:
        uid = job.metadata.uid
        pods = tuple(one for one in self._means.pods.owned(uid) if _controls(job, one))
        held = {one.metadata.uid for one in pods if FINALIZER in one.metadata.finalizers}
        known = self._recalled(job)
        self._memory[job.metadata.key] = replace(known, released=known.released & held)
        return State(
            job=job,
            pods=pods,
            released=known.released & held,
            now=self._means.now(),
            record=known.record,
            backoff=self._means.options.job_backoff_seconds,
        )

    def _recalled(self, job: Job) -> Memory:
        known = self._memory.get(job.metadata.key)
        return known if known and known.uid == job.metadata.uid else Memory(job.metadata.uid)

    async def _do(self, job: Job, plan: Plan) -> list[Exception]:
        """What is returned kept pods from being made; all else has been done."""
        have = job.metadata
        await self._release(job, plan.drop)
        await self._hands.delete(have, (*plan.drop, *plan.kill))
        failed = await self._hands.make(have, [pod(job, one) for one in plan.create])
        noted, settled = (
            _fewer(status, len(failed)) for status in (plan.account.noted, plan.account.settled)
        )
        now = await self._pen.status(self._jobs, have, job.status, noted)
        if plan.account.release:
            self._memory[have.key] = replace(self._recalled(job), record=plan.record)
            await self._release(job, plan.account.release)
        await self._pen.status(self._jobs, now, noted, settled)
        for note in news(job.status, settled):
            self._hands.voice.say(have, note)
        return [] if job.metadata.deleting else [e for e in failed if not namespace_is_going(e)]

    async def _free(self, owner: Metadata, pod: Pod) -> None:
        patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": [FINALIZER]}}
        await self._pen.patch(owner, self._means.pods, pod.metadata, patch)

    async def _release(self, job: Job, pods: Iterable[Pod]) -> None:
        for one in pods:
            if FINALIZER in one.metadata.finalizers:
                await self._free(job.metadata, one)
                known = self._recalled(job)
                freed = known.released | {one.metadata.uid}
                self._memory[job.metadata.key] = replace(known, released=freed)

    async def _let_go(self, key: Key, job: Job | None) -> None:
        """Pods whose Job is gone, or done with them, are nobody's to account for."""
        for one in self._means.pods.find(_TRACKED, str(key)):
            if job is None or not _controls(job, one) or is_finished(job.status):
                await self._free(one.metadata, one)

    async def _expire(self, job: Job) -> Outcome:
        """What is done and has a time to live is deleted when that is over."""
        seconds = job.spec.ttl_seconds_after_finished
        if seconds is None or job.metadata.deleting:
            return DONE
        left = seconds - (self._means.now() - _ended(job)).total_seconds()
        if left > 0:
            return Again(left)
        await self._pen.delete(job.metadata, self._jobs, [job])
        return DONE


def _ended(job: Job) -> datetime:
    found = job.status["conditions"]
    last = next(
        one for kind in (COMPLETE, FAILED) if (one := conditions.find(found, kind)) is not None
    )
    return conditions.read(last["lastTransitionTime"])


def _controls(job: Job, pod: Pod) -> bool:
    owner = pod.metadata.controller
    return owner is not None and owner.uid == job.metadata.uid


def _fewer(status: Json, missing: int) -> Json:
    """The status when so many pods could not be made."""
    active = status.get("active", 0) - missing
    rest = {name: value for name, value in status.items() if name != "active"}
    return {**rest, "active": active} if active else rest
