# SPDX-License-Identifier: Apache-2.0
"""Doing what was decided for a PodClique: its claims first, then its pods.

What the server refuses is kept for the status and not asked for again at once. What is merely in
the way is raised when the status has been written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trellis.api.conditions import Motion
from trellis.api.labels import MANAGED_BY, OPERATOR, POD_CLIQUE, POD_INDEX, number
from trellis.api.meta import Key
from trellis.api.reasons import cliques, events, objects
from trellis.kube.errors import KubeError
from trellis.runtime.converge import Children
from trellis.runtime.plan import by_name
from trellis.workloads.podclique.ancestry import Ancestry
from trellis.workloads.podclique.body import mould
from trellis.workloads.podclique.currency import Currency
from trellis.workloads.podclique.desired import Birth, unshared
from trellis.workloads.podclique.patience import Patience
from trellis.workloads.podclique.ranks import renumbered
from trellis.workloads.podclique.stripped import Stripped
from trellis.workloads.podclique.surroundings import pods_before, surroundings
from trellis.workloads.podclique.telling import of_writes
from trellis.workloads.sharing import clique_claims, keep_claims, known
from trellis.workloads.trouble import LOOK_AGAIN_SECONDS, Trouble, trouble

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trellis.api.reasons import Reason
    from trellis.runtime.io import IO
    from trellis.runtime.plan import Draft
    from trellis.workloads.caches import Caches
    from trellis.workloads.means import Means
    from trellis.workloads.podclique.ancestry import Unseen
    from trellis.workloads.podclique.desired import Plan
    from trellis.workloads.podclique.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How it went. `failed` is the event's word for it; `again`: after how many seconds to look."""

    trouble: Trouble | None = None
    failed: Reason | None = None
    again: float | None = None
    error: KubeError | None = None
    """To be raised once all is told."""


NOTHING = Done()


class Actor:
    def __init__(self, means: Means, caches: Caches) -> None:
        self._means = means
        self._caches = caches
        relabel = Stripped(caches.pods).labels
        self._pods = Children(cache=caches.pods, compare=by_name, relabel=relabel)
        self._ancestry = Ancestry(caches)
        self._currency = Currency(caches.gangs)
        self._patience = Patience(means.env.clock, LOOK_AGAIN_SECONDS)

    def forget(self, uid: str) -> None:
        """That PodClique is going."""
        self._patience.forget(uid)

    async def act(self, io: IO, state: State, plan: Plan) -> Done:
        if state.gang is not None:
            self._currency.check(io, state.gang)
        if (numbered := await self._renumber(io, state)) is not None:
            return numbered
        lacking = Done(trouble=plan.hold) if plan.hold else await self._claims(io, state)
        drafts: tuple[Draft, ...] = ()
        if lacking.trouble is None and plan.create:
            lacking = Done(trouble=unshared(state))
        if lacking.trouble is None and plan.create:
            drafts, lacking = self._drafts(state, plan)
        if drafts and (unseen := self._ancestry.unseen(state, plan.create)):
            found = await self._look_for(io, state, unseen)
            if found is not NOTHING:
                return found
        if not drafts and not plan.delete:
            return lacking
        done = await self._write(io, state, drafts, plan)
        return lacking if done.trouble is None else done

    async def _renumber(self, io: IO, state: State) -> Done | None:
        """Has the indices in its scaling group follow the cliques before it; None: they do."""
        member = state.member
        if member is None or member.group is None:
            return None
        edits = tuple(renumbered(state, pods_before(self._caches, state, member)))
        if not edits:
            return None
        try:
            written = await io.edit(state.clique, self._pods, edits)
        except KubeError as error:
            return Done(trouble=trouble([error]), error=error)
        found = trouble([written])
        # What was written wakes us.
        return NOTHING if found is None else Done(trouble=found, again=LOOK_AGAIN_SECONDS)

    async def _claims(self, io: IO, state: State) -> Done:
        """Makes what its pods share. They are not made before it is there: no pod is to use what is
        still going."""
        member, uid = state.member, state.clique.metadata.uid
        if member is None or not state.ledger_is_known:
            return NOTHING
        if not member.template.resource_sharing and not self._caches.claims.owned(uid):
            return NOTHING
        looked = known(self._caches, state.clique)
        claims = clique_claims(state.outline, member, state.clique, list(state.listed), looked)
        try:
            written = await keep_claims(io, self._caches, state.clique, claims)
        except KubeError as error:
            return Done(trouble=trouble([error]), error=error)
        if claims.unresolved:
            message = "; ".join(str(one) for one in claims.unresolved)
            return Done(trouble=Trouble(reason=cliques.CLAIM_TEMPLATE_MISSING, message=message))
        if written.blocked:
            message = f"ResourceClaim {written.blocked[0]} of before is still going"
            reason = objects.CREATING_CHILDREN
            return Done(trouble=Trouble(reason=reason, message=message, motion=Motion.MOVING))
        found = trouble([written])
        return NOTHING if found is None else Done(trouble=found, again=LOOK_AGAIN_SECONDS)

    async def _look_for(self, io: IO, state: State, unseen: Unseen) -> Done:
        """Gives pods their labels back that nobody saw leave: they go before others come."""
        member, gang = state.member, state.gang
        if member is None or gang is None:
            return NOTHING
        made = mould(state, member, gang, surroundings(self._caches, state, member), self._means)
        try:
            lost = unseen.before
            if unseen.untold:
                lost += tuple(await self._out_of_sight(io, state))
            drafts = [made.draft(birth) for birth in lost]
            called = await io.call_back(state.clique, self._pods, drafts)
        except KubeError as error:
            return Done(trouble=trouble([error]), error=error)
        if called.patched or called.refused:
            # They are shown in a moment, which wakes us.
            return Done(trouble=trouble([called]), again=LOOK_AGAIN_SECONDS)
        self._ancestry.are_gone(state.clique.metadata.uid, unseen)
        return NOTHING

    async def _out_of_sight(self, io: IO, state: State) -> Iterator[Birth]:
        """Its pods that lost the label that they are read by, if they still say whose they are."""
        clique = state.clique.metadata
        labelled = f"{POD_CLIQUE}={clique.name},{MANAGED_BY}!={OPERATOR}"
        found = await io.out_of_sight(self._caches.pods, clique.namespace, labelled)
        numbers = ((pod.name, number(pod.labels, POD_INDEX)) for pod in found)
        return (Birth(index=index, name=name) for name, index in numbers if index is not None)

    def _drafts(self, state: State, plan: Plan) -> tuple[tuple[Draft, ...], Done]:
        member, gang = state.member, state.gang
        if member is None or gang is None:
            return (), NOTHING
        around = surroundings(self._caches, state, member)
        made = mould(state, member, gang, around, self._means)
        wanted = made.priority_class
        if wanted and self._caches.priority_classes.get(Key("", wanted)) is None:
            message = f"PriorityClass {wanted} does not exist"
            reason = objects.PRIORITY_CLASS_MISSING
            return (), Done(trouble=Trouble(reason=reason, message=message))
        drafts = tuple(made.draft(birth) for birth in plan.create)
        told = self._patience.answer(state.clique.metadata.uid, _asked(state, drafts))
        if told is None:
            return drafts, NOTHING
        failed = events.POD_CREATE_FAILED
        return (), Done(trouble=told.trouble, failed=failed, again=self._patience.left(told))

    async def _write(self, io: IO, state: State, drafts: tuple[Draft, ...], plan: Plan) -> Done:
        clique, uid = state.clique, state.clique.metadata.uid
        try:
            if drafts and state.gang is not None:
                await self._currency.confirm(io, clique, state.gang)
            written = await io.converge(clique, self._pods, plan.delete, drafts)
        except KubeError as error:
            return Done(trouble=trouble([error]), failed=events.POD_CREATE_FAILED, error=error)
        for note in of_writes(state, written):
            io.record(self._caches.cliques, clique, note)
        found = trouble([written])
        if found is None:
            if drafts:
                self._patience.forget(uid)
            return NOTHING
        left = [one for one in drafts if one.metadata.name not in written.created]
        refused = self._patience.refused(uid, _asked(state, left), found)
        deleting = any(one.verb == "delete" for one in written.refused)
        return Done(
            trouble=found,
            failed=events.POD_DELETE_FAILED if deleting else events.POD_CREATE_FAILED,
            again=self._patience.left(refused),
        )


def _asked(state: State, drafts: Sequence[Draft]) -> tuple[int | str, ...]:
    """What a refusal is about. A changed template is something else, and so is another name."""
    return (state.clique.metadata.generation, *(draft.metadata.name for draft in drafts))
