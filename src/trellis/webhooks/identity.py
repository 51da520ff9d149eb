# SPDX-License-Identifier: Apache-2.0
"""The certificate a server shows, its key, and the authorities by which others trust it. Pure.

What is checked here is what the API server will check, so that the server can say that it is not
ready before anybody's request fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from trellis.webhooks.certificates import Pair


class Unusable(Exception):
    """A certificate, its key or its bundle cannot be read or loaded; the message says which."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a server serves with. The certificate may be followed by those that link it to a root.

    `bundle` holds the authorities in the webhook configurations; None where nobody can tell.
    """

    pair: Pair
    bundle: bytes | None = None


class IdentitySource(Protocol):
    """Where an identity comes from: files, or a store that rotates it."""

    async def read(self) -> Identity:
        """The identity to serve with now. Raises `Unusable` if there is none."""


@dataclass(frozen=True, slots=True)
class Papers:
    """The certificates of an identity, read."""

    leaf: x509.Certificate
    links: tuple[x509.Certificate, ...]
    authorities: tuple[x509.Certificate, ...] | None = None

    @classmethod
    def of(cls, identity: Identity) -> Papers:
        leaf, *links = _read(identity.pair.certificate, "the certificate")
        if identity.bundle is None:
            return cls(leaf, tuple(links))
        return cls(leaf, tuple(links), _read(identity.bundle, "the bundle of authorities"))

    @property
    def expires(self) -> datetime:
        return self.leaf.not_valid_after_utc

    def flaw(self, now: datetime) -> str:
        """Why the API server would refuse this certificate now; empty if it would not."""
        if now < self.leaf.not_valid_before_utc:
            return f"the certificate is not valid before {self.leaf.not_valid_before_utc:%F %TZ}"
        if now > self.expires:
            return f"the certificate expired at {self.expires:%F %TZ}"
        if self.authorities is not None and not self._trusted(now):
            return "the certificate chains to no authority in the published bundle"
        return ""

    def _trusted(self, now: datetime) -> bool:
        anchors = [one for one in self.authorities or () if _valid(one, now)]
        reached, links = self.leaf, [one for one in self.links if _valid(one, now)]
        while True:
            if reached in anchors or any(_issued(reached, anchor) for anchor in anchors):
                return True
            above = next((link for link in links if _issued(reached, link)), None)
            if above is None:
                return False
            links.remove(above)
            reached = above


def fingerprint(certificate: bytes) -> str:
    """A short name that only this certificate has."""
    return _named(*_read(certificate, "the certificate")[:1])


def fingerprints(bundle: bytes) -> frozenset[str]:
    """The names of the certificates in a bundle; what cannot be read counts as empty."""
    try:
        return frozenset(_named(one) for one in _read(bundle, "the bundle"))
    except Unusable:
        return frozenset()


def bundle(certificates: Iterable[bytes]) -> bytes:
    return b"".join(certificate.strip() + b"\n" for certificate in certificates)


def _named(certificate: x509.Certificate) -> str:
    return certificate.fingerprint(hashes.SHA256()).hex()[:16]


def _read(pem: bytes, what: str) -> tuple[x509.Certificate, ...]:
    try:
        return tuple(x509.load_pem_x509_certificates(pem))
    except ValueError as error:
        raise Unusable(f"{what} is no PEM certificate that can be read") from error


def _valid(certificate: x509.Certificate, now: datetime) -> bool:
    return certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc


def _issued(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True
