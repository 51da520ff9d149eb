# SPDX-License-Identifier: Apache-2.0
"""When to make authorities and leaves, publish them and take them away again. No I/O, no clock.

One step at a time is decided from what is known: the ledger of what was made, and what every
webhook configuration has in its bundle. The order of the steps is what keeps reviews from failing:

1. A new authority is made long before the old one ends, and published beside it.
2. Only when it has been in every bundle for the overlap, so that every API server has seen it, is a
   leaf signed with it.
3. The old authority leaves the bundle when the last leaf it signed has expired.

Only a server that has no valid leaf at all does not wait for the overlap: no review can fail more.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

Bundle = frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    leaf_life: timedelta = timedelta(days=90)
    authority_life: timedelta = timedelta(days=365)
    overlap: timedelta = timedelta(minutes=10)
    renew_after: float = 2 / 3
    """The part of a life after which a successor is made."""


POLICY = Policy()


class AuthorityRecord(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    issued_at: datetime
    expires_at: datetime
    published_at: datetime | None = None
    """Since when it has been seen in every bundle. What signed a leaf keeps it, even if somebody
    empties a bundle: that is put right at once, and the leaf is in use anyhow."""


class LeafRecord(msgspec.Struct, frozen=True, kw_only=True):
    authority: str
    hosts: tuple[str, ...]
    issued_at: datetime
    expires_at: datetime


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """What was made and may still be in use, oldest first. The last leaf is the one to serve."""

    authorities: tuple[AuthorityRecord, ...] = ()
    leaves: tuple[LeafRecord, ...] = ()

    @property
    def leaf(self) -> LeafRecord | None:
        return self.leaves[-1] if self.leaves else None

    @property
    def newest(self) -> AuthorityRecord | None:
        return self.authorities[-1] if self.authorities else None

    @property
    def bundle(self) -> Bundle:
        return frozenset(authority.id for authority in self.authorities)

    def signed(self, authority: AuthorityRecord) -> bool:
        """Whether a leaf of that authority may be in use."""
        return any(leaf.authority == authority.id for leaf in self.leaves)


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Everything one step is decided from. `bundles` has an entry for each configuration."""

    ledger: Ledger
    bundles: tuple[Bundle, ...]
    hosts: tuple[str, ...]
    now: datetime


@dataclass(frozen=True, slots=True)
class Record:
    """Replace the ledger: nothing was made, but something was seen or has expired."""

    ledger: Ledger


@dataclass(frozen=True, slots=True)
class MakeAuthority:
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Publish:
    """Put exactly these authorities into every bundle."""

    authorities: Bundle


@dataclass(frozen=True, slots=True)
class SignLeaf:
    authority: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing is to be done before then, unless a bundle changes."""

    until: datetime


Step = Record | MakeAuthority | Publish | SignLeaf | Rest


def next_step(situation: Situation, policy: Policy) -> Step:
    ledger = _up_to_date(situation, policy)
    if ledger != situation.ledger:
        return Record(ledger)
    now, newest = situation.now, ledger.newest
    if newest is None or now >= _renewal(newest, policy):
        return MakeAuthority(now + policy.authority_life)
    if any(bundle != ledger.bundle for bundle in situation.bundles):
        return Publish(ledger.bundle)
    if signer := _signer_of_due_leaf(situation, policy):
        return SignLeaf(signer.id, _leaf_end(signer, now, policy))
    return Rest(min(_occasions(situation, policy)))


def _up_to_date(situation: Situation, policy: Policy) -> Ledger:
    """The ledger with what the bundles show, and without what time has taken."""
    now, ledger = situation.now, situation.ledger
    leaves = tuple(leaf for leaf in ledger.leaves if leaf.expires_at > now)
    ledger = msgspec.structs.replace(ledger, leaves=leaves)
    seen = tuple(_as_seen(one, ledger, situation) for one in ledger.authorities)
    ledger = msgspec.structs.replace(ledger, authorities=seen)
    kept = tuple(
        one for one in seen if one.expires_at > now and not _done(one, ledger, now, policy)
    )
    return msgspec.structs.replace(ledger, authorities=kept)


def _as_seen(authority: AuthorityRecord, ledger: Ledger, situation: Situation) -> AuthorityRecord:
    bundles = situation.bundles
    everywhere = bool(bundles) and all(authority.id in bundle for bundle in bundles)
    if everywhere and authority.published_at is None:
        return msgspec.structs.replace(authority, published_at=situation.now)
    if not everywhere and not ledger.signed(authority):
        return msgspec.structs.replace(authority, published_at=None)
    return authority


def _done(authority: AuthorityRecord, ledger: Ledger, now: datetime, policy: Policy) -> bool:
    """Whether nothing hangs on it any more: its leaves are gone, and its successor can sign."""
    newest = ledger.newest
    superseded = newest is not None and authority != newest and _settled(newest, now, policy)
    return superseded and not ledger.signed(authority)


def _signer_of_due_leaf(situation: Situation, policy: Policy) -> AuthorityRecord | None:
    """Who signs a leaf now, if one is due and it would be of use."""
    leaf, now = situation.ledger.leaf, situation.now
    signer = _signer(situation, policy)
    if signer is None or leaf is None:
        return signer
    if leaf.hosts != situation.hosts:
        return signer
    longer = _leaf_end(signer, now, policy) > leaf.expires_at
    return signer if longer and now >= _renewal(leaf, policy) else None


def _signer(situation: Situation, policy: Policy) -> AuthorityRecord | None:
    """The newest that every API server trusts: given to all long ago, or relied on already."""
    ledger, now = situation.ledger, situation.now
    published = [one for one in ledger.authorities if one.published_at is not None]
    trusted = [one for one in published if _settled(one, now, policy) or ledger.signed(one)]
    if trusted:
        return trusted[-1]
    return published[-1] if published and ledger.leaf is None else None


def _settled(authority: AuthorityRecord, now: datetime, policy: Policy) -> bool:
    return authority.published_at is not None and now >= authority.published_at + policy.overlap


def _leaf_end(signer: AuthorityRecord, now: datetime, policy: Policy) -> datetime:
    return min(now + policy.leaf_life, signer.expires_at)


def _renewal(made: AuthorityRecord | LeafRecord, policy: Policy) -> datetime:
    return made.issued_at + (made.expires_at - made.issued_at) * policy.renew_after


def _occasions(situation: Situation, policy: Policy) -> Iterable[datetime]:
    """Every later moment at which time alone makes something due."""
    ledger, now = situation.ledger, situation.now
    moments = [_renewal(one, policy) for one in (ledger.newest, ledger.leaf) if one]
    moments += [one.published_at + policy.overlap for one in ledger.authorities if one.published_at]
    moments += [one.expires_at for one in ledger.authorities]
    moments += [leaf.expires_at for leaf in ledger.leaves]
    # There is always an authority here, and its end is yet to come.
    return [moment for moment in moments if moment > now]
