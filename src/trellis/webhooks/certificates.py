# SPDX-License-Identifier: Apache-2.0
"""Certificate authorities and the certificates they sign. Bytes out: nothing is written here."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from collections.abc import Iterable

AUTHORITY_LIFE = timedelta(days=3650)
LEAF_LIFE = timedelta(days=365)
# A clock that is a little behind must still accept what was signed just now.
_BACKDATED = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Who a certificate speaks for: a user with groups; as a server also names and addresses."""

    name: str
    groups: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


class Authority:
    """A CA that signs leaves. Subject and authority key identifiers are set, which strict clients
    (Python 3.13 and later among them) insist on."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self._certificate = x509.load_pem_x509_certificate(pair.certificate)
        key = serialization.load_pem_private_key(pair.key, password=None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)  # noqa: S101  what `create` made
        self._key = key

    @classmethod
    def create(cls, name: str, now: datetime, life: timedelta = AUTHORITY_LIFE) -> Authority:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _distinguished_name(name, ())
        certificate = (
            _builder(subject, subject, key.public_key(), now, life)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_key_usage(authority=True), critical=True)
            .add_extension(_authority_id(key.public_key()), critical=False)
            .sign(key, hashes.SHA256())
        )
        return cls(_pair(certificate, key))

    def issue(self, subject: Subject, now: datetime, life: timedelta = LEAF_LIFE) -> Pair:
        """A leaf for client use, and for server use as well where the subject has hosts."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(
            _distinguished_name(subject.name, subject.groups),
            self._certificate.subject,
            key.public_key(),
            now,
            life,
        )
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH]
        if subject.hosts:
            usages.append(ExtendedKeyUsageOID.SERVER_AUTH)
            names = x509.SubjectAlternativeName(_alternative_names(subject.hosts))
            builder = builder.add_extension(names, critical=False)
        certificate = (
            builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(authority=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(_authority_id(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        return _pair(certificate, key)


def signing_key() -> tuple[bytes, bytes]:
    """An RSA key for service account tokens: private and public half, PEM."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return _private_pem(key), public


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    public_key: ec.EllipticCurvePublicKey,
    now: datetime,
    life: timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + life)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
    )


def _distinguished_name(name: str, groups: Iterable[str]) -> x509.Name:
    organisations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organisations, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _alternative_names(hosts: Iterable[str]) -> list[x509.GeneralName]:
    return [_alternative_name(host) for host in hosts]


def _alternative_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _authority_id(public_key: ec.EllipticCurvePublicKey) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(public_key)


def _key_usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    return Pair(certificate.public_bytes(serialization.Encoding.PEM), _private_pem(key))


def _private_pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
