# SPDX-License-Identifier: Apache-2.0
"""The keys and certificates of a self-managed authority, as the data of one Secret. Pure.

`tls.crt`, `tls.key` and `ca.crt` have their usual names, so that a server may be given just these
three as mounted files, and never see the keys of the authorities.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from trellis.webhooks.certificates import Authority, Pair, Subject
from trellis.webhooks.identity import Identity, Papers, Unusable, bundle, fingerprint, fingerprints
from trellis.webhooks.rotation import AuthorityRecord, LeafRecord, Ledger

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from trellis.webhooks.rotation import MakeAuthority, SignLeaf

LEDGER = "ledger.json"
_REMEDY = "delete the Secret to have everything made anew"
_LEDGER = msgspec.json.Decoder(Ledger)


@dataclass(frozen=True, slots=True, kw_only=True)
class Custody:
    """A ledger, with the pairs of what it lists: every authority by its id, and the last leaf."""

    ledger: Ledger = field(default_factory=Ledger)
    authorities: Mapping[str, Pair] = field(default_factory=dict)
    leaf: Pair | None = None

    def recorded(self, ledger: Ledger) -> Custody:
        """With another ledger; pairs that it no longer lists are forgotten."""
        return Custody(
            ledger=ledger,
            authorities={one.id: self.authorities[one.id] for one in ledger.authorities},
            leaf=self.leaf if ledger.leaf else None,
        )

    def with_authority(self, step: MakeAuthority, now: datetime) -> Custody:
        # The time in the name tells two of them apart, for people and for path building.
        made = Authority.create(f"trellis webhooks {now:%F %TZ}", now, step.expires_at - now)
        record = AuthorityRecord(
            id=fingerprint(made.pair.certificate),
            issued_at=now,
            expires_at=Papers.of(Identity(made.pair)).expires,
        )
        ledger = msgspec.structs.replace(
            self.ledger, authorities=(*self.ledger.authorities, record)
        )
        return replace(self, ledger=ledger, authorities={**self.authorities, record.id: made.pair})

    def with_leaf(self, step: SignLeaf, subject: Subject, now: datetime) -> Custody:
        pair = self._signer(step.authority).issue(subject, now, step.expires_at - now)
        record = LeafRecord(
            authority=step.authority,
            hosts=subject.hosts,
            issued_at=now,
            expires_at=Papers.of(Identity(pair)).expires,
        )
        ledger = msgspec.structs.replace(self.ledger, leaves=(*self.ledger.leaves, record))
        return replace(self, ledger=ledger, leaf=pair)

    def bundle(self, authorities: Iterable[str]) -> bytes:
        """The certificates of these authorities, oldest first."""
        wanted = frozenset(authorities)
        listed = [one.id for one in self.ledger.authorities if one.id in wanted]
        return bundle(self.authorities[one].certificate for one in listed)

    def published(self) -> bytes:
        """The bundle that every API server has been given."""
        return self.bundle(one.id for one in self.ledger.authorities if one.published_at)

    def identity(self) -> Identity:
        if self.leaf is None:
            raise Unusable("no certificate was signed yet: no authority is published")
        return Identity(self.leaf, self.published())

    def _signer(self, name: str) -> Authority:
        try:
            return Authority(self.authorities[name])
        except ValueError as error:
            stem = _authority(name)
            raise Unusable(f"the Secret's {stem}.key cannot be read; {_REMEDY}") from error


def encode(custody: Custody) -> dict[str, bytes]:
    data = {LEDGER: msgspec.json.encode(custody.ledger), "ca.crt": custody.published()}
    if custody.leaf:
        data |= _files("tls", custody.leaf)
    for name, pair in custody.authorities.items():
        data |= _files(_authority(name), pair)
    return data


def decode(data: Mapping[str, bytes]) -> Custody:
    """Raises `Unusable` for what we did not write; an empty Secret is an empty custody."""
    if not data:
        return Custody()
    try:
        ledger = _LEDGER.decode(data[LEDGER])
        authorities = {one.id: _pair(data, _authority(one.id)) for one in ledger.authorities}
        leaf = _pair(data, "tls") if ledger.leaf else None
    except KeyError as missing:
        raise Unusable(f"the Secret lacks {missing}; {_REMEDY}") from missing
    except msgspec.MsgspecError as error:
        raise Unusable(f"the Secret's {LEDGER} cannot be read; {_REMEDY}") from error
    for name, pair in authorities.items():
        if fingerprints(pair.certificate) != {name}:
            stem = _authority(name)
            raise Unusable(f"the Secret's {stem}.crt is not what {LEDGER} names; {_REMEDY}")
    return Custody(ledger=ledger, authorities=authorities, leaf=leaf)


def _authority(name: str) -> str:
    return f"authority-{name}"


def _files(stem: str, pair: Pair) -> dict[str, bytes]:
    return {f"{stem}.crt": pair.certificate, f"{stem}.key": pair.key}


def _pair(data: Mapping[str, bytes], stem: str) -> Pair:
    return Pair(data[f"{stem}.crt"], data[f"{stem}.key"])
