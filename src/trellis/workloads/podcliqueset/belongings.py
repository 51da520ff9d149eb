# SPDX-License-Identifier: Apache-2.0
"""What a set has once, however many replicas: the rights of those that wait, and shared claims."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from trellis.api import names
from trellis.api.meta import Key, Object
from trellis.api.reasons import cliques
from trellis.kube.errors import KubeError
from trellis.runtime.converge import Children
from trellis.runtime.converged import Converged
from trellis.workloads.caches import BY_SET
from trellis.workloads.podcliqueset import legacy
from trellis.workloads.podcliqueset.comparing import compare_binding, compare_role
from trellis.workloads.podcliqueset.predecessor import waiting_for_the_collector
from trellis.workloads.podcliqueset.settled import Settled
from trellis.workloads.podcliqueset.waiters import Rights, accounts_in_use, rights
from trellis.workloads.sharing import keep_claims, known, set_claims
from trellis.workloads.trouble import Trouble, trouble

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

    from trellis.api.grove.podcliqueset import PodCliqueSet
    from trellis.runtime.io import IO
    from trellis.workloads.caches import Caches
    from trellis.workloads.outline import Outline
    from trellis.workloads.podcliqueset.survey import Survey
    from trellis.workloads.trouble import Written

T = TypeVar("T", bound=Object)

_RIGHTS = "rights"
_CLAIMS = "claims"


@dataclass(frozen=True, slots=True)
class Kept:
    """What came of the writes, and what there is to be told about."""

    written: tuple[Written, ...] = ()
    troubles: tuple[Trouble, ...] = ()

    def __add__(self, other: Kept) -> Kept:
        return Kept((*self.written, *other.written), (*self.troubles, *other.troubles))


class Belongings:
    def __init__(self, caches: Caches) -> None:
        self._caches = caches
        self._settled = Settled()
        self._roles = Children(cache=caches.roles, compare=compare_role)
        self._bindings = Children(cache=caches.bindings, compare=compare_binding)

    async def keep(self, io: IO, found: PodCliqueSet, outline: Outline, seen: Survey) -> Kept:
        waiting = await self._rights(io, found, outline, seen)
        return waiting + await self._claims(io, found, outline)

    async def _rights(self, io: IO, found: PodCliqueSet, outline: Outline, seen: Survey) -> Kept:
        uid, caches = found.metadata.uid, self._caches
        key = Key(found.metadata.namespace, names.role(found.metadata.name))
        have = Rights(role=caches.roles.get(key), binding=caches.bindings.get(key))
        older = self._older_accounts(found) if seen.outdated and outline.waits else frozenset()
        facts = (outline, seen.group_replicas, have, older)
        if self._settled.holds(uid, _RIGHTS, facts):
            return Kept()
        pods = caches.pods.find(BY_SET, str(found.metadata.key))
        want = rights(outline, seen.group_replicas, have, pods, older)
        written = (
            await _tried(
                found, io.converge(found, self._roles, _some(have.role), _some(want.role))
            ),
            await _tried(
                found, io.converge(found, self._bindings, _some(have.binding), _some(want.binding))
            ),
        )
        # Rights that Grove's pods need go when the last of those does, which nothing here tells.
        if _changed_nothing(written) and not legacy.is_groves(have.role):
            self._settled.note(uid, _RIGHTS, facts)
        return Kept(written, tuple(_troubles(("Role", "RoleBinding"), written)))

    def _older_accounts(self, found: PodCliqueSet) -> frozenset[str]:
        """Looked for only while an update is under way: else all have those of the template."""
        caches, uid = self._caches, found.metadata.uid
        labelled = caches.cliques.find(BY_SET, str(found.metadata.key))
        owned = ((one, caches.set_of(one)) for one in labelled)
        own = (one for one, by in owned if by is not None and by.metadata.uid == uid)
        return accounts_in_use(own, caches.pods.owned)

    async def _claims(self, io: IO, found: PodCliqueSet, outline: Outline) -> Kept:
        uid = found.metadata.uid
        facts = (outline, self._caches.claims.owned(uid))
        if self._settled.holds(uid, _CLAIMS, facts):
            return Kept()
        claims = set_claims(outline, known(self._caches, found))
        written = (await _tried(found, keep_claims(io, self._caches, found, claims)),)
        if _changed_nothing(written) and not claims.unresolved:
            self._settled.note(uid, _CLAIMS, facts)
        missing = (
            Trouble(reason=cliques.CLAIM_TEMPLATE_MISSING, message=str(one))
            for one in claims.unresolved
        )
        return Kept(written, (*_troubles(("ResourceClaim",), written), *missing))


async def _tried(found: PodCliqueSet, act: Awaitable[Converged]) -> Written:
    """What fails for one kind is not to keep another from being made."""
    try:
        return waiting_for_the_collector(await act, found)
    except KubeError as error:
        return error


def _changed_nothing(written: Iterable[Written]) -> bool:
    return all(isinstance(one, Converged) and one.complete and not one.wrote for one in written)


def _troubles(kinds: Iterable[str], written: Iterable[Written]) -> Iterable[Trouble]:
    for kind, each in zip(kinds, written, strict=True):
        if (found := trouble((each,))) is not None:
            yield replace(found, message=f"{kind}: {found.message}")


def _some(one: T | None) -> tuple[T, ...]:
    return () if one is None else (one,)
